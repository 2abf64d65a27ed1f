package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/rpcerr"
)

func TestResponsesToRequests(t *testing.T) {
	secret := errors.New("secret /home/user")
	invalidAnswer := `{'jsonrpc':'2.0','id':1,'error':{'code':-32603,'message':'Internal error','data':{'errorId':'ID'}}}`
	tests := []struct {
		name   string
		handle handle
		want   string
	}{
		{"nothing", func(context.Context, *msg) (*msg, error) { return nil, nil }, `{'jsonrpc':'2.0','id':1,'result':{}}`},
		{"an error", func(context.Context, *msg) (*msg, error) { return nil, secret }, invalidAnswer},
		{"an error of the protocol", func(context.Context, *msg) (*msg, error) {
			return nil, fmt.Errorf("wrapped: %w", rpcerr.New(-32001, "custom", map[string]any{"k": "v"}))
		}, `{'jsonrpc':'2.0','id':1,'error':{'code':-32001,'message':'custom','data':{'k':'v'}}}`},
		{"data that cannot be encoded", func(context.Context, *msg) (*msg, error) {
			return nil, rpcerr.New(7, "custom", func() {})
		}, `{'jsonrpc':'2.0','id':1,'error':{'code':7,'message':'custom'}}`},
		{"a panic", func(context.Context, *msg) (*msg, error) { panic("secret") }, invalidAnswer},
		{"Goexit", func(context.Context, *msg) (*msg, error) { runtime.Goexit(); return nil, nil }, invalidAnswer},
		{"an unencodable result", func(context.Context, *msg) (*msg, error) { return &msg{Bad: true}, nil }, invalidAnswer},
		{"an invalid result", func(context.Context, *msg) (*msg, error) { return &msg{N: -1}, nil }, invalidAnswer},
		{"the end of some ctx", func(context.Context, *msg) (*msg, error) { return nil, context.Canceled }, invalidAnswer},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var l logs
				_, p := start(t, rpc.Config{Logger: l.logger(), Entries: []*rpc.Entry{
					on(mEcho, tt.handle),
					on(mNote, tt.handle),
					echo(mAsk),
				}})
				p.note(1) // the same in a notification must not stop the others
				p.note(2)
				p.request(1, "t/echo", 1)
				p.ExpectJSON(tt.want)
				p.request(2, "t/ask", 3)
				p.ExpectJSON(`{'jsonrpc':'2.0','id':2,'result':{'n':3}}`)
				if tt.name == "a panic" {
					assert.Contains(t, l.String(), "handlers_test.go", "the stack is in the log")
				}
			})
		})
	}
}

// Goroutines serve one request after the other. No request waits for the handler of another one, whether
// that returns, waits for requests which were read later, or ends its goroutine.
func TestHandlersDoNotWaitForEachOther(t *testing.T) {
	const n = 40
	for range 20 {
		bubble(t, func(t *testing.T) {
			var called sync.WaitGroup
			called.Add(n)
			_, p := start(t, rpc.Config{Entries: []*rpc.Entry{on(mEcho, func(_ context.Context, m *msg) (*msg, error) {
				called.Done()
				switch m.N {
				case 1:
					called.Wait()
				case 2:
					runtime.Goexit()
				}
				return m, nil
			})}})
			kinds, batch := make([]int, n), make([]string, n)
			for id := range n {
				kinds[id] = rand.IntN(4)
				batch[id] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"t/echo","params":{"n":%d}}`, id, kinds[id])
			}
			p.SendBatch(batch...)
			for range n {
				m := p.Next()
				id, err := strconv.Atoi(string(m.ID))
				require.NoError(t, err)
				assert.Equal(t, kinds[id] == 2, m.Result == nil)
				kinds[id] = -1 // answered
			}
			assert.Equal(t, slices.Repeat([]int{-1}, n), kinds)
		})
	}
}

func TestExposeErrors(t *testing.T) {
	bubble(t, func(t *testing.T) {
		_, p := start(t, rpc.Config{ExposeErrors: true, Entries: []*rpc.Entry{on(mEcho, func(context.Context, *msg) (*msg, error) { return nil, errors.New("boom") })}})
		p.request(1, "t/echo", 1)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'error':{'code':-32603,'message':'Internal error','data':{'errorId':'ID','details':'boom'}}}`)
	})
}

