package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// Unusable input gets an error response or none, and reading continues.
func TestUnusableMessages(t *testing.T) {
	connect := func(t *testing.T) (*rawpeer.Peer, func()) {
		_, p := start(t, rpc.Config{Entries: []*rpc.Entry{echo(mEcho), ignore(mNote)}})
		return p.Peer, func() {}
	}
	rawpeer.Dialogues(t, "testdata/unusable.txtar", connect)
	tooDeep := "Invalid request: message is nested too deep"
	for name, tt := range map[string]struct {
		sent, id string
		code     int
		message  string
	}{
		"NUL":                 {"\x00", "null", -32700, "Parse error"},
		"white space":         {" \r\n\t", "", 0, ""},
		"id is too long":      {`{'jsonrpc':'2.0','id':'` + strings.Repeat("x", 5000) + `','method':'t/echo'}`, "null", -32600, "Invalid request: id is too long"},
		"too deep":            {`{'jsonrpc':'2.0','method':'t/echo','params':` + deep(2000) + `,'id':9}`, "9", -32600, tooDeep},
		"100 000 deep":        {`{'jsonrpc':'2.0','id':1,'method':'t/echo','params':` + deep(100_000) + `}`, "1", -32600, tooDeep},
		"a deep notification": {`{'jsonrpc':'2.0','method':'t/echo','params':` + deep(2000) + `}`, "null", -32600, tooDeep},
		"a deep half":         {`{'jsonrpc':'2.0','id':1,'params':` + strings.Repeat("[", 5000), "null", -32600, tooDeep},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p, _ := connect(t)
				p.Send("%s", tt.sent)
				if tt.code != 0 {
					p.ExpectJSON(fmt.Sprintf(`{'jsonrpc':'2.0','id':%s,'error':{'code':%d,'message':'%s'}}`, tt.id, tt.code, tt.message))
				}
				p.Call("99", "t/echo", `{"n":3}`)
				p.ExpectJSON(`{'jsonrpc':'2.0','id':99,'result':{'n':3}}`)
			})
		})
	}
}

func TestIDsAreEchoed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		_, p := start(t, rpc.Config{Extension: func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
			id, ok := rpc.RequestID(ctx)
			require.True(t, ok)
			return map[string]any{"id": id}, nil
		}})
		for _, id := range []string{"null", "0", "-7", "1.5", "1e3", "9007199254740993", `"x"`, `"\u0041\ud800"`, `""`} {
			p.Send("%s", `{"jsonrpc":"2.0","id":`+id+`,"method":"_t/x"}`)
			assert.Equal(t, `{"jsonrpc":"2.0","id":`+id+`,"result":{"id":`+id+`}}`, p.Next().Raw)
		}
		p.Send("%s", "\ufeff"+`{"jsonrpc":"2.0","id":1,"\u006dethod":"_\u0074/x"}`)
		assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"id":1}}`, p.Next().Raw)
	})
}

// Handlers that call the peer do not delay others, even with only one slot.
func TestCalls(t *testing.T) {
	playFile(t, "calls.txtar", rpc.Config{Limits: rpc.Limits{MaxHandlers: 1}})
}

func TestTooLongMessages(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, far := stream.Pipe()
		p := newPeer(t, far)
		skipped := make(chan *stream.TooLargeError, 9)
		s := &fake{Stream: near, read: func() ([]byte, error) {
			select {
			case e := <-skipped:
				return nil, e
			default:
				return near.Read()
			}
		}}
		skipped <- &stream.TooLargeError{Method: "x", ID: json.RawMessage("5"), Size: 9, Limit: 8}
		skipped <- &stream.TooLargeError{Method: "x"}
		c := startOn(t, rpc.Config{Stream: s})
		p.ExpectJSON(`{'jsonrpc':'2.0','id':5,'error':{'code':-32600,'message':'Invalid request: message is too long'}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':null,'error':{'code':-32600,'message':'Invalid request: message is too long'}}`)
		go func() { // ends at once
			p.Next()
			skipped <- &stream.TooLargeError{ID: json.RawMessage("1"), HasResult: true}
			p.note(1) // wakes the reader
		}()
		_, err := c.Call(t.Context(), mEcho, &msg{}, nil)
		var e *stream.TooLargeError
		require.ErrorAs(t, err, &e)
	})
}

