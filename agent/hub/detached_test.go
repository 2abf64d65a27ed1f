package hub_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/rpcerr"
)

// A question waits for somebody who may answer it, and then for Detached.Question. It is never allowed.
func TestQuestionsOfNobody(t *testing.T) {
	rejects := []acp.PermissionOption{options[1]}
	for name, c := range map[string]struct {
		options []acp.PermissionOption
		after   time.Duration // until a client comes
		last    string
	}{
		"somebody comes in time": {options, 29 * time.Minute, "agent: chosen: yes"},
		"rejected":               {options, 31 * time.Minute, "agent: chosen: no"},
		"only a rejection":       {rejects, 31 * time.Minute, "agent: chosen: no"},
		"cannot be rejected once": {[]acp.PermissionOption{options[0], {OptionID: "never", Name: "Never", Kind: acp.PermissionOptionKindRejectAlways}},
			31 * time.Minute, `tool call "rm" pending`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &worker{turn: func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) (acp.StopReason, error) {
					o, err := s.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: "call", Title: "rm"}, c.options...)
					if err != nil {
						return "", err
					}
					return acp.StopReasonEndTurn, s.Message(ctx, "chosen: "+string(o.OptionID))
				}}
				h := start(t, w, nil)
				a := join(t, h, "")
				s := a.open()
				s.Prompt(t.Context(), acp.Text("go"))
				synctest.Wait()
				a.leave()
				time.Sleep(c.after)
				b := join(t, h, "")
				b.answer = selects("yes")
				b.load(s.ID())
				synctest.Wait()
				lines := b.transcript(s.ID())
				assert.Equal(t, c.last, lines[len(lines)-1])
				for info := range h.Sessions() {
					assert.False(t, info.Running)
					assert.Zero(t, info.Questions)
				}
			})
		})
	}
}

// A question that each client has dismissed, or does not know, is one of nobody, each for its own time.
func TestQuestionsThatAllDismiss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		w := &worker{turn: func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
			begin := time.Now()
			var wait sync.WaitGroup
			for range 2 {
				wait.Go(func() { // ends with the question
					o, err := s.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: "call", Title: "rm"}, options...)
					assert.NoError(t, err)
					assert.EqualValues(t, "no", o.OptionID)
				})
				time.Sleep(10 * time.Minute)
			}
			wait.Wait()
			at = append(at, time.Since(begin))
			return acp.StopReasonEndTurn, nil
		}}
		h := start(t, w, nil)
		a, b := join(t, h, ""), join(t, h, "")
		a.answer = func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			return acp.Cancelled(), nil
		}
		b.answer = func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			return nil, rpcerr.MethodNotFound("x")
		}
		s := a.open()
		b.load(s.ID())
		a.prompt(s, "go")
		assert.Equal(t, []time.Duration{40 * time.Minute}, at)
	})
}

// A turn that nobody follows is cancelled after Detached.Turn; a session that nobody uses is closed
// after Detached.Idle, and can then be opened by another process.
func TestSessionsOfNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		w := &worker{turn: func(ctx context.Context, _ *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
			<-ctx.Done()
			ended.Store(true)
			return "", ctx.Err()
		}}
		store := new(journal.Memory)
		h := start(t, w, &hub.Options{Store: store, Detached: hub.Detached{Turn: time.Hour}})
		a := join(t, h, "")
		s := a.open()
		s.Prompt(t.Context(), acp.Text("go"))
		time.Sleep(2 * time.Hour)
		assert.False(t, ended.Load())
		a.leave()
		time.Sleep(59 * time.Minute)
		assert.False(t, ended.Load())
		time.Sleep(2 * time.Minute)
		assert.True(t, ended.Load())
		_, err := store.Open(t.Context(), string(s.ID()))
		var held *journal.HeldError
		require.ErrorAs(t, err, &held)
		time.Sleep(time.Hour)
		log, err := store.Open(t.Context(), string(s.ID()))
		require.NoError(t, err)
		require.NoError(t, log.Close())
		b := join(t, h, "")
		b.load(s.ID())
		assert.Equal(t, []string{"user: go"}, b.transcript(s.ID()))
	})
}

// roles are what principals may do, which can change.
type roles struct {
	mu sync.Mutex
	of map[string]hub.Role
}

func (r *roles) set(principal string, role hub.Role) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[principal] = role
}

func (r *roles) access(_ context.Context, principal string, _ hub.Info) hub.Role {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[principal]
}

