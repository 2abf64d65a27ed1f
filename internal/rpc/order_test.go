package rpc_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
)

func TestCallReturnsAfterEarlierNotifications(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ev events
		gate := make(chan struct{})
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mNote, func(_ context.Context, m *msg) (*msg, error) {
				if m.N == 1 {
					<-gate
				}
				ev.add("note %d", m.N)
				return nil, nil
			}),
		}})
		go func() { // ends with the answer
			_, err := c.Call(t.Context(), mEcho, &msg{N: 5}, &rpc.CallOptions{AtResponse: func(err error) { ev.add("at %v", err) }})
			ev.add("returned %v", err)
		}()
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'method':'t/echo','params':{'n':5}}`)
		p.note(1)
		p.note(2)
		p.answer(1, 5)
		p.note(3)
		synctest.Wait()
		assert.Empty(t, ev.list())
		close(gate)
		synctest.Wait()
		list := ev.list()
		assert.Equal(t, []string{"note 1", "note 2", "at <nil>"}, list[:3])
		assert.ElementsMatch(t, []string{"note 3", "returned <nil>"}, list[3:])
	})
}

// The same holds for a handler that makes a call on another connection.
func TestHandlerMayCallOnAnotherConnection(t *testing.T) {
	bubble(t, func(t *testing.T) {
		other, q := start(t, rpc.Config{})
		_, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mNote, func(ctx context.Context, m *msg) (*msg, error) {
				_, err := other.Call(ctx, mAsk, m, nil)
				return nil, err
			}),
			echo(mEcho),
		}})
		p.note(1)
		q.ExpectJSON(`{'jsonrpc':'2.0','id':1,'method':'t/ask','params':{'n':1}}`)
		p.request(7, "t/echo", 3)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':7,'result':{'n':3}}`)
		q.answer(1, 0)
	})
}

func TestWarningAboutAForeignContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var l logs
		var c *rpc.Conn
		c, p := start(t, rpc.Config{Logger: l.logger(), Entries: []*rpc.Entry{
			on(mNote, func(_ context.Context, m *msg) (*msg, error) {
				ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
				defer cancel()
				_, err := c.Call(ctx, mAsk, m, nil)
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				return nil, nil
			}),
		}})
		p.note(1)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'method':'t/ask','params':{'n':1}}`)
		p.answer(1, 2)
		time.Sleep(9 * time.Second)
		assert.NotContains(t, l.String(), "keeps a call")
		time.Sleep(2 * time.Second)
		assert.Contains(t, l.String(), "handler=t/note waiting=t/ask")
		time.Sleep(time.Minute)
	})
}

// The name of an extension is the peer's, and may be as long as a message.
func TestWarningIsOfBoundedLength(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var l logs
		_, p := start(t, rpc.Config{
			Logger:                l.logger(),
			Extension:             func(context.Context, string, json.RawMessage) (any, error) { return nil, nil },
			ExtensionNotification: func(context.Context, string, json.RawMessage) error { <-time.After(time.Minute); return nil },
		})
		long := strings.Repeat("x", 10_000)
		p.Send(`{'jsonrpc':'2.0','method':'_%s'}`, long)
		p.Send(`{'jsonrpc':'2.0','id':1,'method':'_%s'}`, long)
		p.Next()
		assert.Contains(t, l.String(), "keeps a call or request waiting")
		assert.Less(t, len(l.String()), 1000)
	})
}

func TestAtResponseOfAnExemptCallKeepsItsPlace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ev events
		var c *rpc.Conn
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mNote, func(ctx context.Context, m *msg) (*msg, error) {
				ev.add("note %d", m.N)
				if m.N == 1 {
					_, err := c.Call(ctx, mAsk, m, &rpc.CallOptions{AtResponse: func(error) { ev.add("at") }})
					ev.add("returned %v", err)
				}
				return nil, nil
			}),
		}})
		p.note(1)
		p.Next()
		p.note(2)
		p.answer(1, 2)
		p.note(3)
		synctest.Wait()
		assert.Equal(t, []string{"note 1", "returned <nil>", "note 2", "at", "note 3"}, ev.list())
	})
}

// When the connection is closed, AtResponse of such a call runs as well, once.
func TestAtResponseOfAnExemptCallAtClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		at := make(chan error, 2)
		var c *rpc.Conn
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mNote, func(ctx context.Context, m *msg) (*msg, error) {
				_, err := c.Call(ctx, mAsk, m, &rpc.CallOptions{AtResponse: func(err error) { at <- err }})
				return nil, err
			}),
		}})
		p.note(1)
		p.Next()
		require.NoError(t, c.Close())
		require.NoError(t, c.Wait())
		require.ErrorIs(t, <-at, wire.ErrClosed)
		assert.Empty(t, at)
	})
}

func TestWaitForTheOrderEndsWithCtx(t *testing.T) {
	bubble(t, func(t *testing.T) {
		gate := make(chan struct{})
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{echoAfter(gate, mNote)}})
		at := make(chan error, 2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		p.note(1)
		go func() { p.Next(); p.answer(1, 1) }() // ends at once
		_, err := c.Call(ctx, mEcho, &msg{}, &rpc.CallOptions{AtResponse: func(err error) { at <- err }})
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Empty(t, at)
		close(gate)
		assert.ErrorIs(t, <-at, context.DeadlineExceeded)
		synctest.Wait()
		assert.Empty(t, at)
	})
}

func TestResponseFollowsWhatTheHandlerSent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var c *rpc.Conn
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
				for n := range 300 {
					if err := c.Notify(ctx, mNote, &msg{N: n}); err != nil {
						return nil, err
					}
				}
				rpc.AfterResponse(ctx, func() { _ = c.Notify(rpc.Detach(ctx), mOther, &msg{}) })
				return m, nil
			}),
		}})
		p.request(1, "t/echo", 5)
		for n := range 300 {
			if n == 0 {
				p.ExpectJSON(`{'jsonrpc':'2.0','method':'t/note','params':{}}`)
				continue
			}
			p.Next()
		}
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'result':{'n':5}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','method':'t/other','params':{}}`)
	})
}

func TestDetachedContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		type key struct{}
		ctxs := make(chan context.Context, 2)
		c, p := start(t, rpc.Config{
			Receiving: []rpc.Middleware{func(next rpc.Handler) rpc.Handler {
				return func(ctx context.Context, m string, p any) (any, error) {
					return next(context.WithValue(ctx, key{}, "v"), m, p)
				}
			}},
			Entries: []*rpc.Entry{on(mNote, func(ctx context.Context, m *msg) (*msg, error) {
				assert.Positive(t, rpc.MessageSize(ctx))
				ctxs <- ctx
				ctxs <- rpc.Detach(ctx)
				return nil, nil
			})},
		})
		p.note(1)
		ctx, detached := <-ctxs, <-ctxs
		synctest.Wait()
		assert.ErrorIs(t, ctx.Err(), context.Canceled)
		require.NoError(t, detached.Err())
		assert.Equal(t, "v", detached.Value(key{}))
		child, cancel := context.WithCancel(detached)
		defer cancel()
		require.NoError(t, c.Close())
		assert.ErrorIs(t, child.Err(), context.Canceled)
		assert.Equal(t, t.Context(), rpc.Detach(t.Context()))
	})
}

// While a handler sends without waiting, no request overtakes its notification.
func TestRequestWaitsWhileAHandlerSends(t *testing.T) {
	bubble(t, func(t *testing.T) {
		gate, started := make(chan struct{}), false
		var c *rpc.Conn
		c, p := start(t, rpc.Config{
			Sending: []rpc.Middleware{func(next rpc.Handler) rpc.Handler {
				return func(ctx context.Context, method string, params any) (any, error) {
					<-gate
					return next(ctx, method, params)
				}
			}},
			Entries: []*rpc.Entry{
				on(mNote, func(ctx context.Context, m *msg) (*msg, error) { return nil, c.Notify(ctx, mOther, m) }),
				on(mEcho, func(_ context.Context, m *msg) (*msg, error) { started = true; return m, nil }),
			},
		})
		p.note(1)
		p.request(1, "t/echo", 2)
		synctest.Wait()
		assert.False(t, started)
		close(gate)
		p.ExpectJSON(`{'jsonrpc':'2.0','method':'t/other','params':{'n':1}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'result':{'n':2}}`)
	})
}

// While the handler of a notification waits for room, requests start: the peer may have to
// be responded to before it reads on.
func TestRequestStartsWhileAHandlerWaitsForRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ev events
		var c *rpc.Conn
		c, p, s := startHeld(t, rpc.Config{Limits: rpc.Limits{SendQueue: 1}, Entries: []*rpc.Entry{
			on(mNote, func(ctx context.Context, m *msg) (*msg, error) {
				err := c.Notify(ctx, mOther, m)
				ev.add("sent %d", m.N)
				return nil, err
			}),
			on(mEcho, func(_ context.Context, m *msg) (*msg, error) { ev.add("request %d", m.N); return m, nil }),
		}})
		p.note(1) // fills the queue
		p.note(2) // waits for room
		p.request(1, "t/echo", 3)
		synctest.Wait()
		p.request(2, "t/echo", 4)
		synctest.Wait()
		assert.Equal(t, []string{"sent 1", "request 3", "request 4"}, ev.list())
		close(s.gate)
		p.ExpectJSON(`{'jsonrpc':'2.0','method':'t/other','params':{'n':1}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','method':'t/other','params':{'n':2}}`,
			`{'jsonrpc':'2.0','id':1,'result':{'n':3}}`, `{'jsonrpc':'2.0','id':2,'result':{'n':4}}`)
	})
}
