package rpc_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// If a handler passes notifications on to a peer that does not read, its own connection stops
// reading too. It does not while the handler makes a call, and the other connection never does.
func TestReaderPausesWhileAnotherConnectionIsSlow(t *testing.T) {
	for name, tt := range map[string]struct {
		pass  func(ctx context.Context, near, other *rpc.Conn, m *msg) error
		pause bool
	}{
		"send on the other": {func(ctx context.Context, _, other *rpc.Conn, m *msg) error { return other.Notify(ctx, mNote, m) }, true},
		"call on the other": {func(ctx context.Context, _, other *rpc.Conn, m *msg) error {
			_, err := other.Call(ctx, mEcho, m, nil)
			return err
		}, false},
		"send on its own": {func(ctx context.Context, near, _ *rpc.Conn, m *msg) error { return near.Notify(ctx, mNote, m) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				slow := func(s stream.Stream) stream.Stream { return &held{Stream: s, gate: make(chan struct{})} }
				a, _ := stream.Pipe()
				limits := rpc.Limits{Backlog: 10_000, SendQueue: 2000, StallTimeout: time.Hour}
				other := startOn(t, rpc.Config{Stream: slow(a), Limits: limits})
				b, far := stream.Pipe()
				var near *rpc.Conn
				read := &counted{Stream: slow(b)}
				near = startOn(t, rpc.Config{Stream: read, Limits: limits, Entries: []*rpc.Entry{on(mNote, func(ctx context.Context, m *msg) (*msg, error) { return nil, tt.pass(ctx, near, other, m) })}})
				p := newPeer(t, far)
				p.bigNotes(100)
				synctest.Wait()
				if tt.pause {
					assert.Less(t, read.read.Load(), int64(20))
				} else {
					assert.EqualValues(t, 100, read.read.Load())
				}
			})
		})
	}
}

// A handler that waits for room keeps its slot: no other handler can help it, and every further
// one would wait as well.
func TestSlotIsKeptInsideASend(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var running, most atomic.Int64
		var c *rpc.Conn
		c, p, s := startHeld(t, rpc.Config{Limits: rpc.Limits{MaxHandlers: 3, SendQueue: 1000}, Entries: []*rpc.Entry{
			on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				return m, c.Notify(ctx, mNote, &msg{Text: strings.Repeat("x", 1000)})
			}),
		}})
		for id := range 50 {
			p.request(id, "t/echo", id)
		}
		synctest.Wait()
		assert.LessOrEqual(t, most.Load(), int64(3))
		close(s.gate)
		for range 100 {
			p.Next()
		}
		assert.LessOrEqual(t, most.Load(), int64(3))
	})
}

// What was read is handled if the input ends and then writing fails.
func TestWriteErrorAfterEndOfInput(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, far := stream.Pipe()
		held := &held{Stream: near, gate: make(chan struct{})}
		s := &halfOpen{Stream: held, eof: make(chan struct{})}
		var handled int
		ended := make(chan error, 1)
		c := startOn(t, rpc.Config{Stream: s, Entries: []*rpc.Entry{
			on(mNote, func(context.Context, *msg) (*msg, error) {
				time.Sleep(100 * time.Millisecond)
				handled++
				return nil, nil
			}),
			on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return m, nil
			}),
		}})
		p := newPeer(t, far)
		p.request(1, "t/echo", 1)
		for n := range 10 {
			p.note(n)
		}
		synctest.Wait()
		close(s.eof)
		synctest.Wait()
		begun := time.Now()
		held.fail(assert.AnError)
		close(held.gate)
		require.NoError(t, c.Notify(t.Context(), mNote, &msg{}), "the queue took it")
		require.NoError(t, c.Wait())
		assert.Equal(t, 10, handled)
		require.ErrorIs(t, <-ended, wire.ErrClosed)
		assert.Less(t, time.Since(begun), 2*time.Second, "a handler with nobody to answer does not use its grace")
	})
}

