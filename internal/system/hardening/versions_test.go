package hardening_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
)

// Clients and agents of both versions, for tests that run with each.

// user is a client of either version. The test plays its agent.
type user struct {
	*echoPeer
	// startSession opens a session with a helper, and newSession without one.
	startSession func(context.Context) (id string, done func(context.Context) error, err error)
	newSession   func(context.Context) (id string, done func(context.Context) error, err error)
	// prompt begins a turn of session s1; wait waits for its end.
	prompt func(context.Context) (wait func() error)
	// begins is what the agent sends first in a turn.
	begins string
	// turnEnds ends a turn of session s1 as the agent does.
	turnEnds func(prompt rawpeer.Message)
	// update returns the params of an update from the agent.
	update func(session, text, meta string) string
}

// userSetup says what a user is like.
type userSetup struct {
	limits   acp.Limits
	onUpdate func(text string)
}

// eachUser runs a test with a client of each version.
func eachUser(t *testing.T, test func(t *testing.T, newUser func(t *testing.T, s userSetup) *user)) {
	t.Run("version 1", func(t *testing.T) { test(t, newUser1) })
	t.Run("version 2", func(t *testing.T) { test(t, newUser2) })
}

func newUser1(t *testing.T, s userSetup) *user {
	t.Helper()
	cl := &testClient{}
	if s.onUpdate != nil {
		cl.OnUpdate = func(_ context.Context, n *acp.SessionNotification) error {
			s.onUpdate(shownUpdate(n.Update))
			return nil
		}
	}
	c, p := startClient(t, cl, &client.Options{Limits: s.limits}, nil)
	req := &acp.NewSessionRequest{Cwd: "/"}
	return &user{
		echoPeer: p,
		startSession: func(ctx context.Context) (string, func(context.Context) error, error) {
			s, err := c.StartSession(ctx, req)
			if err != nil {
				return "", nil, err
			}
			return string(s.ID()), s.Close, nil
		},
		newSession: func(ctx context.Context) (string, func(context.Context) error, error) {
			res, err := c.NewSession(ctx, req)
			if err != nil {
				return "", nil, err
			}
			return string(res.SessionID), func(ctx context.Context) error {
				return pairtest.Err(c.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: res.SessionID}))
			}, nil
		},
		prompt: func(ctx context.Context) func() error {
			turn := c.Session("s1").Prompt(ctx, acp.Text("go"))
			return func() error { return pairtest.Err(turn.Wait()) }
		},
		turnEnds: func(prompt rawpeer.Message) { p.Answer(prompt, `{"stopReason":"end_turn"}`) },
		update: func(session, text, meta string) string {
			return fmt.Sprintf(`{"sessionId":%q,"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}%s}}`, session, text, metaMember(meta))
		},
	}
}

func newUser2(t *testing.T, s userSetup) *user {
	t.Helper()
	cl := &testClient2{}
	if s.onUpdate != nil {
		cl.onUpdate = func(u acp2.SessionUpdate) {
			if chunk, ok := u.(*acp2.AgentMessageChunk); ok {
				s.onUpdate(acp2.PlainText(chunk.Content))
			}
		}
	}
	c, p := startClient2(t, cl, &client2.Options{Limits: s.limits}, nil)
	req := &acp2.NewSessionRequest{Cwd: "/"}
	return &user{
		echoPeer: p,
		startSession: func(ctx context.Context) (string, func(context.Context) error, error) {
			s, err := c.StartSession(ctx, req)
			if err != nil {
				return "", nil, err
			}
			return string(s.ID()), s.Close, nil
		},
		newSession: func(ctx context.Context) (string, func(context.Context) error, error) {
			res, err := c.NewSession(ctx, req)
			if err != nil {
				return "", nil, err
			}
			return string(res.SessionID), func(ctx context.Context) error {
				return pairtest.Err(c.CloseSession(ctx, &acp2.CloseSessionRequest{SessionID: res.SessionID}))
			}, nil
		},
		prompt: func(ctx context.Context) func() error {
			turn := c.Session("s1").Prompt(ctx, acp2.Text("go"))
			return func() error { return pairtest.Err(turn.Wait()) }
		},
		begins: `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"user_message","messageId":"m"}}}`,
		turnEnds: func(prompt rawpeer.Message) {
			p.Answer(prompt, `{"messageId":"m"}`)
			p.Notify("session/update", `{"sessionId":"s1","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}}`)
		},
		update: func(session, text, meta string) string {
			return fmt.Sprintf(`{"sessionId":%q,"update":{"sessionUpdate":"agent_message_chunk","messageId":"a","content":{"type":"text","text":"%s"}%s}}`, session, text, metaMember(meta))
		},
	}
}

func metaMember(meta string) string {
	if meta == "" {
		return ""
	}
	return `,"_meta":` + meta
}

// open opens session s1.
func (u *user) open() string {
	u.t.Helper()
	var id string
	callOK(u.t, func() (err error) {
		id, _, err = u.startSession(u.t.Context())
		return err
	}, func() { u.Answer(u.Expect("session/new"), `{"sessionId":"s1"}`) })
	return id
}

// appendUpdate appends the notification of an update.
func (u *user) appendUpdate(b []byte, session, text string) []byte {
	return fmt.Appendf(b, `{"jsonrpc":"2.0","method":"session/update","params":%s}`, u.update(session, text, ""))
}

// eachAgent runs a test with an agent of each version. The test plays its client.
func eachAgent(t *testing.T, test func(t *testing.T, version int, p *echoPeer)) {
	t.Run("version 1", func(t *testing.T) {
		_, p := startAgent(t, &testAgent{}, nil, nil)
		test(t, 1, p)
	})
	t.Run("version 2", func(t *testing.T) {
		_, p := startAgent2(t, &testAgent2{}, nil, nil)
		test(t, 2, p)
	})
}

// withoutExtensions are agents that have no extensions.
var withoutExtensions = map[string]func(t *testing.T) *echoPeer{
	"version 1": func(t *testing.T) *echoPeer {
		_, p := startAgent(t, struct{ acp.Agent }{&testAgent{}}, nil, nil)
		return p
	},
	"version 2": func(t *testing.T) *echoPeer {
		_, p := startAnyAgent2(t, func(*agent2.Conn) acp2.Agent { return struct{ acp2.Agent }{&testAgent2{}} }, nil, nil)
		return p
	},
}
