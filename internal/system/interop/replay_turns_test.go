package interop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// Every recorded prompt of version 2 is a Turn of our client, which must get the updates and
// the end that follow from the recording.
func TestTurnsOfVersion2(t *testing.T) {
	turns := 0
	for _, p := range transcripts(t, 2) {
		if p.probe {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { turns += playTurns(t, p.lines) })
		})
	}
	assert.Greater(t, turns, 50)
}

// turnCase is one prompt: its messages in the recording, and the updates that its Turn
// delivered.
type turnCase struct {
	line, session string
	sent          int // its place among the lines
	answered      int // the place of its response; 0 without one
	message       string
	code          int
	begin, end    int // places; end is 0 if the work has none
	reason        string
	want          []int // the places of its updates

	turn *client.Turn
	got  []int
	done chan struct{} // closed when got is complete
}

// recordedUpdate is one session/update.
type recordedUpdate struct {
	at                            int
	session, kind, message, state string
	reason                        string
	listed, snapshot              bool
}

// playTurns plays one recorded process and returns how many turns it had.
func playTurns(t *testing.T, lines []recorded) int {
	cases, updates := expectTurns(t, lines)
	w, in, out := newWire(t)
	places := map[acp.SessionUpdate]int{}
	handled := 0
	v := &viewerOfV2{update: func(n *acp.UpdateSessionNotification) {
		places[n.Update] = updates[handled].at
		handled++
	}}
	conn := client.New(stream.Lines(in, out, nil), func(*client.Conn) acp.Client { return v },
		&client.Options{IgnoreCapabilities: true, Unstable: true, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, conn.Start(t.Context()))
	ids := map[string]json.RawMessage{}
	for at, l := range lines {
		e, ok := open(l.Raw)
		require.True(t, ok)
		switch {
		case l.Dir == "recv" && e.isResponse():
			if id, ok := ids[string(e.ID)]; ok {
				w.write(withID(&e, id))
			}
		case l.Dir == "recv":
			w.write([]byte(l.Raw + "\n"))
		case e.isRequest():
			i := slices.IndexFunc(cases, func(c *turnCase) bool { return c.sent == at })
			switch {
			case e.Method == "future/method":
				continue // our client does not send what is neither of the protocol nor an extension
			case i >= 0:
				cases[i].prompt(t, conn, e.Params, places)
			case e.Method == "initialize":
				go conn.Initialize(t.Context(), nil) // ends with the response
			default:
				go conn.Call(t.Context(), e.Method, e.Params, nil) // ends with the response
			}
			ids[string(e.ID)] = idOfCall(t, w, e.Method, l.line)
		case e.Method == "session/cancel":
			require.NoError(t, conn.Notify(t.Context(), e.Method, e.Params))
		}
		w.take()
	}
	w.in.Close()
	w.settle()
	for _, c := range cases {
		c.check(t)
	}
	assert.Equal(t, len(updates), handled)
	assert.NoError(t, conn.Close())
	assert.NoError(t, conn.Wait())
	return len(cases)
}

// idOfCall returns the id of the call that our client has just sent.
func idOfCall(t *testing.T, w *wire, method string, line int) json.RawMessage {
	for _, sent := range w.take() {
		if m, ok := open(sent); ok && m.Method == method {
			return m.ID
		}
	}
	t.Fatalf("line %d: %s was not sent", line, method)
	return nil
}

func (c *turnCase) prompt(t *testing.T, conn *client.Conn, params json.RawMessage, places map[acp.SessionUpdate]int) {
	var req acp.PromptRequest
	require.NoError(t, json.Unmarshal(params, &req), c.line)
	c.turn, c.done = conn.Session(req.SessionID).Prompt(t.Context(), req.Prompt...), make(chan struct{})
	go func() { // ends with the turn
		defer close(c.done)
		for u, err := range c.turn.Updates() {
			if err == nil {
				c.got = append(c.got, places[u])
			}
		}
	}()
}

func (c *turnCase) check(t *testing.T) {
	<-c.done
	idle, err := c.turn.Wait()
	assert.Equal(t, c.want, c.got, c.line)
	var said *rpcerr.RequestError
	switch {
	case c.code != 0:
		if assert.ErrorAs(t, err, &said, c.line) {
			assert.EqualValues(t, c.code, said.Code, c.line)
		}
	case c.end == 0:
		assert.True(t, errors.Is(err, acp.ErrClosed) || errors.Is(err, client.ErrSessionClosed), "%s: %v", c.line, err)
	case assert.NotNil(t, idle, "%s: %v", c.line, err):
		assert.EqualValues(t, c.reason, idle.StopReason, c.line)
		assert.Equal(t, c.reason == "error", err != nil, c.line)
	}
}

// expectTurns reads from a recording what its turns must get, with the knowledge of all of
// it: the id of each message is known before its response is.
func expectTurns(t *testing.T, lines []recorded) (cases []*turnCase, updates []*recordedUpdate) {
	asked := map[string]*turnCase{}
	resumes := map[string]func(at int, failed bool){}
	for at, l := range lines {
		e, _ := open(l.Raw)
		var p struct {
			SessionID  string
			ReplayFrom any
			Update     struct {
				SessionUpdate, MessageID, State, StopReason string
				Background                                  *json.RawMessage
			}
		}
		if e.Params != nil {
			_ = json.Unmarshal(e.Params, &p) // extensions have others
		}
		switch {
		case l.Dir == "send" && e.Method == "session/prompt":
			c := &turnCase{line: fmt.Sprint("prompt in line ", l.line), session: p.SessionID, sent: at}
			cases, asked[string(e.ID)] = append(cases, c), c
		case l.Dir == "send" && e.Method == "session/resume":
			from := at
			resumes[string(e.ID)] = func(at int, failed bool) { snapshots(updates, p.SessionID, from, at, failed, p.ReplayFrom != nil) }
		case l.Dir == "recv" && e.isResponse() && resumes[string(e.ID)] != nil:
			resumes[string(e.ID)](at, e.Error != nil)
			delete(resumes, string(e.ID))
		case l.Dir == "recv" && e.isResponse() && asked[string(e.ID)] != nil:
			c := asked[string(e.ID)]
			delete(asked, string(e.ID))
			var res struct{ MessageID string }
			var fault struct{ Code int }
			_, _ = json.Unmarshal(orNull(e.Result), &res), json.Unmarshal(orNull(e.Error), &fault)
			c.answered, c.message, c.code = at, res.MessageID, fault.Code
		case l.Dir == "recv" && e.Method == "session/update":
			updates = append(updates, &recordedUpdate{at: at, session: p.SessionID, kind: p.Update.SessionUpdate, message: p.Update.MessageID,
				state: p.Update.State, reason: p.Update.StopReason, listed: p.Update.Background != nil})
		}
	}
	require.Empty(t, resumes)
	for _, c := range cases {
		c.expectEnds(updates)
	}
	for _, u := range updates {
		var latest *turnCase
		for _, c := range cases {
			if c.session == u.session && c.begin > 0 && c.begin <= u.at && (c.end == 0 || u.at <= c.end) && (latest == nil || c.begin > latest.begin) {
				latest = c
			}
		}
		if latest != nil {
			latest.want = append(latest.want, u.at)
		}
	}
	return cases, updates
}

// snapshots marks the states that a resume has sent, which end no turn.
func snapshots(updates []*recordedUpdate, session string, from, to int, failed, replay bool) {
	last := true
	for _, u := range slices.Backward(updates) {
		if u.session == session && u.at > from && u.at < to && u.state != "" && !failed {
			u.snapshot = last || replay
			last = false
		}
	}
}

// expectEnds finds where the turn begins and ends.
func (c *turnCase) expectEnds(updates []*recordedUpdate) {
	if c.message == "" {
		return
	}
	c.begin = c.answered
	state := "busy"
	for _, u := range updates {
		if u.session != c.session {
			continue
		}
		if u.at > c.sent && u.message == c.message && (u.kind == "user_message" || u.kind == "user_message_chunk") {
			c.begin = min(c.begin, u.at)
		}
	}
	for _, u := range updates {
		if u.session != c.session || u.state == "" {
			continue
		}
		repeated := state == "idle" && u.state == "idle" && u.reason == "" && u.listed
		if c.end == 0 && u.at > c.begin && u.state == "idle" && !u.snapshot && !repeated {
			c.end, c.reason = u.at, u.reason
		}
		state = u.state
	}
}

// viewerOfV2 is a client of version 2 that notes updates and allows nothing.
type viewerOfV2 struct {
	update func(*acp.UpdateSessionNotification)
}

func (v *viewerOfV2) SessionUpdate(_ context.Context, n *acp.UpdateSessionNotification) error {
	v.update(n)
	return nil
}

func (v *viewerOfV2) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Cancelled(), nil
}