// When the connection ends, a call or send with the ctx of a handler returns the same error as any
// other, or its response if that was read.
func TestHandlersCallsAtClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		errs := make(chan error, 10)
		gate := make(chan struct{})
		var c *rpc.Conn
		c, p, _ := startHeld(t, rpc.Config{Limits: rpc.Limits{SendQueue: 1000}, Entries: []*rpc.Entry{
			on(mAsk, func(ctx context.Context, m *msg) (*msg, error) {
				_, err := c.Call(ctx, mEcho, m, nil)
				errs <- err
				return m, err
			}),
			on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
				err := c.Notify(ctx, mOther, &msg{Text: strings.Repeat("x", 1000)})
				errs <- err
				return m, err
			}),
			echoAfter(gate, mNote),
		}})
		p.request(1, "t/ask", 1)
		synctest.Wait()
		p.request(2, "t/ask", 2)
		synctest.Wait()
		p.request(3, "t/echo", 1)
		synctest.Wait()
		p.note(1)
		p.answer(1, 1) // waits for the notification
		synctest.Wait()
		go func() { _ = c.Close() }() // ends with the connection
		got := []error{<-errs, <-errs, <-errs}
		closed := 0
		for _, err := range got {
			if err != nil {
				require.ErrorIs(t, err, wire.ErrClosed)
				closed++
			}
		}
		assert.Equal(t, 2, closed)
		close(gate)
		require.NoError(t, c.Wait())
	})
}