func TestInvalidParamsAreNotSent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := start(t, rpc.Config{Invalid: func(where string, _ *wire.FieldErrors) error { return errors.New("invalid " + where) }})
		ctx := t.Context()
		var at error
		_, err := c.Call(ctx, mEcho, &msg{N: -1}, &rpc.CallOptions{AtResponse: func(err error) { at = err }})
		require.EqualError(t, err, "invalid t/echo params")
		assert.Equal(t, err, at)
		_, err = c.Call(ctx, mEcho, &msg{Bad: true}, nil)
		require.ErrorContains(t, err, "encoding t/echo params")
		_, err = c.Call(ctx, mEcho, 5, nil)
		require.ErrorContains(t, err, "params are a int")
		_, err = c.CallExtension(ctx, "_x", func() {})
		require.ErrorContains(t, err, "encoding _x params")
		_, err = c.CallExtension(ctx, "_x", json.RawMessage("{"))
		require.ErrorContains(t, err, "encoding _x params")
		require.Error(t, c.Notify(ctx, mNote, &msg{Bad: true}))
		require.Error(t, c.NotifyExtension(ctx, "_x", json.RawMessage("1 2")))
		ended, cancel := context.WithCancel(ctx)
		cancel()
		require.ErrorIs(t, c.Notify(ended, mNote, &msg{}), context.Canceled)
		_, err = c.Call(ended, mEcho, &msg{}, nil)
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, c.Notify(ctx, mNote, &msg{N: 1}))
		p.ExpectJSON(`{'jsonrpc':'2.0','method':'t/note','params':{'n':1}}`)
	})
}

func TestExtensions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ev events
		c, p := start(t, rpc.Config{
			Extension: func(_ context.Context, m string, params json.RawMessage) (any, error) {
				ev.add("%s %s", m, params)
				if m == "_nil" {
					return nil, nil
				}
				return params, nil
			},
			ExtensionNotification: func(_ context.Context, m string, params json.RawMessage) error {
				ev.add("%s %s", m, params)
				return nil
			},
		})
		p.Send(`{'jsonrpc':'2.0','method':'_n','params':[1]}`)
		p.Send(`{'jsonrpc':'2.0','method':'no/underscore'}`)
		p.Send(`{'jsonrpc':'2.0','method':'$/foo'}`)
		p.Send(`{'jsonrpc':'2.0','id':1,'method':'$/bar'}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'error':{'code':-32601,'message':'Method not found: $/bar','data':{'method':'$/bar'}}}`)
		p.Send(`{'jsonrpc':'2.0','id':2,'method':'_r','params':{'a':  1}}`)
		assert.Equal(t, `{"jsonrpc":"2.0","id":2,"result":{"a":  1}}`, p.Next().Raw)
		p.Send(`{'jsonrpc':'2.0','id':3,'method':'_nil'}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':3,'result':null}`)
		synctest.Wait()
		assert.Equal(t, []string{"_n [1]", "no/underscore ", "_r {\"a\":  1}", "_nil "}, ev.list())

		require.NoError(t, c.NotifyExtension(t.Context(), "_n", nil))
		assert.Equal(t, `{"jsonrpc":"2.0","method":"_n"}`, p.Next().Raw)
		require.NoError(t, c.NotifyExtension(t.Context(), "_n", json.RawMessage("{\n\"a\":\r1}")))
		assert.Equal(t, `{"jsonrpc":"2.0","method":"_n","params":{"a":1}}`, p.Next().Raw)
		go func() { p.Next(); p.Send(`{'jsonrpc':'2.0','id':1,'result':[1]}`) }() // ends at once
		raw, err := c.CallExtension(t.Context(), "_r", map[string]int{"x": 1})
		require.NoError(t, err)
		assert.Equal(t, json.RawMessage("[1]"), raw)
	})
}

func TestUndecodableNotificationsAreDropped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ev events
		var l logs
		_, p := start(t, rpc.Config{
			Logger:    l.logger(),
			OnDropped: func(m string, err error) { ev.add("dropped %s: %v", m, err) },
			Entries: []*rpc.Entry{on(mNote, func(_ context.Context, m *msg) (*msg, error) {
				ev.add("note %d", m.N)
				return nil, nil
			})},
		})
		p.note(1)
		p.Send(`{'jsonrpc':'2.0','method':'t/note','params':'canary'}`)
		p.Send(`{'jsonrpc':'2.0','method':'t/note','params':{'n':-1}}`)
		p.note(2)
		synctest.Wait()
		assert.Equal(t, []string{"note 1", "dropped t/note: acp: invalid t/note params: not a msg",
			"dropped t/note: acp: invalid t/note params: invalid", "note 2"}, ev.list())
		assert.NotContains(t, l.String(), "canary")
		assert.Contains(t, l.String(), "not a msg", "the log says why")
	})
}

// Some peers respond to every $/cancel_request, with a response that has no id.
func TestResponsesWithoutAnIDAreLoggedOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var l logs
		_, p := start(t, rpc.Config{Logger: l.logger()})
		for range 3 {
			p.Send(`{'jsonrpc':'2.0','id':null,'error':{'code':1,'message':'x'}}`)
		}
		p.Send(`{'id':1,'method':'x'}`)
		p.Next()
		assert.Equal(t, 1, strings.Count(l.String(), "without a usable id"))
		assert.NotContains(t, l.String(), `reason=""`)
	})
}

