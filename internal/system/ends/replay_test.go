package ends_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/proxy"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
)

// A relay passes the marker of the agent on, and sends none of its own, also where the agent sends none.
func TestARelayMarksNoReplay(t *testing.T) {
	// middle wraps an end that passes on to a connection, so that New does not see that it is one.
	type middle struct{ acp2.AgentWrapper }
	typed := func(wrap func(acp2.Agent) acp2.Agent, opts *agent2.Options) func(t *testing.T, front, back stream.Stream) {
		return func(t *testing.T, front, back stream.Stream) {
			above := agent2.New(front, func(above *agent2.Conn) acp2.Agent {
				below := client2.New(back, func(*client2.Conn) acp2.Client { return above }, nil)
				require.NoError(t, below.Start(t.Context()))
				return wrap(below)
			}, opts)
			require.NoError(t, above.Start(t.Context()))
		}
	}
	for name, relay := range map[string]func(t *testing.T, front, back stream.Stream){
		"two connections":            typed(func(a acp2.Agent) acp2.Agent { return a }, nil),
		"two wrapped connections":    typed(func(a acp2.Agent) acp2.Agent { return &acp2.AgentWrapper{Agent: a} }, nil),
		"a wrapper of its own":       typed(func(a acp2.Agent) acp2.Agent { return &middle{acp2.AgentWrapper{Agent: a}} }, nil),
		"an agent that says that it": typed(func(a acp2.Agent) acp2.Agent { return struct{ acp2.Agent }{a} }, &agent2.Options{Relay: true}),
		"a raw proxy": func(t *testing.T, front, back stream.Stream) {
			p := proxy.New(front, back, nil)
			go func() { _ = p.Run(t.Context()) }() // ends with its streams
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				front, editor := rawpeer.Pipe(t)
				back, agent := rawpeer.Pipe(t)
				relay(t, front, back)
				editor.Call("0", "initialize", `{"protocolVersion":2,"info":{"name":"c","version":"1"}}`)
				agent.Answer(agent.Expect("initialize"), `{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}`)
				editor.Next()
				for _, sent := range [][]string{{"user_message", "replay_complete", "user_message"}, {"user_message"}, {}} {
					editor.Call("1", "session/resume", `{"sessionId":"s","cwd":"/","replayFrom":{"type":"start"}}`)
					req := agent.Expect("session/resume")
					for _, kind := range sent {
						agent.Notify("session/update", `{"sessionId":"s","update":{"sessionUpdate":"`+kind+`","messageId":"m","content":[]}}`)
					}
					agent.Answer(req, `{}`)
					var got []string
					for m := editor.Next(); m.Method != ""; m = editor.Next() {
						var p struct {
							Update struct{ SessionUpdate string }
						}
						require.NoError(t, json.Unmarshal(m.Params, &p))
						got = append(got, p.Update.SessionUpdate)
					}
					assert.Equal(t, sent, append([]string{}, got...))
				}
				editor.Close()
				agent.Close()
			})
		})
	}
}

// The client behind two relays is told the end of the history as if it spoke with the agent.
func TestReplayedThroughARelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		near, front := stream.Pipe()
		back, far := stream.Pipe()
		above := agent2.New(front, func(above *agent2.Conn) acp2.Agent {
			below := client2.New(back, func(*client2.Conn) acp2.Client { return above }, nil)
			require.NoError(t, below.Start(t.Context()))
			return below
		}, nil)
		require.NoError(t, above.Start(t.Context()))
		agent := agent2.New(far, func(c *agent2.Conn) acp2.Agent { return &stored{conn: c} }, nil)
		require.NoError(t, agent.Start(t.Context()))
		conn, err := client2.Connect(t.Context(), near, func(*client2.Conn) acp2.Client { return quiet{} }, nil)
		require.NoError(t, err)
		var got []string
		_, err = conn.StartResumedSession(t.Context(), &acp2.ResumeSessionRequest{SessionID: "s", Cwd: "/", ReplayFrom: &acp2.ReplayFromStart{}}, &client2.ResumeOptions{
			OnUpdate: func(_ context.Context, u acp2.SessionUpdate) {
				if m, ok := u.(*acp2.UserMessage); ok {
					got = append(got, string(m.MessageID))
				}
			},
			Replayed: func(err error) { assert.NoError(t, err); got = append(got, "replayed") },
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"old", "replayed", "live"}, got)
		require.NoError(t, conn.Close())
	})
}

// stored is an agent with one stored session, in which something happens while it is replayed.
type stored struct {
	agent2.NoHistory
	conn *agent2.Conn
}

func (*stored) Initialize(context.Context, *acp2.InitializeRequest) (*acp2.InitializeResponse, error) {
	return &acp2.InitializeResponse{Info: acp2.Implementation{Name: "a", Version: "1"}, Capabilities: &acp2.AgentCapabilities{Session: &acp2.SessionCapabilities{}}}, nil
}

func (*stored) NewSession(context.Context, *acp2.NewSessionRequest) (*acp2.NewSessionResponse, error) {
	return nil, nil
}

func (*stored) Prompt(context.Context, *acp2.PromptRequest) (*acp2.PromptResponse, error) {
	return nil, nil
}

func (a *stored) ResumeSession(ctx context.Context, req *acp2.ResumeSessionRequest) (*acp2.ResumeSessionResponse, error) {
	s := a.conn.Session(req.SessionID)
	if err := s.UserMessage(context.Background(), "live"); err != nil {
		return nil, err
	}
	return nil, s.UserMessage(ctx, "old")
}

// quiet is a client that shows nothing.
type quiet struct{}

func (quiet) SessionUpdate(context.Context, *acp2.UpdateSessionNotification) error { return nil }

func (quiet) RequestPermission(context.Context, *acp2.RequestPermissionRequest) (*acp2.RequestPermissionResponse, error) {
	return nil, nil
}
