package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/proxy"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

const (
	ask    = `{"jsonrpc":"2.0","id":1,"method":"ask","params":{"n":1}}`
	cancel = `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`
)

// with runs a test against a proxy with one middleware for the client's messages.
func with(t *testing.T, m proxy.Middleware, test func(t *testing.T, p *proxy.Proxy, client, agent *testEnd)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		p, client, agent := start(t, &proxy.Options{FromClient: []proxy.Middleware{nil, m}})
		test(t, p, client, agent)
	})
}

// eachWay runs a test in a bubble for messages that pass as they are, and for those that a middleware
// handles.
func eachWay(t *testing.T, test func(t *testing.T, m []proxy.Middleware)) {
	for name, m := range map[string][]proxy.Middleware{"raw": nil, "middleware": {watching}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				test(t, m)
			})
		})
	}
}

func TestMiddlewareRewrites(t *testing.T) {
	rewrite := func(next proxy.Handler) proxy.Handler {
		return func(ctx context.Context, m *proxy.Message) (json.RawMessage, error) {
			switch m.Method {
			case "ask":
				assert.Equal(t, json.RawMessage(`1`), m.ID)
				assert.Equal(t, json.RawMessage(`{"n":1}`), m.Params)
				m.Method, m.Params = "asked", json.RawMessage(`[2]`)
				res, err := next(ctx, m)
				assert.Equal(t, json.RawMessage(`"three"`), res)
				return json.RawMessage(`4`), err
			case "tell":
				assert.Nil(t, m.ID)
				m.Params = nil
			case "fail":
				_, err := next(ctx, m)
				assert.ErrorIs(t, err, rpcerr.ErrAuthRequired)
				var said *proxy.Error
				assert.ErrorAs(t, err, &said)
				return nil, rpcerr.InvalidParams(map[string]int{"a": 1})
			}
			return next(ctx, m)
		}
	}
	with(t, rewrite, func(t *testing.T, _ *proxy.Proxy, client, agent *testEnd) {
		client.send(ask)
		assert.Equal(t, `{"jsonrpc":"2.0","id":1,"method":"asked","params":[2]}`, agent.receive())
		agent.send(`{"jsonrpc":"2.0","id":1,"result":"three"}`)
		assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":4}`, client.receive())
		client.send(`{"jsonrpc":"2.0","method":"tell","params":{}}`)
		assert.Equal(t, `{"jsonrpc":"2.0","method":"tell"}`, agent.receive())
		client.send(`{"jsonrpc":"2.0","id":"f","method":"fail"}`)
		assert.Equal(t, `{"jsonrpc":"2.0","id":"f","method":"fail"}`, agent.receive())
		agent.send(`{"jsonrpc":"2.0","id":"f","error":{"code":-32000,"message":"log in"}}`)
		assert.Equal(t, `{"jsonrpc":"2.0","id":"f","error":{"code":-32602,"message":"Invalid params","data":{"a":1}}}`, client.receive())
	})
}

