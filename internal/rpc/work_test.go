package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// outliving is a group's request whose work goes on after its response, until it is ended
// or released.
func outliving(ev *events, release <-chan struct{}) *rpc.Entry {
	e := on(mPrompt, func(ctx context.Context, m *msg) (*msg, error) {
		w, err := rpc.Outlive(ctx, m.Text == "background")
		if err != nil {
			return nil, err
		}
		go func() { // ends with the work
			defer w.End()
			select {
			case <-w.Context().Done():
				ev.add("%s %d: %v", m.SessionID, m.N, context.Cause(w.Context()))
			case <-release:
			}
		}()
		return m, nil
	})
	e.Group = true
	return e
}

func prompt(p peer, id int, session, text string) {
	p.Send(`{'jsonrpc':'2.0','id':%d,'method':'t/prompt','params':{'sessionId':'%s','n':%d,'text':'%s'}}`, id, session, id, text)
	p.Next()
}

// A cancel ends the foreground work of its session, and a close ends all of its work.
func TestWorkThatOutlivesItsResponse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ev events
		cancel := ends(rpc.EndsForeground, ignore(mCancel))
		closing := ends(rpc.EndsAll, echo(request("t/close")))
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{outliving(&ev, nil), cancel, closing}})
		prompt(p, 1, "a", "")
		prompt(p, 2, "a", "background")
		prompt(p, 3, "b", "")
		p.Send(`{'jsonrpc':'2.0','method':'t/cancel','params':{'sessionId':'a'}}`)
		synctest.Wait()
		assert.Equal(t, []string{"a 1: acp: turn cancelled"}, ev.list())
		p.Send(`{'jsonrpc':'2.0','id':9,'method':'t/close','params':{'sessionId':'a'}}`)
		p.Next()
		synctest.Wait()
		assert.Equal(t, []string{"a 1: acp: turn cancelled", "a 2: acp: turn cancelled"}, ev.list())
		require.NoError(t, c.Close())
		require.NoError(t, c.Wait())
		assert.Equal(t, "b 3: acp: connection closed", ev.list()[2])
	})
}

// Shutdown and the end of input wait for work. Wait names work that does not end.
func TestEndsWaitForWork(t *testing.T) {
	for name, end := range map[string]func(c *rpc.Conn, p peer) error{
		"shutdown":     func(c *rpc.Conn, _ peer) error { return c.Shutdown(context.Background()) },
		"end of input": func(c *rpc.Conn, p peer) error { p.Close(); return c.Wait() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var ev events
				release := make(chan struct{})
				c, p := start(t, rpc.Config{Entries: []*rpc.Entry{outliving(&ev, release)}})
				prompt(p, 1, "a", "background")
				begun := time.Now()
				time.AfterFunc(3*time.Second, func() { close(release) })
				require.NoError(t, end(c, p))
				assert.Equal(t, 3*time.Second, time.Since(begun))
				assert.Empty(t, ev.list())
			})
		})
	}
	bubble(t, func(t *testing.T) {
		var work *rpc.Work
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{on(mEcho, func(ctx context.Context, m *msg) (_ *msg, err error) {
			work, err = rpc.Outlive(ctx, false)
			return m, err
		})}})
		p.request(1, "t/echo", 1)
		p.Next()
		require.NoError(t, c.Close())
		err := c.Wait()
		require.ErrorIs(t, err, wire.ErrHandlerStuck)
		assert.Contains(t, err.Error(), "t/echo")
		work.End()
		work.End()
	})
}

