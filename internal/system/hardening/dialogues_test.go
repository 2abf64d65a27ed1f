package hardening_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// calls are what the end under test does in a dialogue, by name. Each returns its outcome.
type calls map[string]func(context.Context) string

// Messages of existing programs that are unusual, and how each end handles them. After each
// dialogue the connection still works, and no error was logged.
func TestUnusualMessages(t *testing.T) {
	for file, start := range map[string]func(t *testing.T, log *slog.Logger) (runner, *echoPeer, calls){
		"agents": clientWithSession, "agents2": clientWithSession2,
		"clients": fullAgent, "clients2": plainAgent2,
		"versions": newAgent, "versions2": newAgent2,
		"initialize": newClient, "initialize2": newClient2,
	} {
		t.Run(file, func(t *testing.T) {
			rawpeer.Dialogues(t, "testdata/"+file+".txtar", func(t *testing.T) (*rawpeer.Peer, func()) {
				var log pairtest.Log
				conn, p, calls := start(t, slog.New(slog.NewTextHandler(&log, nil)))
				p.Do = func(call string) string {
					if calls[call] == nil {
						return "there is no such call"
					}
					return calls[call](t.Context())
				}
				return p.Peer, func() {
					assert.Empty(t, p.echo())
					assert.NotContains(t, log.String(), "level=ERROR")
					assert.NoError(t, conn.Err())
				}
			})
		})
	}
}

// outcome is "ok" or what an error says.
func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	var sent *rpcerr.RequestError
	if !errors.As(err, &sent) {
		return err.Error()
	}
	text := fmt.Sprintf("error %d %s", sent.Code, sent.Message)
	if sent.Data != nil {
		text += " " + shown(sent.Data)
	}
	return text
}

// shown is a value as JSON, or how long that is.
func shown(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	if len(b) > 1000 {
		return fmt.Sprintf("%d bytes", len(b))
	}
	return string(b)
}

// updates are shown as they arrive, each by its text or as JSON.
type updates struct {
	mu  sync.Mutex // guards all
	all []string
}

func (s *updates) add(u any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, shownUpdate(u))
}

func (s *updates) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.all, " ")
}

func shownUpdate(u any) string {
	text := ""
	switch u := u.(type) {
	case *acp.AgentMessageChunk:
		text = acp.PlainText(u.Content)
	case *acp2.AgentMessageChunk:
		text = acp2.PlainText(u.Content)
	}
	if text != "" {
		return text
	}
	return shown(u)
}

// clientWithSession is a client with session s1.
func clientWithSession(t *testing.T, log *slog.Logger) (runner, *echoPeer, calls) {
	var all, outside updates
	cl := &testClient{}
	cl.OnUpdate = func(_ context.Context, n *acp.SessionNotification) error { all.add(n.Update); return nil }
	c, p := startClient(t, cl, &client.Options{Logger: log}, nil)
	s := openSession(t, c, p)
	s.OnUpdate(func(_ context.Context, u acp.SessionUpdate) { outside.add(u) })
	turn := func(ctx context.Context, cancelled bool) string {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		turn := s.Prompt(ctx, acp.Text("go"))
		if cancelled {
			cancel()
		}
		var got []string
		for u, err := range turn.Updates() {
			if err == nil {
				got = append(got, " "+shownUpdate(u))
			}
		}
		res, err := turn.Wait()
		if err != nil {
			return outcome(err)
		}
		return string(res.StopReason) + strings.Join(got, "")
	}
	return c, p, calls{
		"turn":           func(ctx context.Context) string { return turn(ctx, false) },
		"cancelled turn": func(ctx context.Context) string { return turn(ctx, true) },
		"list":           func(ctx context.Context) string { _, err := c.ListSessions(ctx, nil); return outcome(err) },
		"set mode": func(ctx context.Context) string {
			_, err := c.SetSessionMode(ctx, &acp.SetSessionModeRequest{SessionID: "s1", ModeID: "m"})
			return outcome(err)
		},
		"new session": func(ctx context.Context) string {
			s, err := c.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/"})
			if err != nil {
				return outcome(err)
			}
			var early updates
			s.OnUpdate(func(_ context.Context, u acp.SessionUpdate) { early.add(u) })
			return string(s.ID()) + " " + early.String()
		},
		"updates outside of turns": func(context.Context) string { p.echo(); return outside.String() },
		"all updates":              func(context.Context) string { p.echo(); return all.String() },
	}
}

