package objectstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/objectstream"
)

const (
	parseError     = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`
	invalidRequest = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request`
)

// malformed are messages that end a Conn of the library, or that it answers wrongly, with the
// beginning of the answer that belongs to each. An empty answer means that it is ignored.
var malformed = []struct{ msg, answer string }{
	{`not JSON`, parseError},
	{`{"jsonrpc":"2.0","id":1,"method":"m"`, parseError},
	{`[{"jsonrpc":"2.0","id":1,"method":"m"}]`, invalidRequest + `: JSON-RPC batches are not supported"}}`},
	{`[]`, invalidRequest + `: JSON-RPC batches are not supported"}}`},
	{`{}`, invalidRequest + `"}}`},
	{`5`, invalidRequest + `"}}`},
	{`{"jsonrpc":"2.0","id":7,"method":5}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"Invalid request"}}`},
	{`{"jsonrpc":"2.0","method":5}`, invalidRequest + `"}}`},
	{`{"jsonrpc":"2.0","id":true,"method":"_m"}`, invalidRequest + `: id must be a string, a finite number or null"}}`},
	{`{"jsonrpc":"2.0","id":[1],"method":"_m"}`, invalidRequest + `: id must be a string, a finite number or null"}}`},
	{`{"jsonrpc":"2.0","id":8,"method":"m","params":` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001) + `}`,
		`{"jsonrpc":"2.0","id":8,"error":{"code":-32600,"message":"Invalid request: message is nested too deep"}}`},
	{`{"jsonrpc":"2.0","id":9,"method":"m","result":1}`, `{"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"Invalid request: both a request and a response"}}`},
	{`{"jsonrpc":"2.0","id":null,"result":1}`, ""},
	{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`, ""},
	{`{"jsonrpc":"2.0","id":-1,"result":1}`, ""},
	{`{"jsonrpc":"2.0","id":1.5,"error":{"code":1,"message":"x"}}`, ""},
	{`{"jsonrpc":"2.0","id":[],"result":1}`, ""},
	{`{"jsonrpc":"2.0","id":4711,"result":1,"error":null}`, ""},
	{`{"jsonrpc":"2.0","id":4711}`, ""},
}

// strange are the ids that JSON allows and the library cannot hold, or that Of uses itself.
var strange = []string{
	`null`, `-1`, `1.5`, `1e3`, `-0`, `1.0`, `9223372036854775808`, `18446744073709551616`, `"\ud800"`, `"json:1.5"`, `"json:"`, `"json:x"`,
	`0`, `7`, `9007199254740993`, `9223372036854775807`, `""`, `"7"`, `"a\"b\\"`, `"\u00e9"`,
}

// peerOf returns a peer that writes and reads lines by hand, and the stream of the end under test.
func peerOf(t *testing.T) (peer, under stream.Stream) {
	x, y := sockets(t)
	peer = lines(x)
	t.Cleanup(func() { _ = peer.Close() })
	return peer, lines(y)
}

func exchange(t *testing.T, peer stream.Stream, msg string) string {
	t.Helper()
	require.NoError(t, peer.Write([]byte(msg)))
	answer, err := peer.Read()
	require.NoError(t, err)
	return string(answer)
}

// A Conn of the library over Of answers what it cannot read, and lives.
func TestMalformedMessagesDoNotEndTheConn(t *testing.T) {
	peer, under := peerOf(t)
	conn := newConn(t, objectstream.Of(under), jsonrpc2.AsyncHandler(jsonrpc2.HandlerWithError(
		func(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) (any, error) { return "served", nil })))
	defer conn.Close()
	for _, m := range malformed {
		if m.answer == "" {
			require.NoError(t, peer.Write([]byte(m.msg)))
		} else {
			assert.JSONEq(t, m.answer, exchange(t, peer, m.msg), m.msg)
		}
		assert.JSONEq(t, `{"jsonrpc":"2.0","id":5,"result":"served"}`, exchange(t, peer, `{"jsonrpc":"2.0","id":5,"method":"m"}`), "after %s", m.msg)
	}
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":6,"error":{"code":-32600,"message":"Invalid request: the message cannot be read"}}`,
		exchange(t, peer, `{"jsonrpc":"2.0","id":6,"method":"m","Result":1}`), "the library takes Result for result")
	assert.JSONEq(t, invalidRequest+`: id is not valid UTF-8"}}`, exchange(t, peer, "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"m\"}"))
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":5,"result":"served"}`, exchange(t, peer, "\xef\xbb\xbf "+`{"jsonrpc":"2.0","id":5,"method":"m"}`))
	for _, id := range strange {
		answer := exchange(t, peer, `{"jsonrpc":"2.0","id":`+id+`,"method":"m","ExTra":1}`)
		assert.Contains(t, answer, `"id":`+strings.ReplaceAll(id, `\u00e9`, "é")+`,`)
		assert.Contains(t, answer, `"result":"served"`, id)
	}
}

