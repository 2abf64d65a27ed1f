package faults_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	acp2 "github.com/acpkit/go-sdk/acp/v2"
	agent2 "github.com/acpkit/go-sdk/agent/v2"
	client2 "github.com/acpkit/go-sdk/client/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/endpoint/peertest/v2"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	"github.com/acpkit/go-sdk/stream"
)

// talk2 is talk in version 2.
func talk2(ctx context.Context, c *client2.Conn, how *course) error {
	turn := func(id acp2.SessionID, blocks ...acp2.ContentBlock) error {
		turn := c.Session(id).Prompt(ctx, blocks...)
		if _, err := turn.Accepted(); how.call(err) != nil {
			return err
		}
		_, err := turn.Wait()
		return err
	}
	return each(
		func() error { _, err := c.Initialize(ctx, nil); return how.call(err) },
		func() error { _, err := c.Login(ctx, &acp2.LoginAuthRequest{MethodID: "m"}); return how.call(err) },
		func() error {
			_, err := c.NewSession(ctx, &acp2.NewSessionRequest{Cwd: "/home"})
			return how.call(err)
		},
		func() error { return c.Notify(ctx, "_note", strings.Repeat("x", 100)) },
		func() error {
			_, err := c.SetSessionConfigOption(ctx, &acp2.SetSessionConfigOptionRequest{SessionID: "s", ConfigID: "mode", Value: &acp2.SessionConfigValue{Value: "code"}})
			return how.call(err)
		},
		func() error { return how.call(c.Call(ctx, "_echo", strings.Repeat("päckchen ", 30), nil)) },
		func() error {
			return turn("s", acp2.Text(strings.Repeat("Please do something. ", 50)), &acp2.ResourceLink{Name: "go.mod", URI: "file:///home/go.mod"})
		},
		func() error { return c.Cancel(ctx, &acp2.CancelSessionNotification{SessionID: "s"}) },
		func() error {
			_, err := c.ResumeSession(ctx, &acp2.ResumeSessionRequest{SessionID: "old", Cwd: "/home", ReplayFrom: &acp2.ReplayFromStart{}})
			return how.call(err)
		},
		func() error { return turn("old", acp2.Text("again")) },
		func() error { _, err := c.ListSessions(ctx, nil); return how.call(err) },
		func() error {
			_, err := c.CloseSession(ctx, &acp2.CloseSessionRequest{SessionID: "s"})
			return how.call(err)
		},
	)
}

// turn2 is the agent's part of a prompt in version 2.
func turn2(ctx context.Context, s *agent2.Session, conn *agent2.Conn, how *course) error {
	const file = "/home/go.mod"
	return each(
		func() error {
			return s.Plan(ctx, "p", acp2.PlanEntry{Content: "look", Priority: acp2.PlanEntryPriorityHigh, Status: acp2.PlanEntryStatusInProgress})
		},
		func() error { return say2(ctx, s, 12) },
		func() error {
			return s.Update(ctx, &acp2.ToolCallUpdate{ToolCallID: "c1", Title: acp2.Some("Edit go.mod"), Content: acp2.Some([]acp2.ToolCallContent{
				agent2.Diff(file, new("old\n"), new(strings.Repeat("new line\n", 40))),
			})})
		},
		func() error {
			_, err := s.AskPermission(ctx, "Edit go.mod?", &acp2.ToolCallPermissionSubject{ToolCall: acp2.ToolCallUpdate{ToolCallID: "c1"}})
			return how.call(err)
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
				return nil, each(func() error { return say2(ctx, s, 12) }, func() error { return s.State(ctx) })
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