// clientWithSession2 is clientWithSession in version 2.
func clientWithSession2(t *testing.T, log *slog.Logger) (runner, *echoPeer, calls) {
	var outside updates
	c, p := startClient2(t, &testClient2{}, &client2.Options{Logger: log}, nil)
	var s *client2.Session
	callOK(t, func() (err error) {
		s, err = c.StartSession(t.Context(), &acp2.NewSessionRequest{Cwd: "/"})
		return err
	}, func() { p.Answer(p.Expect("session/new"), `{"sessionId":"s1"}`) })
	s.OnUpdate(func(_ context.Context, u acp2.SessionUpdate) { outside.add(u) })
	turn := func(ctx context.Context, cancelled bool) string {
		turn := s.Prompt(ctx, acp2.Text("go"))
		if cancelled {
			if _, err := turn.Accepted(); err != nil {
				return outcome(err)
			}
			_ = turn.Cancel(ctx)
		}
		var got []string
		for u, err := range turn.Updates() {
			if err == nil {
				got = append(got, " "+shownUpdate(u))
			}
		}
		idle, err := turn.Wait()
		if err != nil {
			return outcome(err)
		}
		return strings.TrimSpace(string(idle.StopReason) + strings.Join(got, ""))
	}
	return c, p, calls{
		"turn":           func(ctx context.Context) string { return turn(ctx, false) },
		"cancelled turn": func(ctx context.Context) string { return turn(ctx, true) },
		"list":           func(ctx context.Context) string { _, err := c.ListSessions(ctx, nil); return outcome(err) },
		"cancel tool call": func(ctx context.Context) string {
			_, err := c.CancelToolCall(ctx, &acp2.CancelToolCallRequest{SessionID: "s1", ToolCallID: "t"})
			return outcome(err)
		},
		"new session": func(ctx context.Context) string {
			s, err := c.StartSession(ctx, &acp2.NewSessionRequest{Cwd: "/"})
			if err != nil {
				return outcome(err)
			}
			var early updates
			s.OnUpdate(func(_ context.Context, u acp2.SessionUpdate) { early.add(u) })
			return string(s.ID()) + " " + early.String()
		},
		"updates outside of turns": func(context.Context) string { p.echo(); return outside.String() },
	}
}

// sendsBack is an agent with every method that sends the blocks of a prompt back. The prompt
// "wait" lasts until it is cancelled.
func sendsBack(c *agent.Conn) acp.Agent {
	return &peertest.FullAgent{Do: func(ctx context.Context, method string, params any) (any, error) {
		switch params := params.(type) {
		case *acp.LoadSessionRequest:
			return (*acp.LoadSessionResponse)(nil), nil
		case *acp.PromptRequest:
			for _, b := range params.Prompt {
				if err := c.Session(params.SessionID).Update(ctx, &acp.UserMessageChunk{Content: b}); err != nil {
					return nil, err
				}
			}
			if acp.PlainText(params.Prompt...) == "wait" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
		case json.RawMessage:
			if strings.HasPrefix(method, "craft/") {
				return nil, rpcerr.MethodNotFound(method)
			}
		}
		return nil, nil
	}}
}

func fullAgent(t *testing.T, log *slog.Logger) (runner, *echoPeer, calls) {
	c, p := startEnd(t, nil, agent.New, sendsBack, &agent.Options{Unstable: true, Logger: log})
	p.SendLines(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	p.Next()
	return c, p, calls{"ask": func(ctx context.Context) string {
		res, err := c.RequestPermission(ctx, &acp.RequestPermissionRequest{
			SessionID: "s1", ToolCall: acp.ToolCallUpdate{ToolCallID: "t"},
			Options: []acp.PermissionOption{{OptionID: "yes", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce}},
		})
		if err != nil {
			return outcome(err)
		}
		return shown(res)
	}}
}

// plainAgent2 is an agent of version 2 without optional methods that sends the blocks of a
// prompt back.
func plainAgent2(t *testing.T, log *slog.Logger) (runner, *echoPeer, calls) {
	a := &testAgent2{}
	a.onPrompt = func(ctx context.Context, req *acp2.PromptRequest) (*acp2.PromptResponse, error) {
		return &acp2.PromptResponse{MessageID: "m"}, a.conn.Session(req.SessionID).UserMessage(ctx, "m", req.Prompt...)
	}
	c, p := startAgent2(t, a, &agent2.Options{Logger: log}, nil)
	return c, p, nil
}

// The others are not initialized.
func newAgent(t *testing.T, log *slog.Logger) (runner, *echoPeer, calls) {
	c, p := startEnd(t, nil, agent.New, func(*agent.Conn) acp.Agent { return &testAgent{} }, &agent.Options{Logger: log})
	return c, p, nil
}

func newAgent2(t *testing.T, log *slog.Logger) (runner, *echoPeer, calls) {
	c, p := startEnd(t, nil, agent2.New, func(*agent2.Conn) acp2.Agent { return &testAgent2{} }, &agent2.Options{Logger: log})
	return c, p, nil
}

func newClient(t *testing.T, log *slog.Logger) (runner, *echoPeer, calls) {
	c, p := startEnd(t, nil, client.New, func(*client.Conn) acp.Client { return &testClient{} }, &client.Options{Logger: log})
	return c, p, calls{"initialize": func(ctx context.Context) string { _, err := c.Initialize(ctx, nil); return versionOutcome(t, err) }}
}

func newClient2(t *testing.T, log *slog.Logger) (runner, *echoPeer, calls) {
	c, p := startEnd(t, nil, client2.New, func(*client2.Conn) acp2.Client { return &testClient2{} }, &client2.Options{Logger: log})
	return c, p, calls{"initialize": func(ctx context.Context) string {
		_, err := c.Initialize(ctx, nil)
		if err != nil {
			assert.Zero(t, c.ProtocolVersion())
		}
		return versionOutcome(t, err)
	}}
}

// versionOutcome checks the type of the error of initialize.
func versionOutcome(t *testing.T, err error) string {
	if err != nil {
		var version *acp.VersionError
		assert.ErrorAs(t, err, &version)
	}
	return outcome(err)
}
