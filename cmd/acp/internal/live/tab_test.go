package live

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// asker is an agent that does what the prompt says.
type asker struct {
	peertest.Agent
	conn *agent.Conn
	goOn chan struct{} // lets the turn "wait" end
}

func (a *asker) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{AgentInfo: &acp.Implementation{Name: "asker", Version: "1"}}, nil
}

func (a *asker) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: acp.SessionID(fmt.Sprintf("%p", new(int))), ConfigOptions: []acp.SessionConfigOption{
		{ID: "fast", Name: "Fast", Kind: &acp.SessionConfigBoolean{CurrentValue: true}},
	}}, nil
}

func (a *asker) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	s, text := a.conn.Session(req.SessionID), acp.PlainText(req.Prompt...)
	options := []acp.PermissionOption{
		{OptionID: "a", Name: "Sure", Kind: acp.PermissionOptionKindAllowOnce}, {OptionID: "b", Name: "For ever", Kind: acp.PermissionOptionKindAllowAlways},
		{OptionID: "c", Name: "No", Kind: acp.PermissionOptionKindRejectOnce},
	}
	switch text {
	case "long":
		for i := range 40 {
			options = append(options, acp.PermissionOption{OptionID: acp.PermissionOptionID(fmt.Sprint(i)), Name: "Sure", Kind: acp.PermissionOptionKindAllowOnce})
		}
	case "too much":
		return &acp.PromptResponse{StopReason: acp.StopReasonRefusal}, nil
	case "wait":
		<-a.goOn
		return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, s.Message(ctx, "**waited**")
	case "form":
		res, err := a.conn.CreateElicitation(ctx, &acp.CreateElicitationRequest{Message: "How many?", Mode: &acp.ElicitationFormMode{
			Scope: &acp.ElicitationSessionScope{SessionID: req.SessionID},
			RequestedSchema: acp.ElicitationSchema{Properties: map[string]acp.ElicitationPropertySchema{
				"n": &acp.IntegerPropertySchema{Minimum: new(int64(1))},
			}, Required: []string{"n"}},
		}})
		if err != nil {
			return nil, err
		}
		return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, s.Message(ctx, fmt.Sprintf("%T %v", res.Action, *res.Action.(*acp.ElicitationAcceptAction)))
	case "many":
		for i := range 500 {
			if err := a.conn.SessionUpdate(ctx, &acp.SessionNotification{SessionID: req.SessionID, Update: &acp.AgentMessageChunk{MessageID: acp.MessageID(fmt.Sprint(i)), Content: acp.Text(fmt.Sprint("number ", i))}}); err != nil {
				return nil, err
			}
		}
		return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	}
	res, err := a.conn.RequestPermission(ctx, &acp.RequestPermissionRequest{
		SessionID: req.SessionID, ToolCall: acp.ToolCallUpdate{ToolCallID: "t", Title: "run it", RawInput: json.RawMessage(`{"command":"rm -r x"}`)},
		Options: options,
	})
	if err != nil {
		return nil, err
	}
	said := fmt.Sprintf("%T", res.Outcome)
	if chosen, ok := res.Outcome.(*acp.SelectedPermissionOutcome); ok {
		said = "chosen " + string(chosen.OptionID)
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, s.Message(ctx, said)
}

// newSite returns a site around the agent, and what lets its turns end.
func newSite(t *testing.T) (*Site, chan struct{}) {
	t.Helper()
	goOn := make(chan struct{})
	quiet := slog.New(slog.DiscardHandler)
	h := hub.New(&hub.Options{Logger: quiet, Agent: supervise.Options{Dial: peertest.Dialer(peertest.Serving(func(c *agent.Conn) acp.Agent {
		return &asker{conn: c, goOn: goOn}
	}, &agent.Options{IgnoreCapabilities: true}))}})
	t.Cleanup(func() { // a turn that asks would go on
		ctx, now := context.WithCancel(context.Background())
		now()
		_ = h.Shutdown(ctx)
	})
	s := New(h, "/home", "secret", remote.Options{Logger: quiet})
	return s, goOn
}

// browser is the page at the other end.
type browser struct {
	t      *testing.T
	wire   stream.Stream
	served chan error
}

// seen is what the page has got.
type seen struct {
	Method string
	Params json.RawMessage
	Result struct{ Agent, Folder string }
}

