package rpc_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

func TestContextOfStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, _ := stream.Pipe()
		c := newConn(rpc.Config{Stream: near})
		ctx, cancel := context.WithCancelCause(t.Context())
		require.NoError(t, c.Start(ctx))
		require.ErrorContains(t, c.Start(ctx), "already started")
		pending := calling(t.Context(), c, mAsk, &msg{}, nil)
		synctest.Wait()
		why := errors.New("why")
		cancel(why)
		require.ErrorIs(t, <-pending, wire.ErrClosed)
		require.Equal(t, why, c.Wait())
	})
}

// A connection that is closed while it starts does not stay in memory as long as the ctx.
func TestCloseDuringStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, _ := stream.Pipe()
		c := newConn(rpc.Config{Stream: near})
		ctx := &hooked{Context: t.Context(), hook: func() { c.Close() }}
		require.NoError(t, c.Start(ctx))
		require.NoError(t, c.Wait())
		assert.Zero(t, ctx.waiting)
	})
}

// hooked is a ctx that counts what waits for its end, and calls hook when the second
// begins to.
type hooked struct {
	context.Context
	hook             func()
	waiting, waiters int
}

func (h *hooked) Done() <-chan struct{} { return make(chan struct{}) }

func (h *hooked) AfterFunc(func()) (stop func() bool) {
	h.waiting++
	if h.waiters++; h.waiters == 2 {
		h.hook()
	}
	return func() bool { h.waiting--; return true }
}

func TestBeforeStart(t *testing.T) {
	near, far := stream.Pipe()
	c := newConn(rpc.Config{Stream: near})
	_, err := c.Call(t.Context(), mAsk, &msg{}, nil)
	require.ErrorContains(t, err, "not started")
	require.ErrorContains(t, c.Notify(t.Context(), mNote, &msg{}), "not started")
	require.ErrorContains(t, c.Wait(), "not started")
	require.ErrorContains(t, c.Shutdown(t.Context()), "not started")
	require.NoError(t, c.Err())
	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	require.NoError(t, c.Wait())
	require.ErrorIs(t, c.Start(t.Context()), wire.ErrClosed)
	_, err = far.Read()
	require.ErrorIs(t, err, io.EOF)

	wrong := errors.New("wrong")
	c = newConn(rpc.Config{Err: wrong})
	at := error(nil)
	_, err = c.Call(t.Context(), mAsk, &msg{}, &rpc.CallOptions{AtResponse: func(err error) { at = err }})
	require.Equal(t, wrong, err)
	require.Equal(t, wrong, at)
	require.Equal(t, wrong, c.Start(t.Context()))
	require.Equal(t, wrong, c.Wait())
	require.NoError(t, c.Close())
	require.Error(t, newConn(rpc.Config{}).Start(t.Context()))
}

// A Conn can be handed out before it is configured: it refuses all but Done.
func TestBeforeConfigure(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := new(rpc.Conn)
		done := c.Done()
		_, err := c.Call(t.Context(), mAsk, &msg{}, nil)
		at := make(chan error, 1)
		_, same := c.Call(t.Context(), mAsk, &msg{}, &rpc.CallOptions{AtResponse: func(err error) { at <- err }})
		_, raw := c.CallExtension(t.Context(), "_x", nil)
		for _, err := range []error{
			err, same, <-at, raw, c.Notify(t.Context(), mNote, &msg{}), c.NotifyExtension(t.Context(), "_x", nil),
			c.Start(t.Context()), c.Wait(), c.Shutdown(t.Context()),
		} {
			require.ErrorContains(t, err, "not ready")
		}
		require.NoError(t, c.Err())
		require.NoError(t, c.Close())
		assert.False(t, c.Started())
		near, _ := stream.Pipe()
		c.Configure(rpc.Config{Stream: near})
		require.NoError(t, c.Start(t.Context()))
		assert.True(t, c.Started())
		require.NoError(t, c.Close())
		<-done
		require.NoError(t, c.Wait())
	})
}

// An idle connection is small.
func TestIdleCost(t *testing.T) {
	const n = 200
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	g := runtime.NumGoroutine()
	conns := make([]*rpc.Conn, 2*n)
	for i := 0; i < 2*n; i += 2 {
		a, b := both(t, rpc.Config{Entries: []*rpc.Entry{echo(mEcho)}}, rpc.Config{})
		_, err := b.Call(t.Context(), mEcho, &msg{}, nil)
		require.NoError(t, err)
		conns[i], conns[i+1] = a, b
	}
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / (2 * n)
	t.Logf("%d bytes and %.1f goroutines each", each, float64(runtime.NumGoroutine()-g)/(2*n))
	assert.Less(t, each, int64(32<<10))
	assert.LessOrEqual(t, runtime.NumGoroutine()-g, 4*2*n)
	runtime.KeepAlive(conns)
}
