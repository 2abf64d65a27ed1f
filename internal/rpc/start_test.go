package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
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

// hooked is a ctx that counts what waits for its end, and calls hook when something
// begins to.
type hooked struct {
	context.Context
	hook    func()
	waiting int
}

func (h *hooked) Done() <-chan struct{} { return make(chan struct{}) }

func (h *hooked) AfterFunc(func()) (stop func() bool) {
	h.waiting++
	h.hook()
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

// A Conn can be used before it is configured: all methods but Done return an error.
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

func TestStrictIDs(t *testing.T) {
	playFile(t, "ids.txtar", rpc.Config{Handshake: "initialize", StrictIDs: true})
}

// recorded are entries that record notifications.
func recorded(ev *events) []*rpc.Entry {
	return []*rpc.Entry{echo(mEcho), on(mNote, func(_ context.Context, m *msg) (*msg, error) { ev.add("note %d", m.N); return nil, nil })}
}

// If the call negotiates, the calling end holds the messages that it reads meanwhile.
func TestCallThatNegotiates(t *testing.T) {
	for name, tt := range map[string]struct {
		negotiates bool
		answer     string
		cancel     bool
		want       []string
	}{
		"succeeds":        {true, `'result':{'n':2}`, false, []string{"called", "note 1", "note 2"}},
		"fails":           {true, `'error':{'code':1,'message':'no'}`, false, []string{"called", "note 1", "note 2"}},
		"is given up":     {true, ``, true, []string{"called", "note 1", "note 2"}},
		"is no handshake": {false, `'result':{'n':2}`, false, []string{"note 1", "called", "note 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var ev events
				c, p := start(t, rpc.Config{Entries: recorded(&ev)})
				ctx, cancel := context.WithCancel(t.Context())
				called := make(chan error, 1)
				go func() { // ends with the response
					_, err := c.Call(ctx, mInit, &msg{}, &rpc.CallOptions{
						Negotiates: tt.negotiates,
						AtResponse: func(error) { ev.add("called") },
					})
					called <- err
				}()
				p.Next()
				p.note(1)
				p.request(9, "t/echo", 0)
				synctest.Wait()
				if tt.cancel {
					cancel()
					require.ErrorIs(t, <-called, context.Canceled)
					synctest.Wait()
				} else {
					p.Send(`{'jsonrpc':'2.0','id':1,%s}`, tt.answer)
					<-called
				}
				p.note(2)
				synctest.Wait()
				assert.Equal(t, tt.want, ev.list())
				cancel()
			})
		})
	}
}

// A connection that ends meanwhile leaves no goroutine and no message.
func TestConnectionEndsWhileACallNegotiates(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ev events
		c, p := start(t, rpc.Config{Entries: recorded(&ev)})
		called := calling(t.Context(), c, mInit, &msg{}, &rpc.CallOptions{Negotiates: true})
		p.Next()
		p.note(1)
		p.request(9, "t/echo", 0)
		p.Close()
		require.Error(t, <-called)
		require.NoError(t, c.Wait())
		assert.Equal(t, []string{"note 1"}, ev.list(), "it was read before the end")
	})
}

// Handlers of extensions pass on every id, result and error byte for byte.
func TestExtensionsAreForwardedUnchanged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		back, q := start(t, rpc.Config{})
		_, p := start(t, rpc.Config{
			Extension: func(ctx context.Context, method string, params json.RawMessage) (any, error) {
				return back.CallExtension(ctx, method, params)
			},
			ExtensionNotification: func(ctx context.Context, method string, params json.RawMessage) error {
				return back.NotifyExtension(ctx, method, params)
			},
		})
		for n, tt := range []struct{ id, answer string }{
			{`null`, `"result":{ "b":1,"a":1.50, "a":"\u0041" }`},
			{`1.5`, `"result":null`},
			{`"x"`, `"error":{ "message":"no","code":-7,"data":{ "x":[] },"extra":1 }`},
		} {
			method := []string{"_a", "_b", "c"}[n]
			p.Send("%s", `{"jsonrpc":"2.0","id":`+tt.id+`,"method":"`+method+`","params":{ "z":1 }}`)
			assert.Equal(t, `{"jsonrpc":"2.0","id":`+strconv.Itoa(n+1)+`,"method":"`+method+`","params":{ "z":1 }}`, q.Next().Raw)
			q.Send("%s", `{"jsonrpc":"2.0","id":`+strconv.Itoa(n+1)+`,`+tt.answer+`}`)
			assert.Equal(t, `{"jsonrpc":"2.0","id":`+tt.id+`,`+tt.answer+`}`, p.Next().Raw)
		}
		p.Send("%s", `{"jsonrpc":"2.0","method":"_n","params":[ 1 ]}`)
		assert.Equal(t, `{"jsonrpc":"2.0","method":"_n","params":[ 1 ]}`, q.Next().Raw)

		// A cancel follows its request, under the id that the request has there.
		p.Send(`{'jsonrpc':'2.0','id':'slow','method':'_a'}`)
		assert.Contains(t, q.Next().Raw, `"id":4`)
		p.Send(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':'slow'}}`)
		q.ExpectJSON(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':4}}`)
		assert.Contains(t, p.Next().Raw, `"id":"slow","error":{"code":-32800`)
	})
}

// Callers can match a raw error.
func TestRawError(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := start(t, rpc.Config{})
		go func() { // ends with the call
			p.Next()
			p.Send(`{'jsonrpc':'2.0','id':1,'error':{'code':-32000,'message':'log in'}}`)
		}()
		_, err := c.CallExtension(t.Context(), "_x", nil)
		var rawErr *rpc.RawError
		require.ErrorAs(t, err, &rawErr)
		assert.JSONEq(t, `{"code":-32000,"message":"log in"}`, string(rawErr.Raw))
		require.ErrorIs(t, err, rpcerr.ErrAuthRequired)
	})
}
