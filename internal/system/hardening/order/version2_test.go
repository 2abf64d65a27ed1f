package order_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

var version2 = version{ownTurns: true, connect: (*world).connect2}

// agent2 is an agent of version 2. All of its methods but those of the handshake call do.
type agent2 struct {
	do func(ctx context.Context, method string, params any) error
}

func (a *agent2) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return nil, nil
}

func (a *agent2) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s"}, nil
}

func (a *agent2) ListSessions(context.Context, *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	return nil, nil
}

func (a *agent2) ResumeSession(ctx context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	return nil, a.do(ctx, acp.MethodSessionResume, req)
}

func (a *agent2) CloseSession(context.Context, *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	return nil, nil
}

func (a *agent2) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	err := a.do(ctx, acp.MethodSessionPrompt, req)
	return &acp.PromptResponse{MessageID: messageID(req)}, err
}

func (a *agent2) Cancel(ctx context.Context, n *acp.CancelSessionNotification) error {
	return a.do(ctx, acp.MethodSessionCancel, n)
}

func (a *agent2) SetSessionConfigOption(ctx context.Context, req *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	return nil, a.do(ctx, acp.MethodSessionSetConfigOption, req)
}

func (a *agent2) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return struct{}{}, a.do(ctx, method, params)
}

func (a *agent2) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return a.do(ctx, method, params)
}

func messageID(req *acp.PromptRequest) acp.MessageID {
	return acp.MessageID(strconv.Itoa(promptAct(req).UID))
}

func promptAct(req *acp.PromptRequest) act {
	return carried(req.Prompt[0].(*acp.TextContent).Meta)
}

func session2(n int) acp.SessionID { return acp.SessionID(sessionID(n)) }

// agentSide2 is agentSide in version 2.
func (w *world) agentSide2(conn *agent.Conn) acp.Agent {
	s := &side{w: w, e: w.agent}
	update := func(ctx context.Context, id acp.SessionID, u acp.SessionUpdate, meta acp.Meta) error {
		return conn.SessionUpdate(ctx, &acp.UpdateSessionNotification{SessionID: id, Update: u, Meta: meta})
	}
	s.one = func(ctx context.Context, a act, _ bool) error {
		var err error
		switch a.Kind {
		case "update":
			err = update(ctx, session2(a.Session), &acp.AgentMessageChunk{MessageID: "m", Content: acp.Text(strconv.Itoa(a.UID))}, meta(a))
		case "note":
			err = conn.Notify(ctx, "_note", a)
		case "call", "read":
			err = conn.Call(ctx, "_call", a, nil)
		case "permission":
			_, err = conn.RequestPermission(ctx, &acp.RequestPermissionRequest{
				SessionID: session2(a.Session), Title: "May I?", Meta: meta(a),
				Options: []acp.PermissionOption{{OptionID: "o", Name: "O", Kind: acp.PermissionOptionKindAllowOnce}},
			})
		}
		return err
	}
	return &agent2{do: func(ctx context.Context, method string, params any) error {
		switch p := params.(type) {
		case *acp.PromptRequest:
			a := promptAct(p)
			if a.Kind != "turn" { // its work has no end of its own
				return s.request(ctx, a)
			}
			alive := context.WithoutCancel(ctx) // the end of the work is reported in any case
			idle := func(context.Context) {
				_ = update(alive, p.SessionID, &acp.SessionStateUpdate{StateUpdate: &acp.IdleStateUpdate{StopReason: acp.StopReasonEndTurn}}, nil)
			}
			err := update(alive, p.SessionID, &acp.UserMessage{MessageID: messageID(p), Content: acp.Some(p.Prompt)}, nil)
			if err == nil {
				err = s.request(ctx, a)
			}
			if ctx.Err() != nil && a.UID%3 == 0 {
				return err // as if it had been held
			}
			if a.UID%2 == 0 || !agent.AfterResponse(ctx, idle) {
				idle(alive)
			}
			return nil
		case *acp.CancelSessionNotification:
			w.cancelled(sessionNumber(string(p.SessionID)), carried(p.Meta).UID)
		case *acp.ResumeSessionRequest:
			return s.request(ctx, carried(p.Meta))
		case *acp.SetSessionConfigOptionRequest:
			return s.request(ctx, carried(p.Meta))
		case json.RawMessage:
			return s.extension(ctx, method, unmarshal(p))
		}
		return nil
	}}
}

// client2 is the client of version 2. All of its methods call do.
type client2 struct {
	do func(ctx context.Context, method string, params any) error
}

func (c *client2) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Selected(req.Options[0].OptionID), c.do(ctx, acp.MethodSessionRequestPermission, req)
}

func (c *client2) SessionUpdate(ctx context.Context, n *acp.UpdateSessionNotification) error {
	return c.do(ctx, acp.MethodSessionUpdate, n)
}

func (c *client2) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return struct{}{}, c.do(ctx, method, params)
}

func (c *client2) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return c.do(ctx, method, params)
}

