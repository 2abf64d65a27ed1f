package rpc_test

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/rpcerr"
)

// version makes entries that say which version they are of.
func version(ev *events, n int) []*rpc.Entry {
	return []*rpc.Entry{
		echo(mInit),
		on(mEcho, func(context.Context, *msg) (*msg, error) { return &msg{N: n}, nil }),
		on(mNote, func(_ context.Context, m *msg) (*msg, error) { ev.add("version %d: note %d", n, m.N); return nil, nil }),
	}
}

// What is read after a handshake is handled by the version that it has led to, although it
// was read before the version was known.
func TestHandshakeDecidesAboutTheMethods(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ev events
		gate := make(chan struct{})
		first := version(&ev, 1)
		first[0] = echoAfter(gate, mInit)
		second := version(&ev, 2)
		second = append(second, echo(mAsk))
		_, p := start(t, rpc.Config{Handshake: "initialize", Entries: first, Negotiated: func(res any) rpc.Version {
			if res.(*msg).N == 2 {
				return rpc.Version{Entries: second, StrictIDs: true}
			}
			return rpc.Version{Entries: first}
		}})
		p.Send(`{'jsonrpc':'2.0','id':null,'method':'initialize','params':{'n':2}}`)
		p.request(2, "t/echo", 0)
		p.note(7)
		p.request(3, "t/ask", 3)
		p.Send(`{'jsonrpc':'2.0','id':1.5,'method':'t/echo'}`)
		synctest.Wait()
		close(gate)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':null,'result':{'n':2}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':2,'result':{'n':2}}`, `{'jsonrpc':'2.0','id':3,'result':{'n':3}}`,
			`{'jsonrpc':'2.0','id':null,'error':{'code':-32600,'message':'Invalid request: id must be a string or an integer'}}`)
		assert.Equal(t, []string{"version 2: note 7"}, ev.list())
		for id, fine := range map[string]bool{"null": false, "1e-1": false, "9007199254740993": true, "1e3": true, "-1": true, "'x'": true} {
			p.Send(`{'jsonrpc':'2.0','id':%s,'method':'t/echo'}`, id)
			if fine {
				p.ExpectJSON(`{'jsonrpc':'2.0','id':` + id + `,'result':{'n':2}}`)
			} else {
				p.ExpectJSON(`{'jsonrpc':'2.0','id':null,'error':{'code':-32600,'message':'Invalid request: id must be a string or an integer'}}`)
			}
		}
	})
}

// The end that calls holds what it reads meanwhile, but only if the result decides.
func TestCallThatNegotiates(t *testing.T) {
	for name, tt := range map[string]struct {
		negotiates bool
		answer     string
		cancel     bool
		want       []string
	}{
		"decides":     {true, `'result':{'n':2}`, false, []string{"called", "version 2: note 1", "version 2: note 2"}},
		"fails":       {true, `'error':{'code':1,'message':'no'}`, false, []string{"called", "version 1: note 1", "version 1: note 2"}},
		"is given up": {true, ``, true, []string{"called", "version 1: note 1", "version 1: note 2"}},
		"one version": {false, `'result':{'n':2}`, false, []string{"version 1: note 1", "called", "version 1: note 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var ev events
				c, p := start(t, rpc.Config{Entries: version(&ev, 1), Negotiated: func(any) rpc.Version {
					return rpc.Version{Entries: version(&ev, 2)}
				}})
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

// A connection that ends meanwhile leaves nothing behind.
func TestConnectionEndsWhileACallNegotiates(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ev events
		c, p := start(t, rpc.Config{Entries: version(&ev, 1)})
		called := calling(t.Context(), c, mInit, &msg{}, &rpc.CallOptions{Negotiates: true})
		p.Next()
		p.note(1)
		p.request(9, "t/echo", 0)
		p.Close()
		require.Error(t, <-called)
		require.NoError(t, c.Wait())
		assert.Equal(t, []string{"version 1: note 1"}, ev.list(), "it was read before the end")
	})
}

// A Conn with nothing but handlers of extensions passes on every method, every id, and every
// result and error, byte for byte.
func TestFallback(t *testing.T) {
	bubble(t, func(t *testing.T) {
		back, q := start(t, rpc.Config{})
		defined := func(string) bool { return true }
		_, p := start(t, rpc.Config{
			Fallback: true, Defined: defined,
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
			method := []string{"session/new", "$/odd", "initialize"}[n]
			p.Send("%s", `{"jsonrpc":"2.0","id":`+tt.id+`,"method":"`+method+`","params":{ "z":1 }}`)
			assert.Equal(t, `{"jsonrpc":"2.0","id":`+strconv.Itoa(n+1)+`,"method":"`+method+`","params":{ "z":1 }}`, q.Next().Raw)
			q.Send("%s", `{"jsonrpc":"2.0","id":`+strconv.Itoa(n+1)+`,`+tt.answer+`}`)
			assert.Equal(t, `{"jsonrpc":"2.0","id":`+tt.id+`,`+tt.answer+`}`, p.Next().Raw)
		}
		p.Send("%s", `{"jsonrpc":"2.0","method":"$/odd","params":[ 1 ]}`)
		assert.Equal(t, `{"jsonrpc":"2.0","method":"$/odd","params":[ 1 ]}`, q.Next().Raw)

		// A cancel follows its request, under the id that the request has there.
		p.Send(`{'jsonrpc':'2.0','id':'slow','method':'session/new'}`)
		assert.Contains(t, q.Next().Raw, `"id":4`)
		p.Send(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':'slow'}}`)
		q.ExpectJSON(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':4}}`)
		assert.Contains(t, p.Next().Raw, `"id":"slow","error":{"code":-32800`)
	})
}

// A raw error is also one that callers can look at.
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
