package hub_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
)

var quiet = slog.New(slog.DiscardHandler)

// The end of a web page is told to the clients, and the hub goes on.
func TestElicitationEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(worker)
		w.turn = func(ctx context.Context, _ *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
			return acp.StopReasonEndTurn, w.conn.CompleteElicitation(ctx, &acp.CompleteElicitationNotification{ElicitationID: "page"})
		}
		h := start(t, w, nil)
		a := join(t, h, "")
		s := a.open()
		a.prompt(s, "go")
		a.prompt(s, "again")
	})
}

// Two loads of one client at once do not mix: the client shows the conversation once, and can prompt.
func TestLoadsOfOneClientAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) (acp.StopReason, error) {
			for i := range 20 {
				if err := s.Update(ctx, &acp.AgentMessageChunk{MessageID: acp.MessageID(fmt.Sprint(acp.PlainText(p.Prompt...), i)), Content: acp.Text("x")}); err != nil {
					return "", err
				}
			}
			return acp.StopReasonEndTurn, nil
		}}
		h := start(t, w, nil)
		a := join(t, h, "")
		s := a.open()
		a.prompt(s, "go")
		raw := connect(t, h, "")
		raw.call(t, 1, acp.MethodInitialize, `{"protocolVersion":1}`)
		for id := range 3 {
			raw.send(t, 2+id, acp.MethodSessionLoad, fmt.Sprintf(`{"sessionId":%q,"cwd":"/work","mcpServers":[]}`, s.ID()))
		}
		var messages, most int
		for loads := 0; loads < 3; {
			switch line := raw.read(t); {
			case strings.Contains(line, `"user_message_chunk"`):
				messages = 0
			case strings.Contains(line, `"agent_message_chunk"`):
				messages++
				most = max(most, messages)
			default:
				loads++
			}
		}
		assert.Equal(t, 20, most, "one load is whole, and none is mixed with another")
		assert.Contains(t, raw.call(t, 9, acp.MethodSessionPrompt, fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"p"}]}`, s.ID())), "end_turn")
	})
}

// Updates go to the sessions that the agent means, although it counts its sessions anew when it is started again.
func TestAgentThatCountsSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n int
		w := &worker{turn: func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) (acp.StopReason, error) {
			return acp.StopReasonEndTurn, s.Message(ctx, "answers "+acp.PlainText(p.Prompt...))
		}}
		w.id = func() acp.SessionID { n++; return acp.SessionID(fmt.Sprint(n)) }
		store := new(journal.Memory)
		h := start(t, w, &hub.Options{Store: store})
		a := join(t, h, "")
		var sessions []*client.Session
		for range 5 {
			sessions = append(sessions, a.open())
		}
		check := func(round string) {
			t.Helper()
			for i, s := range sessions {
				a.prompt(s, fmt.Sprint(round, i))
			}
			for i, s := range sessions {
				lines := a.transcript(s.ID())
				assert.Equal(t, fmt.Sprint("agent: answers ", round, i), lines[len(lines)-1])
			}
		}
		check("first")
		w.mu.Lock()
		n = 0
		w.mu.Unlock()
		w.crash()
		synctest.Wait() // or a prompt could reach the agent that ends
		check("second")

		require.NoError(t, h.Shutdown(t.Context()))
		n = 0
		w.loads = true // it loads what it has, also if that is the session of another client
		h = restart(t, w, &hub.Options{Store: store})
		a = join(t, h, "")
		other := a.open()
		for i, s := range sessions {
			sessions[i] = a.load(s.ID())
		}
		sessions = append(sessions, other)
		check("third")
	})
}

// An agent that gives two sessions the same id gets only one of them, and the clients of the other see nothing of it.
func TestAgentThatRepeatsAnID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: says("secret"), id: func() acp.SessionID { return "same" }}
		h := start(t, w, nil)
		a, b := join(t, h, ""), join(t, h, "")
		s := a.open()
		_, err := b.conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/work"})
		require.ErrorContains(t, err, "the same id")
		a.prompt(s, "go")
		assert.Equal(t, []string{"user: go", "agent: secret"}, a.transcript(s.ID()))
	})
}

// Updates of sessions that the agent never opened do not cost a session its early updates.
func TestUpdatesOfUnknownSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: says("x")}
		n := 0
		w.id = func() acp.SessionID {
			n++
			id := acp.SessionID(fmt.Sprint("agent-", n))
			for range 1500 {
				_ = w.conn.Session("never opened").Message(t.Context(), "flood") // the pipe has no end here
			}
			_ = w.conn.Session(id).Message(t.Context(), "early")
			return id
		}
		h := start(t, w, nil)
		a := join(t, h, "")
		for range 3 {
			s := a.open()
			b := join(t, h, "")
			b.load(s.ID())
			assert.Equal(t, []string{"agent: early"}, b.transcript(s.ID()))
		}
	})
}

// A client that reads everything keeps its connection, however long what the agent and other clients send is.
func TestLongContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("A", 600<<10)
		w := &worker{turn: func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) (acp.StopReason, error) {
			for i := range 3 {
				u := &acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(fmt.Sprint(i)), Title: "Edit", Status: acp.ToolCallStatusCompleted, Content: []acp.ToolCallContent{&acp.Diff{Path: "/f", NewText: long}}}
				if err := errors.Join(s.Update(ctx, u), s.Update(ctx, &acp.AgentMessageChunk{Content: &acp.ImageContent{MIMEType: "image/png", Data: long}})); err != nil {
					return "", err
				}
			}
			return acp.StopReasonEndTurn, nil
		}}
		h := start(t, w, nil)
		a, b := join(t, h, ""), join(t, h, "")
		s := a.open()
		b.load(s.ID())
		picture := &acp.ImageContent{MIMEType: "image/png", Data: long}
		_, err := s.Prompt(t.Context(), acp.Text(long), picture, picture, picture).Wait()
		require.NoError(t, err)
		synctest.Wait()
		assert.NoError(t, b.conn.Err())
		items := b.threads.Thread(s.ID()).Snapshot().Items
		assert.Equal(t, 1+6, items.Len())
	})
}

// An agent that never closes a session keeps nobody from loading it again.
func TestAgentThatNeverCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: says("hello")}
		h := hub.New(&hub.Options{Logger: quiet, Agent: supervise.Options{Dial: peertest.Dialer(peertest.Serving(func(c *agent.Conn) acp.Agent {
			return &endless{working{w: w, c: c}}
		}, nil))}})
		t.Cleanup(func() { _ = h.Shutdown(context.Background()) })
		a := join(t, h, "")
		s := a.open()
		a.prompt(s, "one")
		a.leave()
		time.Sleep(30*time.Minute + time.Second) // it is being closed
		b := join(t, h, "")
		b.prompt(b.load(s.ID()), "two")
	})
}

// endless is a worker that answers session/close only when it is told that the request is cancelled.
type endless struct{ working }

func (a *endless) Handles(method string) bool { return method == acp.MethodSessionClose }

func (a *endless) CloseSession(ctx context.Context, _ *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A principal that is revoked while it loads a session is not attached to it.
func TestRevokedWhileItLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: says("secret")}
		var h *hub.Hub
		asked := 0
		access := func(_ context.Context, principal string, _ hub.Info) hub.Role {
			if principal != "bob" {
				return hub.Control
			}
			if asked++; asked == 1 {
				return hub.Observe // as it was before the revocation, which finds no attachment
			}
			return hub.None
		}
		h = start(t, w, &hub.Options{Principal: byContext, Access: access})
		a, b := join(t, h, "ann"), join(t, h, "bob")
		s := a.open()
		_, err := b.conn.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: s.ID(), Cwd: "/work"})
		require.ErrorIs(t, err, rpcerr.ErrSessionNotFound)
		a.prompt(s, "go")
		synctest.Wait()
		assert.Empty(t, b.transcript(s.ID()))
	})
}
