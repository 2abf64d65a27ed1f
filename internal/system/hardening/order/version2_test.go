package order_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	peertest "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

var version2 = version{ownTurns: true, connect: (*world).connect2}

func messageID(req *acp.PromptRequest) acp.MessageID {
	return acp.MessageID(strconv.Itoa(promptAct(req).UID))
}

func promptAct(req *acp.PromptRequest) act {
	return carried(req.Prompt[0].(*acp.TextContent).Meta)
}

func session2(n int) acp.SessionID { return acp.SessionID(sessionID(n)) }

// replays is the key of a ctx of a handler of session/resume.
type replays struct{}

// agentSide2 is agentSide in version 2.
func (w *world) agentSide2(conn *agent.Conn) acp.Agent {
	s := &side{w: w, e: w.agent}
	s.later = func(ctx context.Context, a act) bool { // it is kept back during a replay
		w.mu.Lock()
		defer w.mu.Unlock()
		return a.Kind == "update" && w.resumed[a.Session] && ctx.Value(replays{}) == nil
	}
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
	do := func(ctx context.Context, method string, params any) error {
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
			return s.request(context.WithValue(ctx, replays{}, true), carried(p.Meta))
		case *acp.SetSessionConfigOptionRequest:
			return s.request(ctx, carried(p.Meta))
		case json.RawMessage:
			return s.extension(ctx, method, unmarshal(p))
		}
		return nil
	}
	return &peertest.FullAgent{Do: func(ctx context.Context, method string, params any) (any, error) {
		err := do(ctx, method, params)
		if p, ok := params.(*acp.PromptRequest); ok {
			return &acp.PromptResponse{MessageID: messageID(p)}, err
		}
		return nil, err
	}}
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
		if a.Kind == "load" || a.Kind == "restore" {
			w.mu.Lock()
			w.resumed[a.Session] = true
			w.mu.Unlock()
		}
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
			_, err = conn.StartResumedSession(ctx, resume, &client.ResumeOptions{OnUpdate: func(_ context.Context, u acp.SessionUpdate) {
				w.mu.Lock() // nested handlers may go on with the session
				defer w.mu.Unlock()
				got = append(got, uid2(u))
			}})
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
	return &peertest.FullClient{Do: func(ctx context.Context, method string, params any) (any, error) {
		switch p := params.(type) {
		case *acp.UpdateSessionNotification:
			a := carried(p.Meta)
			if a.UID == 0 { // the message of a prompt, or the end of the work on it
				return nil, nil
			}
			s.note(ctx, a)
			w.mu.Lock()
			w.handled[a.UID] = true
			w.mu.Unlock()
		case *acp.RequestPermissionRequest:
			return nil, s.request(ctx, carried(p.Meta))
		case json.RawMessage:
			return nil, s.extension(ctx, method, unmarshal(p))
		}
		return nil, nil
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
	limits := func() pairtest2.Setup {
		return pairtest2.Setup{
			AgentOptions: agent.Options{Limits: acp.Limits{
				MaxHandlers: 1 + r.IntN(8), SendQueue: 1 + r.Int64N(4000), Backlog: 1 + r.Int64N(4000),
			}},
			ClientOptions: client.Options{Limits: acp.Limits{
				MaxHandlers: 1 + r.IntN(8), SendQueue: 1 + r.Int64N(4000), Backlog: 1 + r.Int64N(4000),
			}},
		}
	}
	forAgent, rest := link(t)
	for range proxies {
		rest = pairtest2.Proxy(t, rest, limits())
	}
	s := limits()
	s.AgentOptions.Receiving = []acp.Middleware{w.noteCall}
	s.Streams = func() (stream.Stream, stream.Stream) {
		return &wire{forAgent, w, w.agent}, &wire{rest, w, w.other}
	}
	var top *side
	s.Agent = w.agentSide2
	s.Client = func(c *client.Conn) acp.Client {
		cl, s := w.clientSide2(c)
		top = s
		return cl
	}
	p := pairtest2.Connect(t, s)
	require.NotNil(t, top)
	return &ends{p.Agent, p.Client, func(n int) error {
		return pairtest.Err(p.Client.ResumeSession(context.Background(), &acp.ResumeSessionRequest{SessionID: session2(n), Cwd: "/"}))
	}}, top
}