func TestMiddlewareRespondsByItself(t *testing.T) {
	for name, tt := range map[string]struct {
		handle proxy.Handler
		want   string
		log    string
	}{
		"result":    {func(context.Context, *proxy.Message) (json.RawMessage, error) { return json.RawMessage(`{"a":1}`), nil }, `"result":{"a":1}`, ""},
		"no result": {func(context.Context, *proxy.Message) (json.RawMessage, error) { return nil, nil }, `"result":null`, ""},
		"error of the protocol": {func(context.Context, *proxy.Message) (json.RawMessage, error) {
			return nil, rpcerr.MethodNotFound("ask")
		}, `"error":{"code":-32601,"message":"Method not found: ask","data":{"method":"ask"}}`, ""},
		"raw error": {func(context.Context, *proxy.Message) (json.RawMessage, error) {
			return nil, &proxy.Error{Raw: json.RawMessage(`{"message":"m","code":7,"x":1}`)}
		}, `"error":{"message":"m","code":7,"x":1}`, ""},
		"other error": {func(context.Context, *proxy.Message) (json.RawMessage, error) { return nil, errors.New("secret") },
			`"error":{"code":-32603,"message":"Internal error","data":{"errorId":"ID"}}`, "secret"},
		"not JSON": {func(context.Context, *proxy.Message) (json.RawMessage, error) { return json.RawMessage(`{`), nil },
			`"error":{"code":-32603,"message":"Internal error","data":{"errorId":"ID"}}`, "not JSON"},
		"panic": {func(context.Context, *proxy.Message) (json.RawMessage, error) { panic("oh") },
			`"error":{"code":-32603,"message":"Internal error","data":{"errorId":"ID"}}`, "panic=oh"},
		"exit": {func(context.Context, *proxy.Message) (json.RawMessage, error) { runtime.Goexit(); return nil, nil },
			`"error":{"code":-32603,"message":"Internal error","data":{"errorId":"ID"}}`, "ended its goroutine"},
		"typed nil": {func(context.Context, *proxy.Message) (json.RawMessage, error) { var err *fs.PathError; return nil, err },
			`"error":{"code":-32603,"message":"Internal error","data":{"errorId":"ID"}}`, "whose methods fail"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				var log bytes.Buffer
				only := func(next proxy.Handler) proxy.Handler {
					return func(ctx context.Context, m *proxy.Message) (json.RawMessage, error) {
						if m.Method == "ask" {
							return tt.handle(ctx, m)
						}
						return next(ctx, m)
					}
				}
				_, client, agent := start(t, &proxy.Options{
					FromClient: []proxy.Middleware{only}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
				})
				for range 2 { // the id is free again
					client.send(ask)
					heard := rawpeer.NameErrorIDs(client.receive())
					assert.Equal(t, `{"jsonrpc":"2.0","id":1,`+tt.want+`}`, heard)
				}
				client.send(`{"jsonrpc":"2.0","method":"go on"}`)
				assert.Contains(t, agent.receive(), "go on", "nothing was passed on before")
				if tt.log == "" {
					assert.Empty(t, log.String())
				} else {
					assert.Contains(t, log.String(), tt.log)
				}
			})
		})
	}
}

func TestCancelFollowsItsRequest(t *testing.T) {
	eachWay(t, func(t *testing.T, m []proxy.Middleware) {
		_, client, agent := start(t, &proxy.Options{FromClient: m})
		client.send(ask)
		client.send(cancel)
		assert.Equal(t, ask, agent.receive())
		assert.Equal(t, cancel, agent.receive())
		const late = `{"jsonrpc":"2.0","id":1,"result":"all the same"}`
		agent.send(late)
		assert.Equal(t, late, client.receive(), "the response is the agent's")
		client.send(cancel)
		assert.Equal(t, cancel, agent.receive(), "a late one passes too")
	})
}

