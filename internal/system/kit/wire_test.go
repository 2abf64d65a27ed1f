package kit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// wire is a raw client that the test controls, in version 1 or 2 of the protocol.
type wire struct {
	*rawpeer.Peer
	t       *testing.T
	v2      bool
	served  chan error
	session string // the session for methods whose params name none
	sent    int    // number of requests

	mu       sync.Mutex
	updates  []update
	replies  map[int]rawpeer.Message
	receipts map[string]int    // version 2: the ids of the requests by message id
	working  string            // version 2: the message that the agent is working on
	ended    map[string]string // version 2: how the work on a message ended
	errors   map[string]*wireError
}

// update is the content of a session/update.
type update struct {
	SessionUpdate, State, StopReason, MessageID, CurrentModeID, Title string
	Content                                                           json.RawMessage
	Error                                                             *wireError
	AvailableCommands                                                 []struct{ Name string }
	ConfigOptions                                                     json.RawMessage
}

type wireError = struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// eachVersion runs a test in a bubble for each version of the protocol.
func eachVersion(t *testing.T, test func(t *testing.T, v int)) {
	for v := 1; v <= 2; v++ {
		t.Run(fmt.Sprint("version ", v), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, v) })
		})
	}
}

// dial connects a client with the capabilities that most editors have.
func dial(t *testing.T, a *kit.Agent, v int) *wire {
	return dialAs(t, context.Background(), a, v, "{}")
}

func dialAs(t *testing.T, ctx context.Context, a *kit.Agent, v int, caps string) *wire {
	t.Helper()
	near, peer := rawpeer.Pipe(t)
	w := &wire{
		Peer: peer, t: t, v2: v == 2, served: make(chan error, 1), replies: map[int]rawpeer.Message{}, receipts: map[string]int{}, ended: map[string]string{}, errors: map[string]*wireError{},
	}
	go func() { // ends with the connection
		if w.v2 {
			w.served <- serve.Serve(ctx, near, a.Agent, nil)
		} else {
			w.served <- a.Serve(ctx, near)
		}
	}()
	go w.read() // ends with the connection
	t.Cleanup(func() { w.Close(); <-w.served })
	params := `{"protocolVersion":1,"clientCapabilities":` + caps + `}`
	if w.v2 {
		params = `{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":` + caps + `}`
	}
	require.Nil(t, w.call("initialize", params).Error)
	return w
}

// hangUp ends the connection and waits until the agent has noticed it.
func (w *wire) hangUp() {
	w.Close()
	synctest.Wait()
}

func (w *wire) read() {
	for {
		m, ok := w.Recv()
		if !ok {
			return
		}
		w.mu.Lock()
		var p struct{ Update update }
		switch {
		case m.Method == "session/update":
			if err := json.Unmarshal(m.Params, &p); err != nil {
				w.t.Error(err)
			}
			w.updated(p.Update)
		case m.Method == "":
			var id int
			var receipt struct{ MessageID string }
			_, _ = json.Unmarshal(m.ID, &id), json.Unmarshal(m.Result, &receipt)
			w.replies[id] = m
			if receipt.MessageID != "" {
				w.receipts[receipt.MessageID] = id
			}
		}
		w.mu.Unlock()
	}
}

func (w *wire) updated(u update) {
	w.updates = append(w.updates, u)
	switch {
	case u.SessionUpdate == "user_message":
		w.working = u.MessageID
	case u.State == "idle" && (u.StopReason != "" || u.Error != nil):
		w.ended[w.working] = u.StopReason
		if u.Error != nil {
			w.ended[w.working], w.errors[w.working] = fmt.Sprint(u.Error.Code), u.Error
		}
		w.working = ""
	}
}

// send sends a request. If the params name no session, send adds the session of the client.
func (w *wire) send(method, params string) (id int) {
	w.t.Helper()
	w.sent++
	w.Call(fmt.Sprint(w.sent), method, strings.ReplaceAll(params, "SESSION", w.session))
	return w.sent
}

// reply returns the response to a request, if it has arrived.
func (w *wire) reply(id int) (rawpeer.Message, bool) {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	m, ok := w.replies[id]
	return m, ok
}