func openPage(t *testing.T, s *Site) *browser {
	t.Helper()
	near, far := stream.Pipe()
	b := &browser{t: t, wire: near, served: make(chan error, 1)}
	go func() { b.served <- s.serve(context.Background(), far) }() // ends with near
	b.write(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	first := b.next()
	assert.Equal(t, "asker", first.Result.Agent)
	assert.Equal(t, "/home", first.Result.Folder)
	t.Cleanup(b.close)
	return b
}

func (b *browser) close() {
	if b.served != nil {
		_ = b.wire.Close()
		require.NoError(b.t, <-b.served)
		b.served = nil
	}
}

func (b *browser) write(message string) {
	require.NoError(b.t, b.wire.Write([]byte(message)))
}

func (b *browser) send(method string, params any) {
	message, err := json.Marshal(map[string]any{"method": method, "params": params})
	require.NoError(b.t, err)
	b.write(string(message))
}

func (b *browser) next() seen {
	message, err := b.wire.Read()
	require.NoError(b.t, err)
	var s seen
	require.NoError(b.t, json.Unmarshal(message, &s))
	return s
}

// until reads what the page gets until one of that kind contains a text, and returns it.
func (b *browser) until(method, text string) json.RawMessage {
	b.t.Helper()
	for {
		s := b.next()
		if s.Method == method && strings.Contains(string(s.Params), text) {
			return s.Params
		}
		if s.Method == "failed" && method != "failed" {
			require.Fail(b.t, "the server failed", "%s", s.Params)
		}
	}
}

// question waits for a question.
func (b *browser) question() (q struct {
	Key     uint64
	Lines   []string
	Options []struct{ ID, Label, Name string }
}) {
	b.t.Helper()
	var state struct {
		Rest struct{ Permissions []json.RawMessage }
	}
	for len(state.Rest.Permissions) == 0 {
		require.NoError(b.t, json.Unmarshal(b.until("state", `"lines"`), &state))
	}
	require.NoError(b.t, json.Unmarshal(state.Rest.Permissions[0], &q))
	return q
}

func (b *browser) begin() string {
	b.t.Helper()
	b.send("new", map[string]any{"folder": "/work"})
	var opened struct{ Session string }
	require.NoError(b.t, json.Unmarshal(b.until("opened", ""), &opened))
	return opened.Session
}

// The page shows options that are on or off, and tells the hub that it does.
func TestSwitches(t *testing.T) {
	site, _ := newSite(t)
	b := openPage(t, site)
	b.send("new", map[string]any{"folder": "/work"})
	b.until("state", `"type":"boolean","on":true`)
}

// Every page gets the question with our lines and labels, one of them answers it, and it leaves the others.
func TestAQuestionInTwoTabs(t *testing.T) {
	site, _ := newSite(t)
	a, b := openPage(t, site), openPage(t, site)
	id := a.begin()
	b.until("sessions", id)
	b.send("open", map[string]any{"session": id, "folder": "/work"})
	b.until("opened", id)
	a.send("prompt", map[string]any{"text": "ask"})
	a.question()
	q := b.question()
	assert.Contains(t, strings.Join(q.Lines, "\n"), "rm -r x")
	require.GreaterOrEqual(t, len(q.Options), 3)
	assert.Equal(t, "Allow once", q.Options[0].Label)
	assert.Equal(t, `Always allow, as far as this agent decides: "For ever"`, q.Options[1].Label)
	b.send("answer", map[string]any{"key": q.Key, "option": "none"})
	b.until("failed", "")
	b.send("answer", map[string]any{"key": q.Key, "option": "a"})
	b.until("state", "chosen a")
	a.until("state", "chosen a")
	b.send("answer", map[string]any{"key": q.Key, "option": "c"})
	b.send("prompt", map[string]any{"text": "ask"}) // and no error before it
	b.question()
}

// A decision for always is kept by the page for all its tabs and sessions of the folder, as its label says.
func TestAlwaysOfThePage(t *testing.T) {
	site, _ := newSite(t)
	a := openPage(t, site)
	a.begin()
	a.send("prompt", map[string]any{"text": "ask"})
	q := a.question()
	own := q.Options[len(q.Options)-1]
	require.Contains(t, own.Label, "in all sessions of this folder")
	a.send("answer", map[string]any{"key": q.Key, "option": own.ID})
	a.until("state", "chosen")
	a.close()
	b := openPage(t, site)
	b.begin()
	b.send("prompt", map[string]any{"text": "ask"})
	b.until("state", "chosen")
}

// After a turn that ends early, the page says what the person can do.
func TestATurnThatEndsEarly(t *testing.T) {
	site, _ := newSite(t)
	a := openPage(t, site)
	a.begin()
	a.send("prompt", map[string]any{"text": "too much"})
	a.until("failed", `the agent stopped: refusal\nThe agent does not take this prompt`)
}

// What cannot be shown is not answered: another client may.
func TestTheUnreadableStaysOpen(t *testing.T) {
	site, _ := newSite(t)
	a := openPage(t, site)
	a.begin()
	a.send("prompt", map[string]any{"text": "long"})
	a.until("failed", "cannot be shown here")
	for info := range site.hub.Sessions() {
		assert.Equal(t, 1, info.Questions)
	}
	a.send("cancel", map[string]any{})
	a.until("state", `"idle"`)
}

// A turn goes on when its page is closed, and its end is in the conversation of the next one.
func TestATurnOutlivesItsPage(t *testing.T) {
	site, goOn := newSite(t)
	a := openPage(t, site)
	id := a.begin()
	a.send("prompt", map[string]any{"text": "wait"})
	a.until("sessions", `"running":true`)
	a.close()
	b := openPage(t, site)
	b.until("sessions", `"running":true`)
	goOn <- struct{}{}
	b.until("sessions", `"running":false`)
	b.send("open", map[string]any{"session": id, "folder": "/work"})
	state := b.until("state", "waited")
	assert.Contains(t, string(state), `\u003cstrong\u003ewaited\u003c/strong\u003e`)
}

// A question stays open when its page is closed.
func TestAQuestionOutlivesItsPage(t *testing.T) {
	site, _ := newSite(t)
	a := openPage(t, site)
	id := a.begin()
	a.send("prompt", map[string]any{"text": "ask"})
	a.question()
	a.close()
	b := openPage(t, site)
	b.send("open", map[string]any{"session": id, "folder": "/work"})
	b.send("answer", map[string]any{"key": b.question().Key, "option": "a"})
	b.until("state", "chosen a")
}

// A page that goes from one session to another sees no more of the first one, and a session that does not exist closes nothing.
func TestFromSessionToSession(t *testing.T) {
	site, goOn := newSite(t)
	a := openPage(t, site)
	first := a.begin()
	a.send("prompt", map[string]any{"text": "wait"})
	a.until("state", "wait")
	second := a.begin()
	require.NotEqual(t, first, second)
	goOn <- struct{}{}
	a.until("sessions", "")
	a.send("prompt", map[string]any{"text": "many"})
	for {
		s := a.next()
		require.NotContains(t, string(s.Params), "waited")
		if s.Method == "state" && strings.Contains(string(s.Params), "end_turn") {
			break
		}
	}
	a.send("earlier", map[string]any{"before": 301})
	state := string(a.until("state", `"place":300`))
	assert.Contains(t, state, `"place":101`)
	assert.NotContains(t, state, `"place":100,`)
	assert.NotContains(t, state, `"whole"`)

	a.send("open", map[string]any{"session": "unknown", "folder": "/work"})
	a.until("failed", "")
	a.send("prompt", map[string]any{"text": "ask"})
	a.until("failed", "no session is open")
}

// The values of a form are checked, and asked for again.
func TestAForm(t *testing.T) {
	site, _ := newSite(t)
	a := openPage(t, site)
	a.begin()
	a.send("prompt", map[string]any{"text": "form"})
	a.until("forms", "How many?")
	a.send("fill", map[string]any{"key": 1, "form": map[string]any{"action": "accept", "content": map[string]any{"n": 0}}})
	a.until("forms", `"key":2`)
	a.send("fill", map[string]any{"key": 1, "form": map[string]any{"action": "decline"}}) // it has left the page
	a.send("fill", map[string]any{"key": 2, "form": map[string]any{"action": "accept", "content": map[string]any{"n": 3}}})
	a.until("state", "ElicitationAcceptAction")
	a.send("fill", map[string]any{"key": 2})
	a.send("prompt", map[string]any{"text": "form"})
	a.until("forms", `"key":3`)
}

// What no page sends is refused, and ends nothing.
func TestNonsense(t *testing.T) {
	site, _ := newSite(t)
	a := openPage(t, site)
	for _, message := range []string{`{"method":"unknown"}`, `{"method":"open","params":7}`, `[]`, `{}`, `{"method":"session/prompt"}`} {
		a.write(message)
		a.until("failed", "unknown")
	}
	for _, method := range []string{"prompt", "cancel", "earlier", "answer", "mode", "set"} {
		a.send(method, map[string]any{})
		a.until("failed", "no session is open")
	}
	a.begin()
}
