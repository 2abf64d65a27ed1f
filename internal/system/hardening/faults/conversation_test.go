package faults_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/stream"
)

// A conversation with requests and notifications of all kinds, one after the other, so that it
// runs the same way each time. Both ends record the outcome.

// course is the outcome of a conversation at one end.
type course struct {
	mu    sync.Mutex // guards all
	calls []error    // the errors of the calls of this end, in the order of their ids
	notes int        // how many notifications it handled
}

func (c *course) call(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, err)
	return err
}

func (c *course) note() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes++
}

// each runs steps until one fails.
func each(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// talk is the client's part. It ends with the first call that fails.
func talk(ctx context.Context, c *client.Conn, how *course) error {
	return each(
		func() error { return how.call(pairtest.Err(c.Initialize(ctx, nil))) },
		func() error {
			return how.call(pairtest.Err(c.Authenticate(ctx, &acp.AuthenticateRequest{MethodID: "m"})))
		},
		func() error { return how.call(pairtest.Err(c.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/home"}))) },
		func() error { return c.Notify(ctx, "_note", strings.Repeat("x", 100)) },
		func() error {
			return how.call(pairtest.Err(c.SetSessionMode(ctx, &acp.SetSessionModeRequest{SessionID: "s", ModeID: "code"})))
		},
		func() error { return how.call(c.Call(ctx, "_echo", strings.Repeat("päckchen ", 30), nil)) },
		func() error {
			_, err := c.Prompt(ctx, &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{
				acp.Text(strings.Repeat("Please do something. ", 50)),
				&acp.ResourceLink{Name: "go.mod", URI: "file:///home/go.mod"},
			}})
			return how.call(err)
		},
		func() error { return c.Cancel(ctx, &acp.CancelNotification{SessionID: "s"}) },
		func() error {
			return how.call(pairtest.Err(c.LoadSession(ctx, &acp.LoadSessionRequest{SessionID: "old", Cwd: "/home"})))
		},
		func() error { return how.call(pairtest.Err(c.Session("old").Prompt(ctx, acp.Text("again")).Wait())) },
		func() error { return how.call(pairtest.Err(c.ListSessions(ctx, nil))) },
		func() error {
			return how.call(pairtest.Err(c.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: "s"})))
		},
	)
}

// turn is the agent's part of a prompt.
func turn(ctx context.Context, s *agent.Session, conn *agent.Conn, how *course) error {
	const file = "/home/go.mod"
	var text string
	return each(
		func() error {
			return s.SendPlan(ctx, acp.PlanEntry{Content: "look", Priority: acp.PlanEntryPriorityHigh, Status: acp.PlanEntryStatusInProgress})
		},
		func() error { return say(ctx, s, 12) },
		func() error {
			return s.Update(ctx, &acp.ToolCall{ToolCallID: "c1", Title: "Edit go.mod", Kind: acp.ToolKindEdit, Content: []acp.ToolCallContent{
				&acp.Diff{Path: file, OldText: new("old\n"), NewText: strings.Repeat("new line\n", 40)},
			}})
		},
		func() error {
			return how.call(pairtest.Err(s.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: "c1"})))
		},
		func() error {
			var err error
			text, err = s.ReadFile(ctx, file)
			return how.call(err)
		},
		func() error { return how.call(s.WriteFile(ctx, file, text+"more\n")) },
		func() error {
			return how.call(pairtest.Err(conn.CreateTerminal(ctx, &acp.CreateTerminalRequest{SessionID: s.ID(), Command: "make", Args: []string{"-j", "4"}})))
		},
		func() error {
			return how.call(pairtest.Err(conn.WaitForTerminalExit(ctx, &acp.WaitForTerminalExitRequest{SessionID: s.ID(), TerminalID: "t"})))
		},
		func() error {
			return how.call(pairtest.Err(conn.TerminalOutput(ctx, &acp.TerminalOutputRequest{SessionID: s.ID(), TerminalID: "t"})))
		},
		func() error {
			return how.call(pairtest.Err(conn.ReleaseTerminal(ctx, &acp.ReleaseTerminalRequest{SessionID: s.ID(), TerminalID: "t"})))
		},
		func() error {
			_, err := conn.CreateElicitation(ctx, &acp.CreateElicitationRequest{Message: "Which branch?", Mode: &acp.ElicitationFormMode{
				Scope: &acp.ElicitationSessionScope{SessionID: s.ID()},
			}})
			return how.call(err)
		},
		func() error { return how.call(conn.Call(ctx, "_ask", map[string]int{"n": 1}, nil)) },
		func() error { return conn.Notify(ctx, "_done", nil) },
		func() error { return say(ctx, s, 12) },
	)
}

