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
	"github.com/acpkit/go-sdk/internal/wire"
)

// untilDone is a handler that waits for the end of its ctx.
func untilDone(err func(context.Context) error) handle {
	return func(ctx context.Context, _ *msg) (*msg, error) {
		<-ctx.Done()
		return nil, err(ctx)
	}
}

func TestCancelFromThePeer(t *testing.T) {
	cancelled := `{'jsonrpc':'2.0','id':1,'error':{'code':-32800,'message':'Request cancelled','data':{'requestId':1}}}`
	tests := []struct {
		name string
		err  func(context.Context) error
		want string
	}{
		{"ctx error", func(ctx context.Context) error { return ctx.Err() }, cancelled},
		{"cause", context.Cause, cancelled},
		{"another error", func(context.Context) error { return errors.New("x") },
			`{'jsonrpc':'2.0','id':1,'error':{'code':-32603,'message':'Internal error','data':{'errorId':'ID'}}}`},
		{"a result", func(context.Context) error { return nil }, `{'jsonrpc':'2.0','id':1,'result':{}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				_, p := start(t, rpc.Config{Entries: []*rpc.Entry{on(mEcho, untilDone(tt.err))}})
				p.Send(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':1}}`) // too early: forgotten
				p.request(1, "t/echo", 1)
				synctest.Wait()
				p.Send(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':'1'}}`) // another id
				p.Send(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':1}}`)
				p.ExpectJSON(tt.want)
			})
		})
	}
}

// A cancel does not wait for notifications. A request that was not started yet is never started.
func TestCancelActsWhenRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		gate, started := make(chan struct{}), false
		_, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			echoAfter(gate, mNote),
			on(mEcho, func(context.Context, *msg) (*msg, error) { started = true; return nil, nil }),
			on(mAsk, untilDone(context.Cause)),
		}})
		p.request(1, "t/ask", 1)
		p.note(1)
		p.request(2, "t/echo", 1)
		p.Send(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':2}}`)
		p.Send(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':1}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':2,'error':{'code':-32800,'message':'Request cancelled','data':{'requestId':2}}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'error':{'code':-32800,'message':'Request cancelled','data':{'requestId':1}}}`)
		p.request(2, "t/ask", 1) // the id is free
		close(gate)
		p.Send(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':2}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':2,'error':{'code':-32800,'message':'Request cancelled','data':{'requestId':2}}}`)
		assert.False(t, started)
	})
}

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

func TestGroups(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ev events
		gate := make(chan struct{})
		cancel := ends(rpc.EndsForeground, on(mCancel, func(_ context.Context, m *msg) (*msg, error) { ev.add("cancel %s", m.SessionID); return nil, nil }))
		closing := ends(rpc.EndsAll, on(request("t/close"), func(_ context.Context, m *msg) (*msg, error) { ev.add("close %s", m.SessionID); return m, nil }))
		prompt := ended(on(mPrompt, func(ctx context.Context, m *msg) (*msg, error) {
			ev.add("prompt %d", m.N)
			<-ctx.Done()
			assert.Equal(t, wire.ErrTurnCancelled, context.Cause(ctx))
			switch m.N {
			case 3:
				return &msg{Text: "own"}, nil
			case 2:
				return &msg{Bad: true}, nil
			}
			panic("whatever")
		}))
		_, p := start(t, rpc.Config{Entries: []*rpc.Entry{cancel, closing, prompt,
			echoAfter(gate, mNote),
		}})
		prompt1 := func(id, n int, session string) {
			p.Send(`{'jsonrpc':'2.0','id':%d,'method':'t/prompt','params':{'n':%d,'sessionId':'%s'}}`, id, n, session)
		}
		prompt1(1, 1, "a")
		prompt1(2, 2, "b")
		synctest.Wait()
		p.note(1)
		prompt1(3, 3, "a")
		p.Send(`{'jsonrpc':'2.0','method':'t/cancel','params':{'sessionId':'\u0061'}}`)
		prompt1(4, 4, "a")
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'result':{'text':'cancelled'}}`)
		synctest.Wait()
		assert.ElementsMatch(t, []string{"prompt 1", "prompt 2"}, ev.list())
		close(gate)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':3,'result':{'text':'own'}}`)
		synctest.Wait()
		list := ev.list()[2:]
		assert.Less(t, index(list, "prompt 3"), index(list, "cancel a"))
		assert.Contains(t, list, "prompt 4", "a prompt behind the cancel goes on")
		p.Send(`{'jsonrpc':'2.0','id':9,'method':'t/close','params':{'sessionId':'b'}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':2,'result':{'text':'cancelled'}}`, `{'jsonrpc':'2.0','id':9,'result':{'sessionId':'b'}}`)
		p.Send(`{'jsonrpc':'2.0','method':'t/cancel','params':{'sessionId':'a'}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':4,'result':{'text':'cancelled'}}`)
	})
}

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

func TestHandshake(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ev events
		var c *rpc.Conn
		gate := make(chan error)
		c, p := start(t, rpc.Config{Handshake: "initialize", Entries: []*rpc.Entry{
			on(mInit, func(ctx context.Context, m *msg) (*msg, error) {
				err := <-gate
				if err == nil && m.N == 9 { // may call, whatever is held back
					_, err = c.Call(ctx, mAsk, &msg{}, nil)
				}
				return m, err
			}),
			on(mEcho, func(_ context.Context, m *msg) (*msg, error) { ev.add("echo %d", m.N); return m, nil }),
			on(mNote, func(_ context.Context, m *msg) (*msg, error) { ev.add("note %d", m.N); return nil, nil }),
		}})
		p.note(1) // ignored
		p.request(1, "t/echo", 1)
		p.Send(`{"jsonrpc":"2.0","id":2,"method":"_x"}`)
		assert.Contains(t, p.Next().Raw, `"Invalid request: ACP connection must be initialized before 't/echo'"`)
		assert.Contains(t, p.Next().Raw, `"Invalid request: ACP connection must be initialized before '_x'"`)

		p.request(1, "initialize", 1) // fails
		p.request(2, "t/echo", 2)
		p.note(2)
		p.request(3, "initialize", 9)
		p.note(3)
		p.request(4, "t/echo", 4)
		p.request(5, "t/echo", 5)
		p.Send(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':5}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':5,'error':{'code':-32800,'message':'Request cancelled','data':{'requestId':5}}}`)
		gate <- errors.New("no")
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'error':{'code':-32603,'message':'Internal error','data':{'errorId':'ID'}}}`)
		assert.Contains(t, p.Next().Raw, `"id":2,"error":{"code":-32600`)
		gate <- nil
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'method':'t/ask','params':{}}`)
		p.answer(1, 0)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':3,'result':{'n':9}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':4,'result':{'n':4}}`)
		synctest.Wait()
		assert.Equal(t, []string{"note 3", "echo 4"}, ev.list())
		p.request(6, "initialize", 1) // again: an ordinary request
		p.request(7, "t/echo", 7)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':7,'result':{'n':7}}`)
		gate <- nil
		p.ExpectJSON(`{'jsonrpc':'2.0','id':6,'result':{'n':1}}`)
	})
}

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
