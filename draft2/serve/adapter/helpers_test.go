package adapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/serve/adapter"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

var quiet = slog.New(slog.DiscardHandler)

// work is what the agent does for a prompt. The text of the prompt selects it.
type work func(ctx context.Context, a *testAgent, req *acp.PromptRequest) (*acp.PromptResponse, error)

// testAgent is an agent of version 1 with no optional methods.
type testAgent struct {
	conn  *agent.Conn
	caps  *acp.AgentCapabilities
	info  *acp.InitializeResponse // result of Initialize, if not nil
	modes *acp.SessionModeState
	opts  []acp.SessionConfigOption
	works map[string]work

	next        []acp.SessionUpdate // what the next prompt "go" sends
	initialized *acp.InitializeRequest
	latest      any // the last request that the agent has read
	sessions    int
}

func (a *testAgent) read(req any) { a.latest = req }

// send sends updates of a session.
func (a *testAgent) send(ctx context.Context, id acp.SessionID, updates []acp.SessionUpdate) error {
	for _, u := range updates {
		if err := a.conn.Session(id).Update(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

func (a *testAgent) Initialize(_ context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	a.initialized = req
	if a.info != nil {
		return a.info, nil
	}
	return &acp.InitializeResponse{AgentCapabilities: a.caps}, nil
}

func (a *testAgent) NewSession(_ context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	a.read(req)
	a.sessions++
	return &acp.NewSessionResponse{SessionID: acp.SessionID(fmt.Sprint("s", a.sessions)), Modes: a.modes, ConfigOptions: a.opts}, nil
}

func (a *testAgent) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	w := a.works[acp.PlainText(req.Prompt...)]
	if w == nil {
		return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	}
	return w(ctx, a, req)
}

func (a *testAgent) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func endTurn() (*acp.PromptResponse, error) {
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// testClient is a client of version 2 that the test plays.
type testClient struct {
	*rawpeer.Peer
	t    *testing.T
	last string // the last message
	// names maps the ids that the adapter made, in order of appearance
	names map[string]string
}

func (p *testClient) call(id int, method, params string) {
	p.t.Helper()
	p.Call(fmt.Sprint(id), method, params)
}

func (p *testClient) prompt(id int, text string) {
	p.t.Helper()
	p.call(id, "session/prompt", fmt.Sprintf(`{"sessionId":"s1","prompt":[{"type":"text","text":%q}]}`, text))
}

// read returns the next message, with the adapter's ids replaced by names.
func (p *testClient) read() string {
	p.t.Helper()
	p.last = p.Next().Raw
	text := rawpeer.NameErrorIDs(p.last)
	for {
		before, rest, found := strings.Cut(text, `"msg_`)
		if !found {
			return text
		}
		id, after, _ := strings.Cut(rest, `"`)
		if p.names[id] == "" {
			p.names[id] = fmt.Sprint("m", len(p.names)+1)
		}
		text = before + `"` + p.names[id] + `"` + after
	}
}

// want compares the next messages with lines, as JSON; see full. Responses to prompts may come at
// any time, so they are skipped unless they are wanted.
func (p *testClient) want(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		require.JSONEq(p.t, full(line), p.readAny(full(line)))
	}
}

// wantAny is like want, but accepts messages in any order.
func (p *testClient) wantAny(lines ...string) {
	p.t.Helper()
	var all string
	var want, got []any
	for _, line := range lines {
		want = append(want, parse(p.t, full(line)))
		all += full(line)
	}
	for range lines {
		got = append(got, parse(p.t, p.readAny(all)))
	}
	require.ElementsMatch(p.t, want, got)
}

// readAny returns the next message that is not the response to a prompt, or is one if that is wanted.
func (p *testClient) readAny(want string) string {
	p.t.Helper()
	const receipt = `"result":{"messageId"`
	got := p.read()
	for strings.Contains(got, receipt) && !strings.Contains(want, receipt) {
		got = p.read()
	}
	return got
}

func parse(t *testing.T, line string) (v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(line), &v), "%s", line)
	return v
}

// full returns the message that a line of a dialogue stands for.
func full(line string) string {
	session := "s1"
	if line[0] == '@' {
		session, line, _ = strings.Cut(line[1:], " ")
	}
	word, rest, _ := strings.Cut(line, " ")
	switch id, err := strconv.Atoi(word); {
	case word[0] == '{':
		return line
	case err == nil && rest[0] == '-':
		code, text, _ := strings.Cut(rest, " ")
		text, data, hasData := strings.Cut(text, " {")
		if hasData {
			data = `,"data":{` + data
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":%s,"message":%q%s}}`, id, code, text, data)
	case err == nil:
		return result(id, rest)
	case word == "running":
		line = running
	case word == "waiting":
		line = waiting
	case line == "idle":
		line = `state_update {"state":"idle","background":[]}`
	case word == "idle":
		line = idle(rest)
	}
	return inSession(session, line)
}

func inSession(id, line string) string {
	kind, rest, _ := strings.Cut(line, " ")
	sep := ","
	if rest == "{}" {
		sep = ""
	}
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + id + `","update":{"sessionUpdate":"` + kind + `"` + sep + rest[1:] + `}}`
}

const (
	running = `state_update {"state":"running","background":[]}`
	waiting = `state_update {"state":"requires_action","background":[]}`
)

func idle(reason string) string {
	return `state_update {"state":"idle","stopReason":"` + reason + `","background":[]}`
}

func agentChunk(id, text string) string {
	return `agent_message_chunk {"messageId":"` + id + `","content":{"type":"text","text":"` + text + `"}}`
}

func userMessage(id, text string) string {
	return `user_message {"messageId":"` + id + `","content":[{"type":"text","text":"` + text + `"}]}`
}

func result(id int, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result)
}

func notFound(id, session string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32002,"message":"Session not found: ` + session + `","data":{"sessionId":"` + session + `"}}}`
}

// adapted starts an adapter for an agent.
func adapted(t *testing.T, a acp.Agent, own *testAgent) (client *testClient, end func()) {
	over, p := rawpeer.Pipe(t)
	newV1 := func(conn *agent.Conn) acp.Agent { own.conn = conn; return a }
	conn := agent2.New(over, adapter.FromV1(newV1, &adapter.Options{Logger: quiet}), &agent2.Options{Logger: quiet})
	require.NoError(t, conn.Start(context.WithoutCancel(t.Context())))
	return &testClient{Peer: p, t: t, names: map[string]string{}}, func() {
		p.Close()
		require.NoError(t, conn.Wait())
	}
}

const initializeParams = `{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{"elicitation":{"form":{},"url":{}}}}`

// scene runs test in a bubble, with an open session s1.
func scene(t *testing.T, a acp.Agent, own *testAgent, test func(p *testClient)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p, end := adapted(t, a, own)
		p.call(0, "initialize", initializeParams)
		p.read()
		p.call(0, "session/new", `{"cwd":"/"}`)
		p.read()
		assert.Contains(t, p.last, `"sessionId":"s1"`)
		test(p)
		end()
	})
}
