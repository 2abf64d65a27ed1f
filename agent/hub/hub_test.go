package hub_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Every client sees the whole conversation, whenever it came and whoever prompted.
func TestEveryClientSeesTheConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) (acp.StopReason, error) {
			call, err := s.StartToolCall(ctx, &acp.ToolCall{ToolCallID: "read-" + acp.ToolCallID(acp.PlainText(p.Prompt...)), Title: "Read"})
			if err == nil {
				err = errors.Join(s.Message(ctx, "work"), s.Message(ctx, "ing"), call.Finish(ctx, acp.ToolText("42")), s.Thought(ctx, "done"))
			}
			return acp.StopReasonEndTurn, err
		}}
		h := start(t, w, nil)
		a, b := join(t, h, ""), join(t, h, "")
		s := a.open()
		other := b.load(s.ID())
		assert.Equal(t, acp.StopReasonEndTurn, a.prompt(s, "one"))
		want := []string{"user: one", `tool read-one "Read" completed [42]`, "agent: working", "thought: done"}
		b.until(s.ID(), func(x *thread.Snapshot) bool {
			return len(b.transcript(s.ID())) == 4 && b.transcript(s.ID())[3] == want[3]
		})
		b.prompt(other, "two")
		want = append(want, "user: two", `tool read-two "Read" completed [42]`, "agent: working", "thought: done")
		a.until(s.ID(), func(*thread.Snapshot) bool { l := a.transcript(s.ID()); return len(l) == 8 && l[7] == want[7] })
		c := join(t, h, "")
		c.load(s.ID())
		assert.Equal(t, want, a.transcript(s.ID()))
		assert.Equal(t, want, b.transcript(s.ID()))
		assert.Equal(t, want, c.transcript(s.ID()))
		assert.Equal(t, []string{"one", "two"}, w.seen())
	})
}

// The turn goes on when its sender goes, and nobody sends the prompt again.
func TestTurnsOutliveConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, proceed := make(chan struct{}), make(chan struct{})
		w := &worker{turn: func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
			close(begun)
			<-proceed
			return acp.StopReasonEndTurn, s.Message(ctx, "finished alone")
		}}
		h := start(t, w, nil)
		a := join(t, h, "")
		s := a.open()
		turn := s.Prompt(t.Context(), acp.Text("go"))
		<-begun
		a.leave()
		_, err := turn.Wait()
		require.ErrorIs(t, err, acp.ErrClosed)
		b := join(t, h, "")
		b.load(s.ID())
		close(proceed)
		b.until(s.ID(), func(*thread.Snapshot) bool { l := b.transcript(s.ID()); return len(l) == 2 })
		assert.Equal(t, []string{"user: go", "agent: finished alone"}, b.transcript(s.ID()))
		assert.Equal(t, []string{"go"}, w.seen())
	})
}

var options = []acp.PermissionOption{
	{OptionID: "yes", Name: "Allow", Kind: acp.PermissionOptionKindAllowOnce},
	{OptionID: "no", Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce},
}

// asks is a turn that asks for permission and says what was chosen.
func asks(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
	o, err := s.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: "call", Title: "rm"}, options...)
	if err != nil {
		return "", err
	}
	return acp.StopReasonEndTurn, s.Message(ctx, "chosen: "+string(o.OptionID))
}

func selects(id acp.PermissionOptionID) func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
		return acp.Selected(id), nil
	}
}

// The agent gets the first valid answer. After a response that is no answer, the other clients can still answer.
func TestQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		first  func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error)
		second acp.PermissionOptionID
		want   string
	}{
		"the other answers":     {nil, "yes", "agent: chosen: yes"},
		"an option not offered": {selects("maybe"), "no", "agent: chosen: no"},
		"dismissed": {func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			return acp.Cancelled(), nil
		}, "yes", "agent: chosen: yes"},
		"the method is not known": {func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			return nil, rpcerr.MethodNotFound("x")
		}, "yes", "agent: chosen: yes"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &worker{turn: asks}
				h := start(t, w, nil)
				a, b := join(t, h, ""), join(t, h, "")
				asked := make(chan struct{})
				gone := make(chan struct{})
				a.answer = func(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
					defer close(asked)
					if c.first == nil {
						asked <- struct{}{}
						<-ctx.Done() // withdrawn
						close(gone)
						return nil, ctx.Err()
					}
					close(gone)
					return c.first(ctx, req)
				}
				b.answer = func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
					<-asked
					return acp.Selected(c.second), nil
				}
				s := a.open()
				b.load(s.ID())
				a.prompt(s, "go")
				<-gone
				b.until(s.ID(), func(*thread.Snapshot) bool { l := b.transcript(s.ID()); return l[len(l)-1] == c.want })
			})
		})
	}
}