// Observers read everything and change nothing. Whoever is revoked loses its questions, prompts and sessions.
func TestRoles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: asks}
		r := &roles{of: map[string]hub.Role{"ann": hub.Control, "bob": hub.Observe, "cid": hub.Control}}
		h := start(t, w, &hub.Options{Principal: byContext, Access: r.access})
		ann, bob, cid := join(t, h, "ann"), join(t, h, "bob"), join(t, h, "cid")
		s := ann.open()
		id := s.ID()
		bob.load(id)
		asked := make(chan string, 9)
		withdrawn := make(chan struct{})
		bob.answer = func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			asked <- "bob"
			return acp.Selected("yes"), nil
		}
		cid.answer = func(ctx context.Context, _ *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			asked <- "cid"
			<-ctx.Done()
			close(withdrawn)
			return acp.Selected("yes"), nil
		}
		cid.load(id)
		turn := s.Prompt(t.Context(), acp.Text("go"))
		synctest.Wait()
		assert.Equal(t, "cid", <-asked)
		assert.Empty(t, asked)
		for _, call := range []func() error{
			func() error {
				_, err := bob.conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text("x")}})
				return err
			},
			func() error {
				_, err := bob.conn.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: id, ModeID: "m"})
				return err
			},
			func() error {
				_, err := bob.conn.SetSessionConfigOption(t.Context(), &acp.SetSessionConfigOptionRequest{SessionID: id, ConfigID: "m", Value: &acp.SessionConfigValue{Value: "x"}})
				return err
			},
			func() error {
				_, err := bob.conn.DeleteSession(t.Context(), &acp.DeleteSessionRequest{SessionID: id})
				return err
			},
		} {
			require.ErrorIs(t, call(), rpcerr.ErrInvalidRequest)
		}
		require.NoError(t, bob.conn.Cancel(t.Context(), &acp.CancelNotification{SessionID: id}))
		synctest.Wait()

		r.set("cid", hub.None)
		h.Revoke(t.Context(), "cid")
		<-withdrawn
		synctest.Wait()
		_, err := cid.conn.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: "/work"})
		require.ErrorIs(t, err, rpcerr.ErrSessionNotFound)
		_, err = cid.conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text("x")}})
		require.ErrorIs(t, err, rpcerr.ErrSessionNotFound)

		r.set("bob", hub.Control)
		h.Revoke(t.Context(), "bob")
		res, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonEndTurn, res.StopReason)
		assert.Equal(t, "bob", <-asked)
		bob.until(id, func(*thread.Snapshot) bool { l := bob.transcript(id); return l[len(l)-1] == "agent: chosen: yes" })
		assert.Equal(t, []string{"go"}, w.seen())
	})
}

// The last controller that is revoked ends its turn.
func TestRevokedInATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: asks}
		r := &roles{of: map[string]hub.Role{"ann": hub.Control}}
		h := start(t, w, &hub.Options{Principal: byContext, Access: r.access})
		ann := join(t, h, "ann")
		s := ann.open()
		turn := s.Prompt(t.Context(), acp.Text("go"))
		synctest.Wait()
		r.set("ann", hub.None)
		h.Revoke(t.Context(), "ann")
		res, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonCancelled, res.StopReason)
	})
}

// Shutdown waits for turns, then cancels them, and the sessions can be opened by another hub at once.
func TestShutdown(t *testing.T) {
	for name, patience := range map[string]time.Duration{"waits": time.Hour, "cancels": time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &worker{turn: func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
					select {
					case <-time.After(time.Minute):
						return acp.StopReasonEndTurn, s.Message(ctx, "finished")
					case <-ctx.Done():
						return "", ctx.Err()
					}
				}}
				store := new(journal.Memory)
				h := start(t, w, &hub.Options{Store: store})
				a := join(t, h, "")
				s := a.open()
				s.Prompt(t.Context(), acp.Text("go"))
				synctest.Wait()
				ctx, stop := context.WithTimeout(t.Context(), patience)
				defer stop()
				err := h.Shutdown(ctx)
				want := []string{"user: go"}
				if name == "waits" {
					require.NoError(t, err)
					want = append(want, "agent: finished")
				} else {
					require.ErrorIs(t, err, context.DeadlineExceeded)
				}
				h2 := restart(t, w, &hub.Options{Store: store})
				b := join(t, h2, "")
				b.load(s.ID())
				assert.Equal(t, want, b.transcript(s.ID()))
			})
		})
	}
}