// A request does not overtake a notification that is being passed on to another
// connection: a proxy would change their order, and the calls of such a request would
// count as made inside the notification's handler.
func TestRequestWaitsWhileAnotherConnectionIsSlow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, _ := stream.Pipe()
		slow := &held{Stream: a, gate: make(chan struct{})}
		other := startOn(t, rpc.Config{Stream: slow, Limits: rpc.Limits{SendQueue: 1}})
		started := 0
		_, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mNote, func(ctx context.Context, m *msg) (*msg, error) { return nil, other.Notify(ctx, mNote, m) }),
			on(mEcho, func(_ context.Context, m *msg) (*msg, error) { started++; return m, nil }),
		}})
		p.note(1)
		p.note(2) // waits for room
		p.request(1, "t/echo", 3)
		synctest.Wait()
		assert.Zero(t, started)
		close(slow.gate)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'result':{'n':3}}`)
	})
}

// A response that the handler of a relay passes on is queued before what was read after it.
func TestForwardedResponseKeepsItsPlace(t *testing.T) {
	runs := 5000
	if testing.Short() {
		runs = 500
	}
	far, farPeer := stream.Pipe()
	var front *rpc.Conn
	back := startOn(t, rpc.Config{Stream: far,
		Entries: []*rpc.Entry{on(mNote, func(ctx context.Context, m *msg) (*msg, error) { return nil, front.Notify(ctx, mNote, m) })},
		ExtensionNotification: func(ctx context.Context, method string, params json.RawMessage) error {
			return front.NotifyExtension(ctx, method, params)
		},
		Extension: func(ctx context.Context, method string, params json.RawMessage) (any, error) {
			return front.CallExtension(ctx, method, params)
		},
	})
	near, nearPeer := stream.Pipe()
	front = startOn(t, rpc.Config{Stream: near, Relay: true,
		Entries: []*rpc.Entry{on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
			res, err := back.Call(ctx, mEcho, m, nil)
			if err != nil {
				return nil, err
			}
			return res.(*msg), nil
		})},
		Extension: func(ctx context.Context, method string, params json.RawMessage) (any, error) {
			return back.CallExtension(ctx, method, params)
		},
	})
	p, q := newPeer(t, nearPeer), newPeer(t, farPeer)
	for what, tt := range map[string]struct{ method, then string }{
		"typed":                  {"t/echo", `{"jsonrpc":"2.0","method":"t/note","params":{"n":5}}`},
		"raw":                    {"_x", `{"jsonrpc":"2.0","method":"_y","params":{"n":5}}`},
		"raw and then a request": {"_x", `{"jsonrpc":"2.0","id":1,"method":"_z","params":{"n":5}}`},
	} {
		inversions := 0
		for n := range runs {
			p.request(n, tt.method, n)
			var asked struct{ ID int }
			require.NoError(t, json.Unmarshal([]byte(q.Next().Raw), &asked))
			q.answer(asked.ID, n)
			q.Send("%s", tt.then)
			first, second := p.Next().Raw, p.Next().Raw
			if !strings.Contains(first, `"result"`) {
				inversions++
				second = first
			}
			if strings.Contains(second, `"id"`) {
				var request struct{ ID int }
				require.NoError(t, json.Unmarshal([]byte(second), &request))
				p.answer(request.ID, 0)
				q.Next()
			}
		}
		assert.Zero(t, inversions, "%s: of %d", what, runs)
	}
}

// What is read after a response to the handler of a relay waits until that handler responds, makes
// a call or calls Release, or until its request or the connection ends. No time ends the wait.
// Other handlers hold back nothing.
func TestRelayHoldsBackMessages(t *testing.T) {
	type world struct {
		back   *rpc.Conn
		p, q   peer
		gate   chan struct{}
		passed chan time.Time // when the notification after the response was handled
	}
	for name, tt := range map[string]struct {
		relay bool
		after func(ctx context.Context, w *world) // in the handler, once it has its response
		held  time.Duration                       // how long the notification waits
		ends  func(w *world)                      // after an hour; nil: the handler returns
		warns bool
	}{
		"another handler thinks": {false, func(_ context.Context, w *world) { <-w.gate }, 0, nil, false},
		"a relay thinks":         {true, func(_ context.Context, w *world) { <-w.gate }, time.Hour, nil, true},
		"a relay returns":        {true, func(context.Context, *world) {}, 0, nil, false},
		"a relay calls Release":  {true, func(ctx context.Context, w *world) { rpc.Release(ctx); <-w.gate }, 0, nil, false},
		"a relay makes another call": {true, func(ctx context.Context, w *world) {
			_, err := w.back.Call(ctx, mEcho, &msg{}, nil)
			assert.NoError(t, err)
		}, 0, func(w *world) { w.q.Next(); w.q.answer(2, 1) }, false},
		"the request is cancelled": {true, func(_ context.Context, w *world) { <-w.gate }, time.Hour,
			func(w *world) { w.p.Send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`) }, true},
		"the connection is closed": {true, func(_ context.Context, w *world) { <-w.gate }, time.Hour,
			func(w *world) { assert.NoError(t, w.back.Close()) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := &world{gate: make(chan struct{}), passed: make(chan time.Time, 1)}
				w.back, w.q = start(t, rpc.Config{Entries: []*rpc.Entry{on(mNote, func(context.Context, *msg) (*msg, error) { w.passed <- time.Now(); return nil, nil })}})
				var log logs
				_, w.p = start(t, rpc.Config{Relay: tt.relay, Logger: log.logger(), Entries: []*rpc.Entry{
					on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
						_, err := w.back.Call(ctx, mEcho, m, nil)
						tt.after(ctx, w)
						return m, err
					}),
				}})
				w.p.request(1, "t/echo", 1)
				w.q.Next()
				begun := time.Now()
				w.q.answer(1, 1)
				w.q.note(1)
				synctest.Wait()
				assert.Equal(t, tt.held > 0, len(w.passed) == 0)
				time.Sleep(tt.held)
				if tt.ends != nil {
					tt.ends(w)
				} else {
					close(w.gate)
				}
				synctest.Wait()
				if w.back.Err() == nil {
					assert.Equal(t, tt.held, (<-w.passed).Sub(begun))
				}
				assert.Equal(t, tt.warns, strings.Contains(log.String(), "keeps messages of another connection waiting"))
				if tt.ends != nil {
					close(w.gate)
				}
			})
		})
	}
}
