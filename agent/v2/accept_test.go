package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
)

// scripted is an agent whose work on a prompt is chosen by the text of the prompt.
type scripted struct {
	conn       *agent.Conn
	initialize chan struct{} // Initialize waits for it unless it is nil
	mcp        *acp.MCPCapabilities
	works      map[string]func(ctx context.Context, s *agent.Session) (acp.StopReason, error)
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

func (a *scripted) ListSessions(context.Context, *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	return nil, nil
}

func (a *scripted) ResumeSession(ctx context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	return nil, a.conn.Session(req.SessionID).State(ctx)
}

func (a *scripted) CloseSession(context.Context, *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	return nil, nil
}

func (a *scripted) Cancel(context.Context, *acp.CancelSessionNotification) error { return nil }

func (a *scripted) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	s := a.conn.Session(req.SessionID)
	return s.Accept(ctx, req, func(ctx context.Context) (acp.StopReason, error) {
		return a.works[acp.PlainText(req.Prompt...)](ctx, s)
	})
}

// raw is the client's end of a connection, played by the test.
type raw struct {
	*rawpeer.Peer
	t *testing.T
}

func (r *raw) prompt(id int, text string) {
	r.Send(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":%q}]}}`, id, text)
}

// read returns what the next message says, in short.
func (r *raw) read() string {
	r.t.Helper()
	m := r.Next()
	var params struct {
		Update struct {
			SessionUpdate, State, StopReason string
			Background                       *[]struct{ ToolCallID string }
			Error                            *struct{ Message string }
			Content                          json.RawMessage
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

// scene runs a test in a bubble, with an agent whose works are given.
func scene(t *testing.T, works map[string]func(ctx context.Context, s *agent.Session) (acp.StopReason, error), test func(r *raw)) {
	sceneWith(t, nil, works, test)
}

func sceneWith(t *testing.T, opts *agent.Options, works map[string]func(ctx context.Context, s *agent.Session) (acp.StopReason, error), test func(r *raw)) {
	synctest.Test(t, func(t *testing.T) {
		near, far := rawpeer.Pipe(t)
		served := make(chan error, 1)
		go func() { // ends when the client closes its end
			served <- agent.Serve(t.Context(), near, func(c *agent.Conn) acp.Agent { return &scripted{conn: c, works: works} }, opts)
		}()
		r := &raw{far, t}
		r.Send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{"elicitation":{"form":{}}}}}`)
		r.want("response 0")
		test(r)
		synctest.Wait() // what the agent still writes is written
		far.Close()
		assert.NoError(t, <-served)
	})
}

type works = map[string]func(ctx context.Context, s *agent.Session) (acp.StopReason, error)

func untilCancelled(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
	<-ctx.Done()
	if err := s.Message(ctx, "m", "last words"); err != nil {
		return "", err
	}
	return "", ctx.Err()
}

func TestAcceptOrder(t *testing.T) {
	scene(t, works{"hi": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
		return "", s.Message(ctx, "m", "hello")
	}}, func(r *raw) {
		r.prompt(1, "hi")
		got := []string{r.read(), r.read(), r.read(), r.read(), r.read()}
		assert.Equal(t, []string{"user_message", "running"}, got[:2])
		assert.ElementsMatch(t, []string{"response 1", "agent_message_chunk", "idle end_turn"}, got[2:])
	})
}

func TestAcceptHoldsPromptsInOrder(t *testing.T) {
	var release chan struct{} // made in the bubble
	next := func(ctx context.Context, s *agent.Session) (acp.StopReason, error) { return "", nil }
	scene(t, works{"first": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
		<-release
		return "", nil
	}, "next": next}, func(r *raw) {
		release = make(chan struct{})
		r.prompt(1, "first")
		r.want("user_message", "running", "response 1")
		for id := 2; id < 12; id++ {
			r.prompt(id, "next")
		}
		synctest.Wait()
		close(release)
		r.want("idle end_turn")
		var responses []string
		for len(responses) < 10 {
			if line := r.read(); strings.HasPrefix(line, "response") {
				responses = append(responses, line)
			}
		}
		for i, line := range responses {
			assert.Equal(t, fmt.Sprint("response ", i+2), line)
		}
	})
}

// A held prompt that the client withdraws lets none of those behind it overtake one in front
// of it.
func TestWithdrawnPromptKeepsTheOrder(t *testing.T) {
	var release chan struct{} // made in the bubble
	scene(t, works{"first": func(context.Context, *agent.Session) (acp.StopReason, error) {
		<-release
		return "", nil
	}, "next": func(context.Context, *agent.Session) (acp.StopReason, error) { return "", nil }}, func(r *raw) {
		release = make(chan struct{})
		r.prompt(1, "first")
		r.want("user_message", "running", "response 1")
		for id := 2; id < 12; id++ {
			r.prompt(id, "next")
		}
		synctest.Wait()
		for _, id := range []int{4, 8, 7} {
			r.Send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%d}}`, id)
			r.want(fmt.Sprintf("error %d -32800", id))
		}
		close(release)
		for _, id := range []int{2, 3, 5, 6, 9, 10, 11} {
			line := r.read()
			for !strings.HasPrefix(line, "response") {
				line = r.read()
			}
			require.Equal(t, fmt.Sprint("response ", id), line)
		}
	})
}

