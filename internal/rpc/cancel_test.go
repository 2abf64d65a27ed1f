package rpc_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
)

func TestCallEndsWithItsCtx(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var l logs
		c, p := start(t, rpc.Config{Logger: l.logger()})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		at := make(chan error, 2)
		_, err := c.Call(ctx, mEcho, &msg{}, &rpc.CallOptions{AtResponse: func(err error) { at <- err }})
		require.Equal(t, context.DeadlineExceeded, err)
		require.Equal(t, context.DeadlineExceeded, <-at)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'method':'t/echo','params':{}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':1}}`)
		p.answer(1, 1) // late
		go func() { p.Next(); p.answer(2, 2) }()
		res, err := c.Call(t.Context(), mEcho, &msg{}, nil)
		require.NoError(t, err)
		assert.Equal(t, 2, res.(*msg).N)
		assert.NotContains(t, l.String(), "WARN")
		assert.Empty(t, at)
	})
}

func TestGraceForAResponseAfterCancel(t *testing.T) {
	for _, late := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			c, p := start(t, rpc.Config{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			told := 0
			opts := &rpc.CallOptions{Grace: 10 * time.Second, OnCtxDone: func() {
				told++
				assert.NoError(t, c.Notify(context.WithoutCancel(ctx), mCancel, &msg{}))
			}}
			go func() { // ends with the answer
				p.Next()
				p.ExpectJSON(`{'jsonrpc':'2.0','method':'t/cancel','params':{}}`)
				time.Sleep(9 * time.Second)
				if late {
					time.Sleep(2 * time.Second)
				}
				p.answer(1, 5)
			}()
			res, err := c.Call(ctx, mPrompt, &msg{}, opts)
			if late {
				require.Equal(t, context.DeadlineExceeded, err)
			} else {
				require.NoError(t, err)
				assert.Equal(t, 5, res.(*msg).N)
			}
			assert.Equal(t, 1, told)
			time.Sleep(time.Minute)
		})
	}
}

func TestCancelsAndGroups(t *testing.T) { playFile(t, "cancel.txtar", rpc.Config{}) }

// The handler of a cancel is called after the handler of its prompt was called, whatever middleware
// the prompt passes through. It does not wait until the prompt returns.
func TestPromptIsCalledBeforeItsCancel(t *testing.T) {
	for i := range 400 {
		bubble(t, func(t *testing.T) {
			var ev events
			end := func(context.Context, *msg) (*msg, error) { ev.add("cancel"); return nil, nil }
			cancel, send := on(mCancel, end), `{'jsonrpc':'2.0','method':'t/cancel','params':{'sessionId':'a'}}`
			var own []string
			if i%2 == 1 { // a request does so, too
				cancel, send = on(request("t/close"), end), `{'jsonrpc':'2.0','id':2,'method':'t/close','params':{'sessionId':'a'}}`
				own = []string{`{'jsonrpc':'2.0','id':2,'result':{}}`}
			}
			cancel.Ends = rpc.EndsForeground
			slow, busy := make(chan struct{}), make(chan struct{})
			middleware := func(next rpc.Handler) rpc.Handler {
				return func(ctx context.Context, method string, params any) (any, error) {
					if method == "t/prompt" {
						<-slow
						ev.add("prompt")
					}
					return next(ctx, method, params)
				}
			}
			_, p := start(t, rpc.Config{Receiving: []rpc.Middleware{middleware}, Entries: []*rpc.Entry{cancel,
				ended(on(mPrompt, func(ctx context.Context, _ *msg) (*msg, error) { <-busy; return nil, ctx.Err() })),
			}})
			p.Send(`{'jsonrpc':'2.0','id':1,'method':'t/prompt','params':{'sessionId':'a'}}`)
			p.Send("%s", send)
			synctest.Wait()
			require.Empty(t, ev.list())
			close(slow)
			synctest.Wait()
			require.Equal(t, []string{"prompt", "cancel"}, ev.list())
			p.ExpectJSON(own...)
			close(busy)
			p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'result':{'text':'cancelled'}}`)
		})
	}
}

func TestHandshake(t *testing.T) { playFile(t, "handshake.txtar", rpc.Config{Handshake: "initialize"}) }

// After a handshake that is cancelled before it starts, another one may follow.
func TestHandshakeIsCancelledWhileItWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		gate := make(chan struct{})
		_, p := start(t, rpc.Config{Handshake: "initialize", Limits: rpc.Limits{MaxHandlers: 1}, Entries: []*rpc.Entry{
			on(mInit, func(ctx context.Context, m *msg) (*msg, error) {
				if m.N == 1 {
					rpc.AfterResponse(ctx, func() { <-gate }) // keeps the slot
					return nil, errors.New("no")
				}
				return m, nil
			}),
			echo(mEcho),
		}})
		p.request(1, "initialize", 1)
		p.Next()
		synctest.Wait()
		p.request(2, "initialize", 2)
		p.request(3, "t/echo", 3)
		synctest.Wait()
		p.Send(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':2}}`)
		assert.Contains(t, p.Next().Raw, `"id":2,"error":{"code":-32800`)
		assert.Contains(t, p.Next().Raw, `"id":3,"error":{"code":-32600`)
		close(gate)
		p.request(4, "initialize", 4)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':4,'result':{'n':4}}`)
		p.request(5, "t/echo", 5)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':5,'result':{'n':5}}`)
	})
}

// A caller may cancel its request and still wait for the response.
func TestCallIsCancelledWhileItGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := start(t, rpc.Config{})
		ctx, end := context.WithCancel(t.Context())
		defer end()
		cancels := make(chan func(), 1)
		got := make(chan any, 2)
		go func() { // ends with the response
			res, err := c.Call(ctx, mEcho, &msg{}, &rpc.CallOptions{Cancellable: func(cancel func()) { cancels <- cancel }})
			got <- res
			got <- err
		}()
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'method':'t/echo','params':{}}`)
		cancel := <-cancels
		cancel()
		cancel() // once is enough
		p.ExpectJSON(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':1}}`)
		synctest.Wait()
		assert.Empty(t, got)
		p.answer(1, 5)
		assert.Equal(t, 5, (<-got).(*msg).N)
		assert.Nil(t, <-got)
		cancel() // too late

		go func() { _, err := c.Call(ctx, mEcho, &msg{}, nil); got <- err }() // ends with ctx
		p.ExpectJSON(`{'jsonrpc':'2.0','id':2,'method':'t/echo','params':{}}`)
		end()
		p.ExpectJSON(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':2}}`)
		assert.Equal(t, context.Canceled, <-got)
	})
	bubble(t, func(t *testing.T) { // the end of ctx does not cancel it again
		c, p := start(t, rpc.Config{})
		ctx, end := context.WithCancel(t.Context())
		got := calling(ctx, c, mEcho, &msg{}, &rpc.CallOptions{Cancellable: func(cancel func()) { cancel() }})
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'method':'t/echo','params':{}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':1}}`)
		end()
		assert.Equal(t, context.Canceled, <-got)
		require.NoError(t, c.Notify(t.Context(), mNote, &msg{}))
		p.ExpectJSON(`{'jsonrpc':'2.0','method':'t/note','params':{}}`)
	})
}