// A cancel that is read after the other end has responded passes unchanged, both while the
// middleware still has the response and right after that.
func TestCancelAfterTheResponse(t *testing.T) {
	const (
		response = `{"jsonrpc":"2.0","id":1,"result":2}`
		next     = `{"jsonrpc":"2.0","method":"next"}`
	)
	t.Run("in the middleware", func(t *testing.T) {
		var goOn chan struct{} // must be made in the bubble
		slow := func(next proxy.Handler) proxy.Handler {
			return func(ctx context.Context, m *proxy.Message) (json.RawMessage, error) {
				res, err := next(ctx, m)
				if m.Method == "ask" {
					<-goOn
				}
				return res, err
			}
		}
		with(t, slow, func(t *testing.T, _ *proxy.Proxy, client, agent *testEnd) {
			goOn = make(chan struct{})
			client.send(ask)
			assert.Equal(t, ask, agent.receive())
			agent.send(response)
			synctest.Wait()
			client.send(cancel)
			client.send(next)
			assert.Equal(t, cancel, agent.receive())
			assert.Equal(t, next, agent.receive())
			close(goOn)
			assert.Equal(t, response, client.receive())
		})
	})
	byItself := func(proxy.Handler) proxy.Handler {
		return func(ctx context.Context, _ *proxy.Message) (json.RawMessage, error) {
			proxy.Release(ctx)
			return json.RawMessage(`2`), nil
		}
	}
	for name, m := range map[string]proxy.Middleware{"after": watching, "after one of the middleware": byItself} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				sent, gone := make(chan struct{}), make(chan struct{})
				var client, agent *testEnd
				goOn := func() { // the client continues before the write of the response returns
					<-sent // a stream has one writer at a time
					assert.Equal(t, response, client.receive())
					client.send(cancel)
					synctest.Wait()
					close(gone)
				}
				only := func(next proxy.Handler) proxy.Handler {
					return func(ctx context.Context, msg *proxy.Message) (json.RawMessage, error) {
						if msg.Method == "ask" {
							return m(next)(ctx, msg)
						}
						return next(ctx, msg)
					}
				}
				_, client, agent = startOver(t, &proxy.Options{FromClient: []proxy.Middleware{only}}, func(s stream.Stream) stream.Stream {
					return &hooked{Stream: s, write: func(msg []byte) error { err := s.Write(msg); goOn(); return err }}
				}, unchanged)
				client.send(ask)
				close(sent)
				if name == "after" {
					assert.Equal(t, ask, agent.receive())
					agent.send(response)
				}
				<-gone
				client.send(next)
				assert.Equal(t, cancel, agent.receive())
				assert.Equal(t, next, agent.receive())
			})
		})
	}
}

// A request that is cancelled before it was passed on is never passed on.
func TestCancelInMiddleware(t *testing.T) {
	begun := make(chan struct{}, 1)
	slow := func(next proxy.Handler) proxy.Handler {
		return func(ctx context.Context, m *proxy.Message) (json.RawMessage, error) {
			if m.Method == "ask" {
				proxy.Release(ctx)
				begun <- struct{}{}
				<-ctx.Done()
			}
			return next(ctx, m)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		begun = make(chan struct{}, 1)
		_, client, agent := start(t, &proxy.Options{FromClient: []proxy.Middleware{slow}})
		client.send(ask)
		<-begun
		client.send(cancel)
		assert.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"Request cancelled"}}`, client.receive())
		client.send(`{"jsonrpc":"2.0","method":"next"}`)
		assert.Contains(t, agent.receive(), "next")
	})
}

// A middleware may pass a request on again. A cancel cancels the last attempt.
func TestMiddlewareTriesAgain(t *testing.T) {
	again := func(next proxy.Handler) proxy.Handler {
		return func(ctx context.Context, m *proxy.Message) (json.RawMessage, error) {
			res, err := next(ctx, m)
			if errors.Is(err, rpcerr.ErrAuthRequired) {
				return next(ctx, m)
			}
			return res, err
		}
	}
	with(t, again, func(t *testing.T, _ *proxy.Proxy, client, agent *testEnd) {
		client.send(ask)
		agent.receive()
		agent.send(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"log in"}}`)
		var second struct {
			ID     json.RawMessage
			Method string
		}
		require.NoError(t, json.Unmarshal([]byte(agent.receive()), &second))
		assert.Equal(t, "ask", second.Method)
		assert.NotEqual(t, json.RawMessage(`1`), second.ID)
		client.send(cancel)
		assert.JSONEq(t, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":`+string(second.ID)+`}}`, agent.receive())
		agent.send(`{"jsonrpc":"2.0","id":` + string(second.ID) + `,"result":{"ok":true}}`)
		assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`, client.receive())
	})
}

// While a middleware calls an end, other messages pass.
func TestMiddlewareCallsThePeers(t *testing.T) {
	var p *proxy.Proxy
	enrich := func(next proxy.Handler) proxy.Handler {
		return func(ctx context.Context, m *proxy.Message) (json.RawMessage, error) {
			if m.Method != "ask" {
				return next(ctx, m)
			}
			extra, err := p.Agent().Call(ctx, "extra", map[string]int{"k": 1})
			if err != nil {
				return nil, err
			}
			assert.NoError(t, p.Client().Notify(ctx, "working", nil))
			m.Params = extra
			return next(ctx, m)
		}
	}
	with(t, enrich, func(t *testing.T, proxy *proxy.Proxy, client, agent *testEnd) {
		p = proxy
		client.send(ask)
		own := agent.receive()
		assert.Contains(t, own, `"method":"extra","params":{"k":1}`)
		client.send(`{"jsonrpc":"2.0","method":"meanwhile"}`)
		assert.Contains(t, agent.receive(), "meanwhile")
		var m struct{ ID json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(own), &m))
		agent.send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":[7]}`)
		assert.Equal(t, `{"jsonrpc":"2.0","method":"working"}`, client.receive())
		assert.Equal(t, `{"jsonrpc":"2.0","id":1,"method":"ask","params":[7]}`, agent.receive())
		agent.send(`{"jsonrpc":"2.0","id":1,"result":8}`)
		assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":8}`, client.receive())
	})
}