// clientSide2 is clientSide in version 2.
func (w *world) clientSide2(conn *client.Conn) (acp.Client, *side) {
	s := &side{w: w, e: w.other}
	s.excused = func(a act, err error) bool { // a cancel of the session ends held prompts
		return (a.Kind == "prompt" || a.Kind == "turn") && errors.Is(err, rpcerr.ErrRequestCancelled)
	}
	s.one = func(ctx context.Context, a act, top bool) error {
		content := []acp.ContentBlock{&acp.TextContent{Meta: meta(a)}}
		resume := &acp.ResumeSessionRequest{SessionID: session2(a.Session), Cwd: "/", ReplayFrom: &acp.ReplayFromStart{}, Meta: meta(a)}
		var err error
		switch a.Kind {
		case "note":
			err = conn.Notify(ctx, "_note", a)
		case "call":
			err = conn.Call(ctx, "_call", a, nil)
		case "mode":
			_, err = conn.SetSessionConfigOption(ctx, &acp.SetSessionConfigOptionRequest{
				SessionID: session2(a.Session), ConfigID: "c", Value: &acp.SessionConfigBooleanValue{}, Meta: meta(a),
			})
		case "cancel":
			err = conn.Cancel(ctx, &acp.CancelSessionNotification{SessionID: session2(a.Session), Meta: meta(a)})
		case "load":
			_, err = conn.ResumeSession(ctx, resume)
			if err == nil && top {
				w.allHandled(a)
			}
		case "restore": // a session of its own
			var got []int
			_, err = conn.StartResumedSession(ctx, resume, func(_ context.Context, u acp.SessionUpdate) {
				w.mu.Lock() // nested handlers may go on with the session
				defer w.mu.Unlock()
				got = append(got, uid2(u))
			})
			if err == nil && top {
				w.allHandled(a)
				w.allGiven(a, &got)
			}
		case "prompt":
			_, err = conn.Prompt(ctx, &acp.PromptRequest{SessionID: session2(a.Session), Prompt: content})
			if err == nil && top {
				w.allHandled(a)
			}
		case "turn": // a session of its own
			turn := conn.Session(session2(a.Session)).Prompt(ctx, content...)
			var got []int
			for u := range turn.Updates() {
				if u != nil {
					got = append(got, uid2(u))
				}
			}
			if _, err = turn.Wait(); err == nil {
				w.allHandled(a)
				w.allGiven(a, &got)
			}
		}
		return err
	}
	return &client2{do: func(ctx context.Context, method string, params any) error {
		switch p := params.(type) {
		case *acp.UpdateSessionNotification:
			a := carried(p.Meta)
			if a.UID == 0 { // the message of a prompt, or the end of the work on it
				return nil
			}
			s.note(ctx, a)
			w.mu.Lock()
			w.handled[a.UID] = true
			w.mu.Unlock()
		case *acp.RequestPermissionRequest:
			return s.request(ctx, carried(p.Meta))
		case json.RawMessage:
			return s.extension(ctx, method, unmarshal(p))
		}
		return nil
	}}, s
}

func uid2(u acp.SessionUpdate) int {
	if u, ok := u.(*acp.AgentMessageChunk); ok {
		n, _ := strconv.Atoi(acp.PlainText(u.Content))
		return n
	}
	return 0
}

// connect2 is connect in version 2.
func (w *world) connect2(
	t *testing.T, r *rand.Rand, proxies int, link func(*testing.T) (forAgent, forClient stream.Stream),
) (*ends, *side) {
	log := slog.New(slog.DiscardHandler)
	newAgent := func(over stream.Stream, f func(*agent.Conn) acp.Agent, middleware ...acp.Middleware) *agent.Conn {
		c := agent.New(over, f, &agent.Options{Unstable: true, IgnoreCapabilities: true, Logger: log, Receiving: middleware, Limits: agent.Limits{
			MaxHandlers: 1 + r.IntN(8), SendQueue: 1 + r.Int64N(4000), Backlog: 1 + r.Int64N(4000),
		}})
		return rawpeer.Start(t, c)
	}
	newClient := func(over stream.Stream, f func(*client.Conn) acp.Client) *client.Conn {
		c := client.New(over, f, &client.Options{Unstable: true, IgnoreCapabilities: true, Logger: log, Limits: client.Limits{
			MaxHandlers: 1 + r.IntN(8), SendQueue: 1 + r.Int64N(4000), Backlog: 1 + r.Int64N(4000),
		}})
		return rawpeer.Start(t, c)
	}
	forAgent, rest := link(t)
	for range proxies {
		toProxy, upper := stream.Pipe()
		newAgent(upper, func(above *agent.Conn) acp.Agent {
			return newClient(rest, func(*client.Conn) acp.Client { return above })
		})
		rest = toProxy
	}
	a := newAgent(&wire{forAgent, w, w.agent}, w.agentSide2, func(next acp.Handler) acp.Handler {
		return func(ctx context.Context, method string, params any) (any, error) {
			if p, ok := params.(*acp.PromptRequest); ok {
				w.called(promptAct(p).UID)
			}
			return next(ctx, method, params)
		}
	})
	var top *side
	c := newClient(&wire{rest, w, w.other}, func(c *client.Conn) acp.Client {
		cl, s := w.clientSide2(c)
		top = s
		return cl
	})
	_, err := c.Initialize(context.Background(), nil)
	require.NoError(t, err)
	return &ends{a, c, func(n int) error {
		_, err := c.ResumeSession(context.Background(), &acp.ResumeSessionRequest{SessionID: session2(n), Cwd: "/"})
		return err
	}}, top
}
