package rpc_test

import (
	"context"
	"errors"
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

// When Close fails an expectation, its callback can no longer send anything to the peer:
// the connection has already ended.
func TestCloseSendsNothingOfWhatItFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := start(t, rpc.Config{})
		failed := make(chan error, 1)
		_, err := c.Expect(mPrompt, "s", func(error) { failed <- c.Notify(context.Background(), mNote, &msg{}) })
		require.NoError(t, err)
		require.NoError(t, c.Close())
		require.ErrorIs(t, <-failed, wire.ErrClosed)
		_, more := p.Recv()
		assert.False(t, more, "the stream has ended")
	})
}

func TestClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ended := make(chan error, 1)
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return m, nil
			}),
		}})
		pending := calling(t.Context(), c, mAsk, &msg{}, nil)
		p.Next()
		p.request(1, "t/echo", 1)
		synctest.Wait()
		for range 50 {
			require.NoError(t, c.Notify(t.Context(), mNote, &msg{N: 1}))
		}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { assert.NoError(t, c.Close()) })
		}
		wg.Wait()
		require.ErrorIs(t, <-pending, wire.ErrClosed)
		require.ErrorIs(t, <-ended, wire.ErrClosed)
		require.NoError(t, c.Wait())
		require.NoError(t, c.Close())
		for range 50 {
			assert.Contains(t, p.Next().Raw, "t/note", "what was accepted is written")
		}
		_, err := c.Call(t.Context(), mAsk, &msg{}, nil)
		require.ErrorIs(t, err, wire.ErrClosed)
		require.ErrorIs(t, c.Notify(t.Context(), mNote, &msg{}), wire.ErrClosed)
		require.ErrorIs(t, c.Start(t.Context()), wire.ErrClosed)
		<-c.Done()
	})
}

func TestFlushGrace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, _ := stream.Pipe()
		s := &held{Stream: near, gate: make(chan struct{})}
		c := startOn(t, rpc.Config{Stream: s})
		require.NoError(t, c.Notify(t.Context(), mNote, &msg{N: 1}))
		begun := time.Now()
		require.NoError(t, c.Close())
		assert.Equal(t, 2*time.Second, time.Since(begun))
		require.NoError(t, c.Wait())
	})
}

// A response that was read reaches its caller, even behind a handler that hangs.
func TestCloseKeepsResponsesThatWereRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{on(mNote, func(context.Context, *msg) (*msg, error) { time.Sleep(3 * time.Second); return nil, nil })}})
		at := make(chan error, 2)
		answered := calling(t.Context(), c, mAsk, &msg{}, &rpc.CallOptions{AtResponse: func(err error) { at <- err }})
		p.Next()
		pending := calling(t.Context(), c, mEcho, &msg{}, nil)
		p.Next()
		p.note(1)
		p.answer(1, 1)
		synctest.Wait()
		begun := time.Now()
		require.NoError(t, c.Close())
		require.NoError(t, <-answered)
		require.NoError(t, <-at)
		require.ErrorIs(t, <-pending, wire.ErrClosed)
		assert.Zero(t, time.Since(begun))
		require.NoError(t, c.Wait())
		assert.Empty(t, at)
	})
}

func TestStuckHandlers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		gate := make(chan struct{})
		hang := func(context.Context, *msg) (*msg, error) { <-gate; return nil, nil }
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{on(mNote, hang), on(mEcho, hang), on(mAsk, hang)}})
		p.request(1, "t/ask", 1)
		p.request(2, "t/echo", 1)
		p.request(3, "t/echo", 1)
		p.note(1)
		synctest.Wait()
		begun := time.Now()
		require.NoError(t, c.Close())
		assert.Zero(t, time.Since(begun))
		err := c.Wait()
		assert.Equal(t, 5*time.Second, time.Since(begun))
		require.ErrorIs(t, err, wire.ErrHandlerStuck)
		require.EqualError(t, err, "acp: handler did not return: t/ask, t/echo, t/note")
		close(gate)
	})
}