// If this end changes a forwarded message so that it breaks a rule, the error is its own.
func TestForwardingIsCheckedWhenChanged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		other, q := start(t, rpc.Config{})
		_, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
				if m.Text == "change params" {
					m.Text = "relative"
				}
				res, err := other.Call(ctx, mEcho, m, nil)
				if err != nil {
					return nil, err
				}
				if res.(*msg).Text == "change result" {
					res.(*msg).Text = "relative"
				}
				return res.(*msg), nil
			}),
			on(mNote, func(ctx context.Context, m *msg) (*msg, error) {
				m.Text = "relative"
				return nil, other.Notify(ctx, mNote, m)
			}),
		}})
		p.Send(`{'jsonrpc':'2.0','method':'t/note','params':{}}`)
		p.Send(`{'jsonrpc':'2.0','id':1,'method':'t/echo','params':{'text':'change params'}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'error':{'code':-32603,'message':'Internal error','data':{'errorId':'ID'}}}`)
		p.Send(`{'jsonrpc':'2.0','id':2,'method':'t/echo','params':{'text':'x'}}`)
		q.ExpectJSON(`{'jsonrpc':'2.0','id':2,'method':'t/echo','params':{'text':'x'}}`)
		q.Send(`{'jsonrpc':'2.0','id':2,'result':{'text':'change result'}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':2,'error':{'code':-32603,'message':'Internal error','data':{'errorId':'ID'}}}`)
	})
}

// A message from another connection is passed on even if a rule of the prose would forbid sending
// it.
func TestForwardingIsNotStricter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		other, q := start(t, rpc.Config{})
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
				res, err := other.Call(ctx, mAsk, m, nil)
				if err != nil {
					return nil, err
				}
				return res.(*msg), other.Notify(ctx, mNote, m)
			}),
			echo(mAsk),
			on(request("t/call"), func(ctx context.Context, m *msg) (*msg, error) {
				_, err := other.Call(ctx, mAsk, &msg{Text: m.Text}, nil)
				return m, err
			}),
			on(request("t/notify"), func(ctx context.Context, m *msg) (*msg, error) {
				return m, other.Notify(ctx, mNote, &msg{Text: m.Text})
			}),
			on(request("t/compose"), func(ctx context.Context, m *msg) (*msg, error) {
				res, err := other.Call(ctx, mAsk, m, nil)
				if err != nil {
					return nil, err
				}
				return &msg{Text: res.(*msg).Text}, nil
			}),
		}})
		p.Send(`{'jsonrpc':'2.0','id':1,'method':'t/echo','params':{'text':'relative'}}`)
		q.ExpectJSON(`{'jsonrpc':'2.0','id':1,'method':'t/ask','params':{'text':'relative'}}`)
		q.Send(`{'jsonrpc':'2.0','id':1,'result':{'text':'relative'}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'result':{'text':'relative'}}`)
		q.ExpectJSON(`{'jsonrpc':'2.0','method':'t/note','params':{'text':'relative'}}`)

		for _, own := range []string{"t/call", "t/notify"} { // what a handler composes is checked, on whatever connection
			p.Send(`{'jsonrpc':'2.0','id':3,'method':'%s','params':{'text':'relative'}}`, own)
			p.ExpectJSON(`{'jsonrpc':'2.0','id':3,'error':{'code':-32603,'message':'Internal error','data':{'errorId':'ID'}}}`)
		}
		p.Send(`{'jsonrpc':'2.0','id':4,'method':'t/compose','params':{'text':'relative'}}`)
		q.ExpectJSON(`{'jsonrpc':'2.0','id':3,'method':'t/ask','params':{'text':'relative'}}`)
		q.Send(`{'jsonrpc':'2.0','id':3,'result':{'text':'relative'}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':4,'error':{'code':-32603,'message':'Internal error','data':{'errorId':'ID'}}}`)

		p.Send(`{'jsonrpc':'2.0','id':2,'method':'t/ask','params':{'text':'relative'}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':2,'error':{'code':-32603,'message':'Internal error','data':{'errorId':'ID'}}}`)
		require.Error(t, c.Notify(t.Context(), mNote, &msg{Text: "relative"}))
	})
}

// Params of some methods obey the rules of the prose when they arrive, too.
func TestStrictParams(t *testing.T) {
	strict := &wire.Method{Name: "t/strict", Params: codec, Result: codec, StrictParams: true}
	for _, lenient := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			_, p := start(t, rpc.Config{LenientPaths: lenient, Entries: []*rpc.Entry{on(strict, func(context.Context, *msg) (*msg, error) { return nil, nil })}})
			p.Send(`{'jsonrpc':'2.0','id':1,'method':'t/strict','params':{'text':'relative'}}`)
			if lenient {
				p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'result':{}}`)
			} else {
				assert.Contains(t, p.Next().Raw, `"code":-32602`)
			}
		})
	}
}