func say(ctx context.Context, s *agent.Session, n int) error {
	for i := range n {
		if err := s.Message(ctx, fmt.Sprint("Nr. ", i, " ", strings.Repeat("größer ", 1+i))); err != nil {
			return err
		}
	}
	return nil
}

func newAgent(how *course) func(*agent.Conn) acp.Agent {
	return func(conn *agent.Conn) acp.Agent {
		return &peertest.FullAgent{Do: func(ctx context.Context, method string, params any) (any, error) {
			switch params := params.(type) {
			case *acp.PromptRequest:
				if params.SessionID == "old" {
					return nil, say(ctx, conn.Session("old"), 3)
				}
				return nil, turn(ctx, conn.Session(params.SessionID), conn, how)
			case *acp.LoadSessionRequest:
				return nil, say(ctx, conn.Session(params.SessionID), 12)
			case *acp.CancelNotification:
				how.note()
			}
			if method == "_note" {
				how.note()
			}
			return nil, nil
		}}
	}
}

func newClient(how *course) func(*client.Conn) acp.Client {
	return func(*client.Conn) acp.Client {
		return &peertest.FullClient{Do: func(_ context.Context, method string, params any) (any, error) {
			switch params := params.(type) {
			case *acp.SessionNotification:
				how.note()
			case *acp.ReadTextFileRequest:
				return &acp.ReadTextFileResponse{Content: strings.Repeat("module "+params.Path+"\n", 60)}, nil
			case *acp.TerminalOutputRequest:
				return &acp.TerminalOutputResponse{Output: strings.Repeat("\x1b[31mred\x1b[0m\n", 40)}, nil
			}
			if method == "_done" {
				how.note()
			}
			return nil, nil
		}}
	}
}

// frame is one message of the recording.
type frame struct {
	fromAgent bool
	line      []byte // with its line feed
}

// recording is the whole conversation in its order.
type recording []frame

// taped records the messages that are written.
type taped struct {
	stream.Stream
	fromAgent bool
	mu        *sync.Mutex // guards to
	to        *recording
}

func (s *taped) Write(msg []byte) error {
	s.mu.Lock()
	*s.to = append(*s.to, frame{s.fromAgent, append(bytes.Clone(msg), '\n')})
	s.mu.Unlock()
	return s.Stream.Write(msg)
}

// record holds the conversation without faults. It returns the messages that both ends
// sent, and how many calls and notifications each end handled.
func record(t *testing.T) (rec recording, agentSide, clientSide *course) {
	t.Helper()
	agentSide, clientSide = &course{}, &course{}
	var mu sync.Mutex
	pairtest.Bubble(t, func(t *testing.T) {
		p := pairtest.Start(t, pairtest.Setup{
			Agent: newAgent(agentSide), Client: newClient(clientSide),
			Streams: func() (stream.Stream, stream.Stream) {
				a, c := stream.Pipe()
				return &taped{a, true, &mu, &rec}, &taped{c, false, &mu, &rec}
			},
		})
		require.NoError(t, talk(t.Context(), p.Client, clientSide))
	})
	return rec, agentSide, clientSide
}

// talk2 is talk in version 2.
func talk2(ctx context.Context, c *client2.Conn, how *course) error {
	turn := func(id acp2.SessionID, blocks ...acp2.ContentBlock) error {
		turn := c.Session(id).Prompt(ctx, blocks...)
		if _, err := turn.Accepted(); how.call(err) != nil {
			return err
		}
		return pairtest.Err(turn.Wait())
	}
	return each(
		func() error { return how.call(pairtest.Err(c.Initialize(ctx, nil))) },
		func() error { return how.call(pairtest.Err(c.Login(ctx, &acp2.LoginAuthRequest{MethodID: "m"}))) },
		func() error { return how.call(pairtest.Err(c.NewSession(ctx, &acp2.NewSessionRequest{Cwd: "/home"}))) },
		func() error { return c.Notify(ctx, "_note", strings.Repeat("x", 100)) },
		func() error {
			return how.call(pairtest.Err(c.SetSessionConfigOption(ctx, &acp2.SetSessionConfigOptionRequest{SessionID: "s", ConfigID: "mode", Value: &acp2.SessionConfigValue{Value: "code"}})))
		},
		func() error { return how.call(c.Call(ctx, "_echo", strings.Repeat("päckchen ", 30), nil)) },
		func() error {
			return turn("s", acp2.Text(strings.Repeat("Please do something. ", 50)), &acp2.ResourceLink{Name: "go.mod", URI: "file:///home/go.mod"})
		},
		func() error { return c.Cancel(ctx, &acp2.CancelSessionNotification{SessionID: "s"}) },
		func() error {
			return how.call(pairtest.Err(c.ResumeSession(ctx, &acp2.ResumeSessionRequest{SessionID: "old", Cwd: "/home", ReplayFrom: &acp2.ReplayFromStart{}})))
		},
		func() error { return turn("old", acp2.Text("again")) },
		func() error { return how.call(pairtest.Err(c.ListSessions(ctx, nil))) },
		func() error {
			return how.call(pairtest.Err(c.CloseSession(ctx, &acp2.CloseSessionRequest{SessionID: "s"})))
		},
	)
}