func TestShutdown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var c *rpc.Conn
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
				time.Sleep(time.Second)
				_, err := c.Call(ctx, mAsk, m, nil) // still allowed
				return m, err
			}),
		}})
		pending := calling(t.Context(), c, mAsk, &msg{}, nil)
		p.Next()
		p.request(1, "t/echo", 1)
		synctest.Wait()
		down := make(chan error, 1)
		go func() { down <- c.Shutdown(context.Background()) }() // ends with the connection
		synctest.Wait()
		p.request(2, "t/echo", 2)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':2,'error':{'code':-32603,'message':'Internal error: connection is shutting down'}}`)
		_, err := c.Call(t.Context(), mAsk, &msg{}, nil)
		require.ErrorIs(t, err, wire.ErrClosed)
		p.Next()
		p.answer(2, 1)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'result':{'n':1}}`)
		time.Sleep(time.Minute)
		assert.Empty(t, down, "a call of ours is not over")
		p.answer(1, 1)
		require.NoError(t, <-pending)
		require.NoError(t, <-down)
		p.ExpectEnd()
	})
	bubble(t, func(t *testing.T) {
		c, p := start(t, rpc.Config{})
		pending := calling(t.Context(), c, mAsk, &msg{}, nil)
		p.Next()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Equal(t, context.DeadlineExceeded, c.Shutdown(ctx))
		require.ErrorIs(t, <-pending, wire.ErrClosed)
	})
}

// Wait waits for work that a handler has left behind, and names what does not end.
func TestWaitNamesLingeringWork(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var long func()
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
				time.AfterFunc(time.Second, rpc.Linger(ctx))
				return m, nil
			}),
			on(mAsk, func(ctx context.Context, m *msg) (*msg, error) { long = rpc.Linger(ctx); return m, nil }),
		}})
		p.request(1, "t/echo", 1)
		p.Next()
		p.request(2, "t/ask", 1)
		p.Next()
		require.NoError(t, c.Close())
		err := c.Wait()
		require.ErrorIs(t, err, wire.ErrHandlerStuck)
		assert.EqualError(t, err, wire.ErrHandlerStuck.Error()+": t/ask")
		long()
		long()
	})
}

// A stream with Features.CloseFor receives the reason why the connection
// ends.
func TestReasonOfClose(t *testing.T) {
	blocked := []*rpc.Entry{on(mNote, func(ctx context.Context, _ *msg) (*msg, error) { <-ctx.Done(); return nil, nil })}
	for name, tt := range map[string]struct {
		limits  rpc.Limits
		blocked bool // writes wait
		end     func(t *testing.T, c *rpc.Conn, s *held, far peer, stop context.CancelFunc)
		want    []stream.Reason // none: the stream is closed without one
	}{
		"Close": {end: func(_ *testing.T, c *rpc.Conn, _ *held, _ peer, _ context.CancelFunc) { _ = c.Close() }},
		"Shutdown": {end: func(t *testing.T, c *rpc.Conn, _ *held, _ peer, _ context.CancelFunc) {
			_ = c.Shutdown(t.Context())
		}},
		"ctx": {end: func(_ *testing.T, _ *rpc.Conn, _ *held, _ peer, stop context.CancelFunc) { stop() }},
		"end of input": {end: func(_ *testing.T, _ *rpc.Conn, _ *held, far peer, _ context.CancelFunc) {
			far.Close()
		}},
		"too much is unhandled": {
			limits: rpc.Limits{Backlog: 10_000, MaxBacklog: 20_000},
			end: func(t *testing.T, c *rpc.Conn, _ *held, far peer, _ context.CancelFunc) {
				go func() { _, _ = c.Call(t.Context(), mEcho, &msg{}, nil) }() // ends with the connection
				far.Next()
				for range 50 {
					if far.Write([]byte(bigNote)) != nil {
						break
					}
				}
			},
			want: []stream.Reason{stream.ReasonLimit},
		},
		"the peer does not read": {
			limits: rpc.Limits{SendQueue: 1000}, blocked: true,
			end: func(t *testing.T, c *rpc.Conn, _ *held, _ peer, _ context.CancelFunc) {
				for c.Notify(t.Context(), mNote, &msg{N: 1}) == nil {
				}
			},
			want: []stream.Reason{stream.ReasonLimit},
		},
		"writing fails": {
			end: func(t *testing.T, c *rpc.Conn, s *held, _ peer, _ context.CancelFunc) {
				s.fail(errors.New("broken"))
				_ = c.Notify(t.Context(), mNote, &msg{N: 1})
			},
			want: []stream.Reason{stream.ReasonFailure},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				near, far := stream.Pipe()
				s := &held{Stream: near, gate: make(chan struct{})}
				var why []stream.Reason // the connection closes its stream once
				if !tt.blocked {
					close(s.gate)
				}
				told := &fake{Stream: s, features: stream.Features{CloseFor: func(r stream.Reason) error { why = append(why, r); return s.Close() }}}
				c := newConn(rpc.Config{Stream: told, Entries: blocked, Limits: tt.limits, Logger: new(logs).logger()})
				ctx, stop := context.WithCancel(context.Background())
				defer stop()
				assert.NoError(t, c.Start(ctx))
				tt.end(t, c, s, newPeer(t, far), stop)
				_ = c.Wait()
				synctest.Wait()
				assert.Equal(t, tt.want, why)
				_ = far.Close()
			})
		})
	}
}