func TestCancelEndsWorkAndHeldPrompts(t *testing.T) {
	scene(t, works{"work": untilCancelled}, func(r *raw) {
		r.prompt(1, "work")
		r.want("user_message", "running", "response 1")
		r.prompt(2, "work")
		synctest.Wait()
		r.Send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
		got := []string{r.read(), r.read(), r.read()}
		assert.ElementsMatch(t, []string{"error 2 -32800", "agent_message_chunk", "idle cancelled"}, got)
		r.prompt(3, "work")
		r.want("user_message", "running", "response 3")
	})
}

// The response to session/close is the last message of the session.
func TestCloseIsRespondedToLast(t *testing.T) {
	scene(t, works{"work": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
		<-ctx.Done()
		time.Sleep(time.Minute) // in the bubble
		return "", s.Message(ctx, "m", "last words")
	}}, func(r *raw) {
		r.prompt(1, "work")
		r.want("user_message", "running", "response 1")
		r.prompt(2, "work")
		synctest.Wait()
		r.Send(`{"jsonrpc":"2.0","id":3,"method":"session/close","params":{"sessionId":"s1"}}`)
		r.want("error 2 -32800", "agent_message_chunk", "idle cancelled", "response 3")
	})
}

// What arrives behind session/close does not begin: the close would wait for it.
func TestNothingBeginsBehindClose(t *testing.T) {
	var late chan error // made in the bubble
	scene(t, works{"work": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
		<-ctx.Done()
		time.Sleep(time.Second) // in the bubble
		_, err := s.StartBackground(ctx, &acp.BackgroundToolCall{ToolCallID: "t1"})
		late <- err
		time.Sleep(time.Minute) // in the bubble
		return "", nil
	}, "late": untilCancelled}, func(r *raw) {
		late = make(chan error, 1)
		r.prompt(1, "work")
		r.want("user_message", "running", "response 1")
		r.Send(`{"jsonrpc":"2.0","id":2,"method":"session/close","params":{"sessionId":"s1"}}`)
		synctest.Wait()
		r.prompt(3, "late")
		r.want("error 3 -32002", "idle cancelled", "response 2")
		assert.ErrorIs(t, <-late, acp.ErrTurnCancelled)
		r.prompt(4, "late")
		r.want("user_message", "running", "response 4") // whether the session can be used again is up to the agent
		r.Send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
		r.want("agent_message_chunk", "idle cancelled")
	})
}

// Also a prompt that is handled before the close in front of it, because its handler was
// faster, ends with the session.
func TestPromptThatOvertakesClose(t *testing.T) {
	slowClose := func(next acp.Handler) acp.Handler {
		return func(ctx context.Context, method string, params any) (any, error) {
			if method == acp.MethodSessionClose {
				time.Sleep(time.Minute) // in the bubble
			}
			return next(ctx, method, params)
		}
	}
	sceneWith(t, &agent.Options{Receiving: []acp.Middleware{slowClose}}, works{"late": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
		b, err := s.StartBackground(ctx, &acp.BackgroundToolCall{ToolCallID: "t1"})
		if err != nil {
			return "", err
		}
		<-b.Context().Done()
		return "", b.End(ctx)
	}}, func(r *raw) {
		r.Send(`{"jsonrpc":"2.0","id":1,"method":"session/close","params":{"sessionId":"s1"}}`)
		r.prompt(2, "late")
		r.want("user_message", "running")
		got := []string{r.read(), r.read()}
		assert.ElementsMatch(t, []string{"response 2", "running with t1"}, got)
		r.want("running", "idle cancelled", "response 1")
	})
}

