package agent_test

import (
	"testing"
	"testing/synctest"
)

// The id of a request is a string or an integer, before and after initialize. A response has
// no other id either, whatever else is wrong with the message.
func TestIDsAreStringsOrIntegers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, end := connect(t, &scripted{})
		const params = `"params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`
		refused := func(id, method, params string) {
			t.Helper()
			r.Send(`{"jsonrpc":"2.0","id":%s,"method":%q,%s`, id, method, params)
			r.ExpectJSON(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request: id must be a string or an integer"}}`)
		}
		refused("null", "initialize", params)
		refused("1.5", "initialize", params)
		r.Send(`{"jsonrpc":"2.0","id":"a","method":"initialize",%s`, params)
		r.ExpectJSON(`{"jsonrpc":"2.0","id":"a",` + okay + `}`)
		refused("null", "session/new", `"params":{"cwd":"/"}}`)
		refused("1e-1", "session/new", `"params":{"cwd":"/"}}`)
		r.Send(`{"jsonrpc":"2.0","id":1.5,"method":7}`)
		r.ExpectJSON(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request"}}`)
		r.Send(`{"jsonrpc":"2.0","id":{},"method":"session/list"}`)
		r.ExpectJSON(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request: id must be a string, a finite number or null"}}`)
		r.Send(`{"jsonrpc":"2.0","id":9007199254740993,"method":"session/new","params":{"cwd":"/"}}`)
		r.ExpectJSON(`{"jsonrpc":"2.0","id":9007199254740993,"result":{"sessionId":"s1"}}`)
		end()
	})
}