// call sends a request and returns the response, which must arrive before any time passes.
func (w *wire) call(method, params string) rawpeer.Message {
	w.t.Helper()
	m, ok := w.reply(w.send(method, params))
	require.True(w.t, ok, "%s has no response yet", method)
	return m
}

// outcome returns how a request has ended. For a prompt it is the stop reason or the code of the
// error; for other requests it is "ok" or the code. It is "" while there is no response.
func (w *wire) outcome(id int) string {
	m, ok := w.reply(id)
	w.mu.Lock()
	defer w.mu.Unlock()
	var p struct{ StopReason, MessageID string }
	_ = json.Unmarshal(m.Result, &p)
	switch {
	case !ok:
		return ""
	case m.Error != nil:
		return fmt.Sprint(m.Error.Code)
	case p.MessageID != "":
		return w.ended[p.MessageID]
	case p.StopReason != "":
		return p.StopReason
	}
	return "ok"
}

// failure returns the error of a prompt, wherever this version of the protocol puts it.
func (w *wire) failure(id int) rawpeer.Message {
	m, _ := w.reply(id)
	w.mu.Lock()
	defer w.mu.Unlock()
	var p struct{ MessageID string }
	if _ = json.Unmarshal(m.Result, &p); p.MessageID != "" {
		m.Error = w.errors[p.MessageID]
	}
	return m
}

// open opens a new session.
func (w *wire) open() string {
	w.t.Helper()
	var res struct{ SessionID string }
	m := w.call("session/new", `{"cwd":"/w","mcpServers":[]}`)
	require.NoError(w.t, json.Unmarshal(m.Result, &res), m.Raw)
	w.session = res.SessionID
	return w.session
}

func (w *wire) prompt(text string) (id int) {
	w.t.Helper()
	return w.send("session/prompt", fmt.Sprintf(`{"sessionId":"SESSION","prompt":[{"type":"text","text":%q}]}`, text))
}

func (w *wire) cancel() { w.Notify("session/cancel", `{"sessionId":"`+w.session+`"}`) }

// load loads the session with its history.
func (w *wire) load() (id int) {
	w.t.Helper()
	if w.v2 {
		return w.send("session/resume", `{"sessionId":"SESSION","cwd":"/w","replayFrom":{"type":"start"}}`)
	}
	return w.send("session/load", `{"sessionId":"SESSION","cwd":"/w","mcpServers":[]}`)
}

func (w *wire) resume() (id int) {
	w.t.Helper()
	return w.send("session/resume", `{"sessionId":"SESSION","cwd":"/w","mcpServers":[]}`)
}

// set sets a config option.
func (w *wire) set(id, value string) (request int) {
	w.t.Helper()
	kind := ""
	if w.v2 {
		kind = `"type":"id",`
	}
	return w.send("session/set_config_option", fmt.Sprintf(`{"sessionId":"SESSION","configId":%q,%s"value":%q}`, id, kind, value))
}

// received returns the updates since the last call.
func (w *wire) received() []update {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.updates
	w.updates = nil
	return all
}

// says returns the texts of the agent's messages, and of notices, since the last call.
func (w *wire) says() (all []string) {
	for _, u := range w.received() {
		if u.SessionUpdate == "notice" {
			all = append(all, u.Title)
		} else if strings.HasPrefix(u.SessionUpdate, "agent_message") {
			texts := make([]struct{ Text string }, 1)
			if json.Unmarshal(u.Content, &texts) != nil {
				_ = json.Unmarshal(u.Content, &texts[0])
			}
			for _, x := range texts {
				all = append(all, x.Text)
			}
		}
	}
	return all
}

// logged is a log that the test can read.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }
func (l *logged) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logged) WithGroup(string) slog.Handler            { return l }

func (l *logged) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Level >= slog.LevelWarn {
		text := r.Message
		r.Attrs(func(a slog.Attr) bool { text += fmt.Sprintf(" %s=%v", a.Key, a.Value); return true })
		l.lines = append(l.lines, text)
	}
	return nil
}

// count returns the number of warnings and errors that contain the text.
func (l *logged) count(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// steps records what the turns of a test do, in order.
type steps struct {
	mu  sync.Mutex
	all []string
}

func (s *steps) add(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, step)
}

func (s *steps) list() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

var modes = kit.Modes{{ID: "ask", Name: "Ask"}, {ID: "auto", Name: "Auto"}}
