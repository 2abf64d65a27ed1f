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
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/stream"
)

// A conversation with a bit of everything, in which one thing happens after the other,
// so that it runs the same way each time. Both roles take note of how it went for them.

// course is how the conversation went for one side.
type course struct {
	mu    sync.Mutex // guards all
	calls []error    // how the calls of this side ended, in the order of their ids
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
		func() error { _, err := c.Initialize(ctx, nil); return how.call(err) },
		func() error {
			_, err := c.Authenticate(ctx, &acp.AuthenticateRequest{MethodID: "m"})
			return how.call(err)
		},
		func() error {
			_, err := c.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/home"})
			return how.call(err)
		},
		func() error { return c.Notify(ctx, "_note", strings.Repeat("x", 100)) },
		func() error {
			_, err := c.SetSessionMode(ctx, &acp.SetSessionModeRequest{SessionID: "s", ModeID: "code"})
			return how.call(err)
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
			_, err := c.LoadSession(ctx, &acp.LoadSessionRequest{SessionID: "old", Cwd: "/home"})
			return how.call(err)
		},
		func() error {
			_, err := c.Session("old").Prompt(ctx, acp.Text("again")).Wait()
			return how.call(err)
		},
		func() error { _, err := c.ListSessions(ctx, nil); return how.call(err) },
		func() error {
			_, err := c.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: "s"})
			return how.call(err)
		},
	)
}

// turn is the agent's part of a prompt.
func turn(ctx context.Context, s *agent.Session, conn *agent.Conn, how *course) error {
	const file = "/home/go.mod"
	var text string
	return each(
		func() error {
			return s.Plan(ctx, acp.PlanEntry{Content: "look", Priority: acp.PlanEntryPriorityHigh, Status: acp.PlanEntryStatusInProgress})
		},
		func() error { return say(ctx, s, 12) },
		func() error {
			return s.Update(ctx, &acp.ToolCall{ToolCallID: "c1", Title: "Edit go.mod", Kind: acp.ToolKindEdit, Content: []acp.ToolCallContent{
				&acp.Diff{Path: file, OldText: new("old\n"), NewText: strings.Repeat("new line\n", 40)},
			}})
		},
		func() error {
			_, err := s.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: "c1"})
			return how.call(err)
		},
		func() error {
			var err error
			text, err = s.ReadFile(ctx, file)
			return how.call(err)
		},
		func() error { return how.call(s.WriteFile(ctx, file, text+"more\n")) },
		func() error {
			_, err := conn.CreateTerminal(ctx, &acp.CreateTerminalRequest{SessionID: s.ID(), Command: "make", Args: []string{"-j", "4"}})
			return how.call(err)
		},
		func() error {
			_, err := conn.WaitForTerminalExit(ctx, &acp.WaitForTerminalExitRequest{SessionID: s.ID(), TerminalID: "t"})
			return how.call(err)
		},
		func() error {
			_, err := conn.TerminalOutput(ctx, &acp.TerminalOutputRequest{SessionID: s.ID(), TerminalID: "t"})
			return how.call(err)
		},
		func() error {
			_, err := conn.ReleaseTerminal(ctx, &acp.ReleaseTerminalRequest{SessionID: s.ID(), TerminalID: "t"})
			return how.call(err)
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

// taped records what leaves.
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