// A client that does not wait for the end of the work can cancel its request.
func TestCloseThatIsCancelled(t *testing.T) {
	release := make(chan struct{})
	scene(t, works{"work": func(context.Context, *agent.Session) (acp.StopReason, error) {
		<-release
		return "", nil
	}}, func(r *raw) {
		r.prompt(1, "work")
		r.want("user_message", "running", "response 1")
		r.Send(`{"jsonrpc":"2.0","id":3,"method":"session/close","params":{"sessionId":"s1"}}`)
		r.Send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":3}}`)
		r.want("error 3 -32800")
		close(release)
		r.want("idle cancelled")
	})
}

func TestBackgroundWorkSurvivesCancel(t *testing.T) {
	var ended chan error // made in the bubble
	scene(t, works{"work": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
		b, err := s.StartBackground(ctx, &acp.BackgroundToolCall{ToolCallID: "t1"})
		if err != nil {
			return "", err
		}
		go func() { // ends when the session is closed
			<-b.Context().Done()
			ended <- context.Cause(b.Context())
			b.End(b.Context())
		}()
		<-ctx.Done()
		return "", ctx.Err()
	}}, func(r *raw) {
		ended = make(chan error, 1)
		r.prompt(1, "work")
		got := []string{r.read(), r.read(), r.read(), r.read()}
		assert.ElementsMatch(t, []string{"user_message", "running", "response 1", "running with t1"}, got)
		r.Send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
		r.want("idle cancelled with t1")
		assert.Empty(t, ended)
		r.Send(`{"jsonrpc":"2.0","id":2,"method":"session/close","params":{"sessionId":"s1"}}`)
		r.want("idle", "response 2")
		assert.ErrorIs(t, <-ended, acp.ErrTurnCancelled)
	})
}

func TestWorkThatFails(t *testing.T) {
	scene(t, works{
		"secret": func(context.Context, *agent.Session) (acp.StopReason, error) {
			return "", errors.New("/home/me is full")
		},
		"meant": func(context.Context, *agent.Session) (acp.StopReason, error) {
			return "", rpcerr.AuthRequired(nil)
		},
		"panic": func(context.Context, *agent.Session) (acp.StopReason, error) { panic("/home/me") },
	}, func(r *raw) {
		for id, c := range []struct{ text, want string }{
			{"secret", "idle error Internal error"}, {"meant", "idle error Authentication required"}, {"panic", "idle error Internal error"},
		} {
			r.prompt(id+1, c.text)
			var lines []string
			for range 4 {
				lines = append(lines, r.read())
			}
			assert.Contains(t, lines, c.want)
		}
	})
}

func TestAskPermissionTellsTheState(t *testing.T) {
	scene(t, works{"ask": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
		option, err := s.AskPermission(ctx, "May I?", nil)
		if err != nil {
			return "", err
		}
		if !agent.Allows(option) {
			return acp.StopReasonRefusal, nil
		}
		return acp.StopReasonEndTurn, nil
	}}, func(r *raw) {
		r.prompt(1, "ask")
		var ask string
		var before []string
		for ask == "" {
			if line := r.read(); strings.HasPrefix(line, "ask ") {
				ask = strings.TrimPrefix(line, "ask ")
			} else if !strings.HasPrefix(line, "response") {
				before = append(before, line)
			}
		}
		assert.Equal(t, []string{"user_message", "running", "requires_action"}, before)
		r.Send(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"reject_once"}}}`, ask)
		var after []string
		for len(after) < 2 {
			if line := r.read(); !strings.HasPrefix(line, "response") {
				after = append(after, line)
			}
		}
		assert.Equal(t, []string{"running", "idle refusal"}, after)
	})
}
