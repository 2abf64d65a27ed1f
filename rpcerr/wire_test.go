package rpcerr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/rpcerr"
)

// Code that was written for sourcegraph/jsonrpc2 finds its error in ours.
func TestErrorsOfJSONRPC2AreFound(t *testing.T) {
	received := new(rpcerr.RequestError)
	require.NoError(t, json.Unmarshal([]byte(`{"code":-31000,"message":"m","data":{"n":9007199254740993}}`), received))
	for _, c := range []struct {
		err  error
		want string
	}{
		{received, `{"code":-31000,"message":"m","data":{"n":9007199254740993}}`},
		{fmt.Errorf("calling: %w", rpcerr.InvalidParams([]string{"a"})), `{"code":-32602,"message":"Invalid params","data":["a"]}`},
		{rpcerr.New(7, "", nil).WithCause(errors.New("inside")), `{"code":7,"message":"code 7"}`},
		{rpcerr.InternalError(make(chan int)), `{"code":-32603,"message":"Internal error"}`},
	} {
		found, ok := errors.AsType[*jsonrpc2.Error](c.err)
		require.True(t, ok, c.want)
		b, err := json.Marshal(found)
		require.NoError(t, err)
		assert.JSONEq(t, c.want, string(b))
	}
	_, ok := errors.AsType[*jsonrpc2.Error](error((*rpcerr.RequestError)(nil)))
	assert.False(t, ok)
}

// A handler may return an error of that library. One that is wrapped may come from another
// peer, such as a language server: its text must not pass through an agent.
func TestErrorsOfJSONRPC2ThatAreReturned(t *testing.T) {
	data := json.RawMessage(`{"a":1}`)
	own := &jsonrpc2.Error{Code: -31000, Message: "quota used up", Data: &data}
	sent := func(err error) string {
		b, err := json.Marshal(rpcerr.From(err))
		require.NoError(t, err)
		return string(b)
	}
	const internal = `{"code":-32603,"message":"Internal error"}`
	assert.JSONEq(t, `{"code":-31000,"message":"quota used up","data":{"a":1}}`, sent(own))
	assert.JSONEq(t, internal, sent(fmt.Errorf("asking the server: %w", own)))
	assert.JSONEq(t, internal, sent(errors.Join(own)))
	assert.JSONEq(t, internal, sent((*jsonrpc2.Error)(nil)))
	assert.JSONEq(t, internal, sent(&jsonrpc2.Error{Code: 1 << 40, Message: "secret"}))
	_, known := rpcerr.CodeOf(own)
	assert.False(t, known, "no peer of ours said it")
}