// A cold session is shown without the agent. Its first prompt starts it, and the agent's own replay is
// not shown again.
func TestColdSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(journal.Memory)
		for _, loads := range []bool{true, false} {
			w := &worker{turn: says("hello"), loads: loads}
			h := start(t, w, &hub.Options{Store: store})
			a := join(t, h, "")
			s := a.open()
			a.prompt(s, "one")
			require.NoError(t, h.Shutdown(t.Context()))

			w2 := &worker{turn: says("again"), loads: loads}
			h = restart(t, w2, &hub.Options{Store: store})
			b := join(t, h, "")
			other := b.load(s.ID())
			want := []string{"user: one", "agent: hello"}
			assert.Equal(t, want, b.transcript(s.ID()))
			assert.Zero(t, w2.sessions)
			b.prompt(other, "two")
			if loads {
				want = append(want, "user: two", "agent: again")
			} else {
				want = append(want, "agent: The agent was started again and does not remember this conversation.", "user: two", "agent: again")
			}
			c := join(t, h, "")
			c.load(s.ID())
			assert.Equal(t, want, c.transcript(s.ID()))
			require.NoError(t, h.Shutdown(t.Context()))
		}
	})
}

// opens counts the logs that are opened.
type opens struct {
	journal.Store
	n atomic.Int64
}

func (o *opens) Open(ctx context.Context, id string) (journal.Log, error) {
	o.n.Add(1)
	return o.Store.Open(ctx, id)
}

// A principal gets the same errors for the session of another principal as for an unknown one.
func TestForeignSessionsLookUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: says("x")}
		store := new(journal.Memory)
		h := start(t, w, &hub.Options{Principal: byContext, Store: store})
		a, b := join(t, h, "ann"), join(t, h, "bob")
		s := a.open()
		for _, id := range []acp.SessionID{s.ID(), "sess_unknown"} {
			_, err := b.conn.StartLoadedSession(t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: "/work"}, nil)
			require.ErrorIs(t, err, rpcerr.ErrSessionNotFound)
			_, err = b.conn.StartResumedSession(t.Context(), &acp.ResumeSessionRequest{SessionID: id, Cwd: "/work"})
			require.ErrorIs(t, err, rpcerr.ErrSessionNotFound)
			_, err = b.conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text("x")}})
			require.ErrorIs(t, err, rpcerr.ErrSessionNotFound)
			_, err = b.conn.DeleteSession(t.Context(), &acp.DeleteSessionRequest{SessionID: id})
			require.NoError(t, err)
		}
		list, err := b.conn.ListSessions(t.Context(), &acp.ListSessionsRequest{})
		require.NoError(t, err)
		assert.Empty(t, list.Sessions)
		a.prompt(s, "still there")

		require.NoError(t, h.Shutdown(t.Context()))
		watched := &opens{Store: store}
		h = restart(t, w, &hub.Options{Principal: byContext, Store: watched})
		bob := join(t, h, "bob")
		_, err = bob.conn.StartLoadedSession(t.Context(), &acp.LoadSessionRequest{SessionID: s.ID(), Cwd: "/work"}, nil)
		require.ErrorIs(t, err, rpcerr.ErrSessionNotFound)
		assert.Zero(t, watched.n.Load(), "the log of another is not opened")
		join(t, h, "ann").load(s.ID())
		assert.EqualValues(t, 1, watched.n.Load())
	})
}