type loggedError struct{ error }

func (loggedError) Logged() bool    { return true }
func (e loggedError) Unwrap() error { return e.error }

// The cause of an internal error is logged once.
func TestCausesAreLogged(t *testing.T) {
	secret := errors.New("secret")
	for name, c := range map[string]struct {
		err    error
		logged bool
	}{
		"plain":                 {secret, true},
		"cause":                 {fmt.Errorf("w: %w", rpcerr.InternalError(nil).WithDetail("sorry").WithCause(secret)), true},
		"nothing inside":        {rpcerr.InternalError(nil), false},
		"not the agent's fault": {rpcerr.InvalidParams(nil).WithCause(secret), false},
		"logged before":         {loggedError{rpcerr.InternalError(nil).WithCause(secret)}, false},
		"plain, logged before":  {loggedError{secret}, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var l logs
				_, p := start(t, rpc.Config{Logger: l.logger(), Entries: []*rpc.Entry{on(mEcho, func(context.Context, *msg) (*msg, error) { return nil, c.err })}})
				p.request(1, "t/echo", 1)
				p.Next()
				assert.Equal(t, c.logged, strings.Contains(l.String(), "secret"), l.String())
				assert.Equal(t, c.logged, l.String() != "", l.String())
			})
		})
	}
}

func TestMiddleware(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ev events
		trace := func(name string) rpc.Middleware {
			return func(next rpc.Handler) rpc.Handler {
				return func(ctx context.Context, method string, params any) (any, error) {
					ev.add("%s %s %T", name, method, params)
					return next(ctx, method, params)
				}
			}
		}
		retry := func(next rpc.Handler) rpc.Handler {
			return func(ctx context.Context, method string, params any) (any, error) {
				res, err := next(ctx, method, params)
				if errors.Is(err, rpcerr.ErrAuthRequired) {
					return next(ctx, method, params)
				}
				return res, err
			}
		}
		c, p := start(t, rpc.Config{
			Receiving: []rpc.Middleware{trace("r1"), trace("r2")},
			Sending:   []rpc.Middleware{trace("s1"), retry},
			Extension: func(context.Context, string, json.RawMessage) (any, error) { return 1, nil },
			Entries: []*rpc.Entry{
				echo(mEcho),
				ignore(mNote),
			},
		})
		p.note(1)
		p.request(1, "t/echo", 2)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'result':{'n':2}}`)
		p.request(2, "_x", 2)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':2,'result':1}`)
		synctest.Wait()
		assert.Equal(t, []string{"r1 t/note *rpc_test.msg", "r2 t/note *rpc_test.msg", "r1 t/echo *rpc_test.msg", "r2 t/echo *rpc_test.msg",
			"r1 _x json.RawMessage", "r2 _x json.RawMessage"}, ev.list())

		go func() { // ends at once
			p.Next()
			p.Send(`{'jsonrpc':'2.0','id':1,'error':{'code':-32000,'message':'no'}}`)
			p.Next()
			p.answer(2, 5)
		}()
		at := 0
		res, err := c.Call(t.Context(), mEcho, &msg{}, &rpc.CallOptions{AtResponse: func(err error) { at++; assert.NoError(t, err) }})
		require.NoError(t, err)
		assert.Equal(t, 5, res.(*msg).N)
		assert.Equal(t, 1, at)
		require.NoError(t, c.Notify(t.Context(), mNote, &msg{N: 1}))
		p.ExpectJSON(`{'jsonrpc':'2.0','method':'t/note','params':{'n':1}}`)
	})
}