// turn2 is the agent's part of a prompt in version 2.
func turn2(ctx context.Context, s *agent2.Session, conn *agent2.Conn, how *course) error {
	const file = "/home/go.mod"
	return each(
		func() error {
			return s.SendPlan(ctx, "p", acp2.PlanEntry{Content: "look", Priority: acp2.PlanEntryPriorityHigh, Status: acp2.PlanEntryStatusInProgress})
		},
		func() error { return say2(ctx, s, 12) },
		func() error {
			return s.Update(ctx, &acp2.ToolCallUpdate{ToolCallID: "c1", Title: acp2.Some("Edit go.mod"), Content: acp2.Some([]acp2.ToolCallContent{
				agent2.Diff(file, new("old\n"), new(strings.Repeat("new line\n", 40))),
			})})
		},
		func() error {
			return how.call(pairtest.Err(s.AskPermission(ctx, "Edit go.mod?", &acp2.ToolCallPermissionSubject{ToolCall: acp2.ToolCallUpdate{ToolCallID: "c1"}})))
		},
		func() error {
			term, err := s.StartTerminal(ctx, &acp2.TerminalUpdate{TerminalID: "t"})
			if err != nil {
				return err
			}
			if _, err := term.Write([]byte(strings.Repeat("\x1b[31mred\x1b[0m\n", 40))); err != nil {
				return err
			}
			return term.Exited(0)
		},
		func() error {
			_, err := conn.CreateElicitation(ctx, &acp2.CreateElicitationRequest{Message: "Which branch?", Mode: &acp2.ElicitationFormMode{
				RequestedSchema: acp2.ElicitationSchema{Type: acp2.ElicitationSchemaTypeObject}, Scope: &acp2.ElicitationSessionScope{SessionID: s.ID()},
			}})
			return how.call(err)
		},
		func() error { return how.call(conn.Call(ctx, "_ask", map[string]int{"n": 1}, nil)) },
		func() error { return conn.Notify(ctx, "_done", nil) },
		func() error { return say2(ctx, s, 12) },
	)
}

func say2(ctx context.Context, s *agent2.Session, n int) error {
	for i := range n {
		if err := s.Message(ctx, "m", fmt.Sprint("Nr. ", i, " ", strings.Repeat("größer ", 1+i))); err != nil {
			return err
		}
	}
	return nil
}

func newAgent2(how *course) func(*agent2.Conn) acp2.Agent {
	return func(conn *agent2.Conn) acp2.Agent {
		return &peertest2.FullAgent{Do: func(ctx context.Context, method string, params any) (any, error) {
			switch params := params.(type) {
			case *acp2.PromptRequest:
				s := conn.Session(params.SessionID)
				return s.Accept(ctx, params, func(ctx context.Context) (acp2.StopReason, error) {
					if params.SessionID == "old" {
						return acp2.StopReasonEndTurn, say2(ctx, s, 3)
					}
					return acp2.StopReasonEndTurn, turn2(ctx, s, conn, how)
				})
			case *acp2.ResumeSessionRequest:
				s := conn.Session(params.SessionID)
				return nil, each(func() error { return say2(ctx, s, 12) }, func() error { return s.SendState(ctx) })
			case *acp2.CancelSessionNotification:
				how.note()
			}
			if method == "_note" {
				how.note()
			}
			return nil, nil
		}}
	}
}

func newClient2(how *course) func(*client2.Conn) acp2.Client {
	return func(*client2.Conn) acp2.Client {
		return &peertest2.FullClient{Do: func(_ context.Context, method string, params any) (any, error) {
			if _, ok := params.(*acp2.UpdateSessionNotification); ok || method == "_done" {
				how.note()
			}
			return nil, nil
		}}
	}
}

// record2 is record in version 2.
func record2(t *testing.T) (rec recording) {
	t.Helper()
	var mu sync.Mutex
	pairtest.Bubble(t, func(t *testing.T) {
		p := pairtest2.Start(t, pairtest2.Setup{
			Agent: newAgent2(&course{}), Client: newClient2(&course{}),
			Streams: func() (stream.Stream, stream.Stream) {
				a, c := stream.Pipe()
				return &taped{a, true, &mu, &rec}, &taped{c, false, &mu, &rec}
			},
		})
		require.NoError(t, talk2(t.Context(), p.Client, &course{}))
	})
	return rec
}