func TestPeerCall(t *testing.T) {
	with(t, nil, func(t *testing.T, p *proxy.Proxy, client, agent *testEnd) {
		ended := make(chan error, 1)
		ctx, stop := context.WithCancel(t.Context())
		go func() { // ends with the response, or with ctx
			_, err := p.Agent().Call(ctx, "own", json.RawMessage(`[1]`))
			ended <- err
		}()
		var m struct{ ID json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(agent.receive()), &m))
		stop()
		require.ErrorIs(t, <-ended, context.Canceled)
		assert.Contains(t, agent.receive(), `"method":"$/cancel_request","params":{"requestId":`+string(m.ID))
		agent.send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":"late"}`)
		agent.send(`{"jsonrpc":"2.0","method":"next"}`)
		assert.Contains(t, client.receive(), "next", "the late response is the proxy's own")

		go func() { // ends with the response
			_, err := p.Agent().Call(t.Context(), "own", nil)
			ended <- err
		}()
		require.NoError(t, json.Unmarshal([]byte(agent.receive()), &m))
		agent.send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32601,"message":"no"}}`)
		require.ErrorIs(t, <-ended, rpcerr.ErrMethodNotFound)

		_, err := p.Agent().Call(t.Context(), "own", make(chan int))
		require.ErrorContains(t, err, "encoding params")
		go func() { // ends with the proxy
			_, err := p.Agent().Call(t.Context(), "own", nil)
			ended <- err
		}()
		agent.receive()
		p.Close()
		require.ErrorIs(t, <-ended, acp.ErrClosed)
		_, err = p.Agent().Call(t.Context(), "own", nil)
		require.ErrorIs(t, err, acp.ErrClosed)
	})
}

func TestRequestsBeyondTheLimit(t *testing.T) {
	eachWay(t, func(t *testing.T, m []proxy.Middleware) {
		_, client, agent := start(t, &proxy.Options{MaxOpen: 1, FromClient: m})
		client.send(ask)
		agent.receive()
		client.send(strings.Replace(ask, `"id":1`, `"id":2`, 1))
		assert.Equal(t, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Too many requests"}}`, client.receive())
		agent.send(`{"jsonrpc":"2.0","id":1,"result":1}`)
		client.receive()
		client.send(strings.Replace(ask, `"id":1`, `"id":3`, 1))
		assert.Contains(t, agent.receive(), `"id":3`)
	})
}

// Notifications that a middleware refuses do not fill the log: their lines share a budget.
func TestRefusedNotificationsDoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		var log bytes.Buffer
		refuse := func(proxy.Handler) proxy.Handler {
			return func(context.Context, *proxy.Message) (json.RawMessage, error) { return nil, errors.New("no") }
		}
		_, client, _ := start(t, &proxy.Options{FromClient: []proxy.Middleware{refuse}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		for range 3000 {
			client.send(`{"jsonrpc":"2.0","method":"tell"}`)
		}
		synctest.Wait()
		assert.LessOrEqual(t, strings.Count(log.String(), "could not be passed on"), 300)
		assert.Contains(t, log.String(), "could not be passed on")
	})
}
