package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// works are what an agent does on a prompt, by the text of the prompt.
type works = map[string]func(ctx context.Context, s *agent.Session) (acp.StopReason, error)

// scripted is an agent whose work on a prompt is chosen by the text of the prompt. The id of the
// user's message is u and the id of the request, or empty if the text is empty.
type scripted struct {
	agent.NoHistory
	conn       *agent.Conn
	initialize chan struct{} // Initialize waits for it unless it is nil
	mcp        *acp.MCPCapabilities
	works      works
}

func (a *scripted) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	if a.initialize != nil {
		<-a.initialize
	}
	return &acp.InitializeResponse{Info: acp.Implementation{Name: "scripted", Version: "1"}, Capabilities: &acp.AgentCapabilities{Session: &acp.SessionCapabilities{MCP: a.mcp}}}, nil
}

func (a *scripted) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s1"}, nil
}

func (a *scripted) ResumeSession(ctx context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	if req.SessionID == "old" {
		return a.NoHistory.ResumeSession(ctx, req)
	}
	return nil, a.conn.Session(req.SessionID).SendState(ctx)
}

func (a *scripted) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	s, text, id := a.conn.Session(req.SessionID), acp.PlainText(req.Prompt...), acp.MessageID("")
	if text != "" {
		request, _ := agent.RequestID(ctx)
		b, err := json.Marshal(request)
		if err != nil {
			return nil, err
		}
		id = acp.MessageID("u" + string(b))
	}
	work := func(ctx context.Context) (acp.StopReason, error) { return a.works[text](ctx, s) }
	if text == "any id" {
		return s.Accept(ctx, req, work)
	}
	return s.AcceptAs(ctx, id, req, work)
}

// raw is the client's end of a connection, played by the test.
type raw struct {
	*rawpeer.Peer
	t *testing.T
}

func (r *raw) prompt(id int, text string) {
	r.Send(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":%q}]}}`, id, text)
}

// read returns a short form of the next message.
func (r *raw) read() string {
	r.t.Helper()
	m := r.Next()
	var params struct {
		Update struct {
			SessionUpdate, State, StopReason string
			Background                       *[]struct{ ToolCallID string }
			Error                            *struct{ Message string }
		}
	}
	if m.Params != nil {
		require.NoError(r.t, json.Unmarshal(m.Params, &params), m.Raw)
	}
	u := params.Update
	switch {
	case m.Method == "session/request_permission", m.Method == "elicitation/create":
		return "ask " + string(m.ID)
	case m.Error != nil:
		return fmt.Sprintf("error %s %d", m.ID, m.Error.Code)
	case m.Method == "":
		return "response " + string(m.ID)
	case u.SessionUpdate == "state_update":
		text := strings.TrimSpace(u.State + " " + u.StopReason)
		if u.Error != nil {
			text += " " + u.Error.Message
		}
		if u.Background != nil && len(*u.Background) > 0 {
			text += fmt.Sprint(" with ", (*u.Background)[0].ToolCallID)
		}
		return text
	}
	return u.SessionUpdate
}

func (r *raw) want(lines ...string) {
	r.t.Helper()
	for _, want := range lines {
		require.Equal(r.t, want, r.read())
	}
}

// connect starts a connection with the agent. end closes the client's end and waits.
func connect(t *testing.T, newAgent func(*agent.Conn) acp.Agent, opts *agent.Options) (r *raw, end func()) {
	near, far := rawpeer.Pipe(t)
	conn := agent.New(near, newAgent, opts)
	require.NoError(t, conn.Start(context.WithoutCancel(t.Context())))
	return &raw{far, t}, func() {
		synctest.Wait() // the agent has written all messages
		far.Close()
		assert.NoError(t, conn.Wait())
	}
}

// newScripted returns a function for agent.New that returns a.
func newScripted(a *scripted) func(*agent.Conn) acp.Agent {
	return func(c *agent.Conn) acp.Agent { a.conn = c; return a }
}

// initialized is connect and the handshake of a client that shows forms.
func initialized(t *testing.T, newAgent func(*agent.Conn) acp.Agent, opts *agent.Options) (r *raw, end func()) {
	r, end = connect(t, newAgent, opts)
	r.Call("0", "initialize", `{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{"elicitation":{"form":{}}}}`)
	r.want("response 0")
	return r, end
}

// scene runs a test in a bubble, with an agent that does these works.
func scene(t *testing.T, opts *agent.Options, works works, test func(r *raw)) {
	synctest.Test(t, func(t *testing.T) {
		r, end := initialized(t, newScripted(&scripted{works: works}), opts)
		test(r)
		end()
	})
}

func untilCancelled(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
	<-ctx.Done()
	if err := s.Message(ctx, "m", "last words"); err != nil {
		return "", err
	}
	return "", ctx.Err()
}