// The sessions of a folder are found however the client writes it, and a folder that is not absolute is refused.
func TestListOfAFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, &worker{turn: says("x")}, nil)
		for _, folder := range []string{"/work", "/work/"} {
			_, err := join(t, h, "ann").conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: folder})
			require.NoError(t, err)
		}
		c := connect(t, h, "ann")
		c.call(t, 1, acp.MethodInitialize, `{"protocolVersion":1}`)
		for _, folder := range []string{"/work", "/work//"} {
			assert.Equal(t, 2, strings.Count(c.call(t, 2, acp.MethodSessionList, fmt.Sprintf(`{"cwd":%q}`, folder)), `"sessionId"`), folder)
		}
		refused := c.call(t, 2, acp.MethodSessionList, `{"cwd":"work"}`)
		assert.Contains(t, refused, `"code":-32602`)
		assert.Contains(t, refused, "must be an absolute path")
	})
}

// The agent that dies in a turn is started again, the prompt is not sent again, and the next one works.
func TestAgentDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := make(chan struct{}, 1)
		w := &worker{turn: func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) (acp.StopReason, error) {
			if acp.PlainText(p.Prompt...) == "die" {
				_, _ = s.StartToolCall(ctx, &acp.ToolCall{ToolCallID: "1", Title: "Work", Status: acp.ToolCallStatusInProgress})
				first <- struct{}{}
				<-ctx.Done()
				return "", ctx.Err()
			}
			call, err := s.StartToolCall(ctx, &acp.ToolCall{ToolCallID: "1", Title: "Other"})
			if err == nil {
				err = call.Finish(ctx)
			}
			return acp.StopReasonEndTurn, err
		}}
		h := start(t, w, nil)
		a := join(t, h, "")
		s := a.open()
		turn := s.Prompt(t.Context(), acp.Text("die"))
		<-first
		w.crash()
		_, err := turn.Wait()
		require.ErrorContains(t, err, "the prompt is not sent again")
		a.prompt(s, "go on")
		b := join(t, h, "")
		b.load(s.ID())
		assert.Equal(t, []string{
			"user: die", `tool 1 "Work" failed [The agent ended while this call was running: it may have taken effect.]`,
			"agent: The agent was started again and does not remember this conversation.", "user: go on", `tool 1~2 "Other" completed`,
		}, b.transcript(s.ID()))
		assert.Equal(t, []string{"die", "go on"}, w.seen())
	})
}

// Prompts of several clients wait for each other, and a cancel ends the running turn and the own ones that wait.
func TestPromptsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan string, 9)
		w := &worker{turn: func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) (acp.StopReason, error) {
			text := acp.PlainText(p.Prompt...)
			begun <- text
			if text == "long" {
				<-ctx.Done()
				return "", ctx.Err()
			}
			return acp.StopReasonEndTurn, nil
		}}
		h := start(t, w, nil)
		a, b := join(t, h, ""), join(t, h, "")
		s := a.open()
		b.load(s.ID())
		running := s.Prompt(t.Context(), acp.Text("long"))
		require.Equal(t, "long", <-begun)
		waits := make(chan acp.StopReason, 9)
		send := func(u *user, text string) {
			go func() { // ends with the prompt
				res, err := u.conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: s.ID(), Prompt: []acp.ContentBlock{acp.Text(text)}})
				assert.NoError(t, err)
				waits <- res.StopReason
			}()
			synctest.Wait()
		}
		for range 3 {
			send(b, "of another")
		}
		send(a, "own")
		send(a, "own")
		_, err := b.conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: s.ID(), Prompt: []acp.ContentBlock{acp.Text("one too many")}})
		require.ErrorIs(t, err, rpcerr.ErrInvalidRequest)
		require.NoError(t, s.Cancel(t.Context()))
		res, err := running.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonCancelled, res.StopReason)
		reasons := map[acp.StopReason]int{}
		for range 5 {
			reasons[<-waits]++
		}
		assert.Equal(t, map[acp.StopReason]int{acp.StopReasonCancelled: 2, acp.StopReasonEndTurn: 3}, reasons)
		assert.Equal(t, []string{"long", "of another", "of another", "of another"}, w.seen())
	})
}