// Work counts against MaxOpen until it ends. Calls with its ctx work after the handler has
// returned.
func TestWorkCountsAndCalls(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ev events
		release := make(chan struct{})
		_, p := start(t, rpc.Config{Limits: rpc.Limits{MaxOpen: 50_000, MaxWaiting: 1}, Entries: []*rpc.Entry{outliving(&ev, release)}})
		accepted := 0
		for id := range 20 {
			p.Send(`{'jsonrpc':'2.0','id':%d,'method':'t/prompt','params':{'sessionId':'s'}}`, id)
			if !strings.Contains(p.Next().Raw, "Too many requests") {
				accepted++
			}
			synctest.Wait()
		}
		assert.Equal(t, 5, accepted)
		close(release)
		synctest.Wait()
		p.Send(`{'jsonrpc':'2.0','id':99,'method':'t/prompt','params':{'sessionId':'s'}}`)
		assert.NotContains(t, p.Next().Raw, "Too many")
	})
	bubble(t, func(t *testing.T) {
		var c *rpc.Conn
		var ev events
		c, p := start(t, rpc.Config{Limits: rpc.Limits{MaxHandlers: 1}, Entries: []*rpc.Entry{
			on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
				w, err := rpc.Outlive(ctx, false)
				if err != nil {
					return nil, err
				}
				go func() { // ends with the response
					defer w.End()
					_, err := c.Call(w.Context(), mAsk, &msg{N: 5}, nil)
					ev.add("called: %v", err)
				}()
				return m, nil
			}),
			on(mNote, func(_ context.Context, m *msg) (*msg, error) { ev.add("note %d", m.N); return nil, nil }),
		}})
		p.request(1, "t/echo", 1)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'result':{'n':1}}`, `{'jsonrpc':'2.0','id':1,'method':'t/ask','params':{'n':5}}`)
		p.request(2, "t/echo", 2) // the slot is free
		p.ExpectJSON(`{'jsonrpc':'2.0','id':2,'result':{'n':2}}`, `{'jsonrpc':'2.0','id':2,'method':'t/ask','params':{'n':5}}`)
		p.note(1)
		p.answer(1, 0)
		synctest.Wait()
		assert.Equal(t, []string{"note 1", "called: <nil>"}, ev.list())
		p.answer(2, 0)
		_, err := rpc.Outlive(t.Context(), false)
		require.Error(t, err)
	})
}

// Requests that wait for the end of work are cancelled before the work is, so that none of them
// starts.
func TestWorkEndsAfterTheRequestsThatWaitForIt(t *testing.T) {
	const waiting = 1000
	bubble(t, func(t *testing.T) {
		var mu sync.Mutex
		ctxs := make([]context.Context, waiting+1) // guarded by mu
		late := make(chan int, 1)
		entry := on(mPrompt, func(ctx context.Context, m *msg) (*msg, error) {
			mu.Lock()
			ctxs[m.N] = ctx
			mu.Unlock()
			if m.N > 0 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			w, err := rpc.Outlive(ctx, false)
			if err != nil {
				return nil, err
			}
			go func() { // ends with the work
				defer w.End()
				<-w.Context().Done()
				mu.Lock()
				defer mu.Unlock()
				n := 0
				for _, ctx := range ctxs[1:] {
					if ctx.Err() == nil {
						n++
					}
				}
				late <- n
			}()
			return m, nil
		})
		entry.Group = true
		cancel := ends(rpc.EndsForeground, ignore(mCancel))
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{entry, cancel}})
		prompt(p, 0, "a", "")
		for id := range waiting {
			p.Send(`{'jsonrpc':'2.0','id':%d,'method':'t/prompt','params':{'sessionId':'a','n':%d}}`, id+1, id+1)
		}
		synctest.Wait()
		p.Send(`{'jsonrpc':'2.0','method':'t/cancel','params':{'sessionId':'a'}}`)
		assert.Zero(t, <-late, "requests were not cancelled yet when the work ended")
		for range waiting {
			p.Next()
		}
		require.NoError(t, c.Close())
		require.NoError(t, c.Wait())
	})
}

// A handler that waits for the earlier request of its group responds after it, also when many
// handlers end at once.
func TestAwaitEarlier(t *testing.T) {
	const n = 3000
	var release chan struct{} // made in the bubble
	prompts := on(mPrompt, func(ctx context.Context, m *msg) (*msg, error) {
		<-release
		return m, rpc.AwaitEarlier(ctx)
	})
	prompts.Group = true
	bubble(t, func(t *testing.T) {
		release = make(chan struct{})
		_, p := start(t, rpc.Config{Entries: []*rpc.Entry{prompts}})
		for id := range n {
			p.Send(`{'jsonrpc':'2.0','id':%d,'method':'t/prompt','params':{'sessionId':'s'}}`, id)
		}
		synctest.Wait()
		close(release)
		for id := range n {
			require.Equal(t, fmt.Sprint(id), string(p.Next().ID))
		}
	})
}

// An expectation fails when the connection ends, after what was read before, and Shutdown
// waits for it.
func TestExpect(t *testing.T) {
	t.Run("end of input", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			var ev events
			c, p := start(t, rpc.Config{Entries: recorded(&ev)})
			_, err := c.Expect(mPrompt, "s", func(err error) {
				assert.ErrorIs(t, err, wire.ErrClosed)
				ev.add("failed")
			})
			require.NoError(t, err)
			p.note(1)
			p.Close()
			synctest.Wait()
			assert.Equal(t, []string{"note 1", "failed"}, ev.list())
			_, err = c.Expect(mPrompt, "s", func(error) { t.Error("called") })
			assert.ErrorIs(t, err, wire.ErrClosed)
		})
	})
	t.Run("met", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			c, _ := start(t, rpc.Config{})
			e, err := c.Expect(mPrompt, "s", func(error) { t.Error("called") })
			require.NoError(t, err)
			down := make(chan error, 1)
			go func() { down <- c.Shutdown(t.Context()) }() // ends when it is met
			time.Sleep(time.Minute)
			require.Empty(t, down)
			assert.True(t, e.Met())
			assert.False(t, e.Met())
			assert.NoError(t, <-down)
		})
	})
	t.Run("a response of its id", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			c, p := start(t, rpc.Config{})
			e, err := c.Expect(mPrompt, "s", func(error) { t.Error("called") })
			require.NoError(t, err)
			for _, id := range []string{"0", "1", "9223372036854775808", "9223372036854775809"} {
				p.Send(`{'jsonrpc':'2.0','id':%s,'result':{}}`, id)
			}
			synctest.Wait()
			assert.True(t, e.Met())
		})
	})
	t.Run("a session is lost", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			n, _ := newNetwork()
			c := startOn(t, rpc.Config{Stream: n})
			why := errors.New("503")
			failed := make(chan error, 1)
			_, err := c.Expect(mPrompt, "a", func(err error) { failed <- err })
			require.NoError(t, err)
			other, err := c.Expect(mPrompt, "b", func(error) { t.Error("called") })
			require.NoError(t, err)
			n.in <- &stream.LostError{SessionID: "a", Err: why}
			assert.ErrorIs(t, <-failed, why)
			_, err = c.Expect(mPrompt, "a", func(error) { t.Error("called") })
			assert.ErrorIs(t, err, why)
			assert.True(t, other.Met())
		})
	})
}