// A response that the library cannot read fails its call, and no other.
func TestMalformedResponsesFailTheirCall(t *testing.T) {
	peer, under := peerOf(t)
	conn := newConn(t, objectstream.Of(under), jsonrpc2.HandlerWithError(
		func(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) (any, error) { return nil, nil }))
	defer conn.Close()
	first, err := conn.DispatchCall(t.Context(), "m", nil, jsonrpc2.PickID(jsonrpc2.ID{})) // the library gives it the id 0
	require.NoError(t, err)
	_, err = peer.Read()
	require.NoError(t, err)
	require.NoError(t, peer.Write([]byte(`{"jsonrpc":"2.0","id":null,"result":"not yours"}`)))
	for _, response := range []string{`"result":1,"error":{}`, `"error":"boom"`, `"error":{"code":"x"}`, `"error":null`, `"neither":1`,
		`"result":1,"Method":"m"`, `"result":` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001)} {
		failed := make(chan error, 1)
		go func() { failed <- conn.Call(t.Context(), "m", nil, nil, jsonrpc2.PickID(jsonrpc2.ID{Num: 77})) }() // ends with the response
		_, err := peer.Read()
		require.NoError(t, err)
		require.NoError(t, peer.Write([]byte(`{"jsonrpc":"2.0","id":77,`+response+`}`)))
		require.ErrorAs(t, <-failed, new(*jsonrpc2.Error), response)
	}
	require.NoError(t, peer.Write([]byte(`{"jsonrpc":"2.0","id":0,"result":"yours"}`)))
	var result string
	require.NoError(t, first.Wait(t.Context(), &result))
	assert.Equal(t, "yours", result)
}

// What $/cancel_request names is the id that the library has for the request.
func TestCancelNamesTheIDOfTheLibrary(t *testing.T) {
	peer, under := peerOf(t)
	got := make(chan string, 2)
	conn := newConn(t, objectstream.Of(under), jsonrpc2.HandlerWithError(
		func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
			if r.Notif {
				got <- string(*r.Params)
			} else {
				got <- r.ID.String()
			}
			return nil, nil
		}))
	defer conn.Close()
	for _, id := range strange[:11] {
		_ = exchange(t, peer, `{"jsonrpc":"2.0","id":`+id+`,"method":"m"}`)
		require.NoError(t, peer.Write([]byte(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":`+id+`,"_meta":{"a":1}}}`)))
		assert.JSONEq(t, `{"requestId":`+<-got+`,"_meta":{"a":1}}`, <-got)
	}
}

// New carries the same messages to an agent of this module, which answers them, over all streams of
// the library that tell where the next message begins.
func TestMalformedMessagesDoNotEndAnAgentOverNew(t *testing.T) {
	for name, ends := range map[string][2]func(net.Conn) stream.Stream{"frames": {framed, vscode}, "plain objects": {lines, plain}} {
		t.Run(name, func(t *testing.T) {
			x, y := sockets(t)
			peer := ends[0](x)
			served := make(chan error, 1)
			go func() { // ends with the connection
				served <- agent.Serve(t.Context(), ends[1](y), func(*agent.Conn) acp.Agent { return extension{} }, nil)
			}()
			assert.Contains(t, exchange(t, peer, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`), `"protocolVersion":1`)
			const alive = `{"jsonrpc":"2.0","id":5,"method":"_m"}`
			for _, m := range malformed {
				if m.answer == parseError && (name == "plain objects" || m.msg != `not JSON`) {
					continue // final, tested below; JSON that is cut off is the end of input for the library
				}
				if m.answer == "" {
					require.NoError(t, peer.Write([]byte(m.msg)))
				} else {
					assert.JSONEq(t, m.answer, exchange(t, peer, m.msg), m.msg)
				}
				assert.JSONEq(t, `{"jsonrpc":"2.0","id":5,"result":"served"}`, exchange(t, peer, alive), "after %s", m.msg)
			}
			for _, id := range strange {
				assert.Contains(t, exchange(t, peer, `{"jsonrpc":"2.0","id":`+id+`,"method":"_m"}`), `"id":`+id+`,`)
			}
			if name == "plain objects" {
				assert.JSONEq(t, parseError, exchange(t, peer, `not JSON`), "nothing tells where the next message begins")
				require.ErrorContains(t, <-served, "invalid character")
				return
			}
			require.NoError(t, peer.Close())
			require.NoError(t, <-served)
		})
	}
}

// extension is an agent with one method.
type extension struct{ acp.Agent }

func (extension) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return nil, nil
}

func (extension) HandleExtension(_ context.Context, method string, _ json.RawMessage) (any, error) {
	if method != "_m" {
		return nil, errors.New("unexpected")
	}
	return "served", nil
}
