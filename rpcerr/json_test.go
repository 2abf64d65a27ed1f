package rpcerr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/seed"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

func TestUnmarshal(t *testing.T) {
	for in, want := range map[string]string{
		`{"code":500,"message":"x"}`:                               `{"code":500,"message":"x"}`,
		`{"code":-3.2e4,"message":"x","data":null}`:                `{"code":-32000,"message":"x"}`,
		`{"code":1,"message":"","data":false,"name":"E"}`:          `{"code":1,"message":"code 1","data":false}`,
		`{"code":1,"message":"x","Code":2,"data":{"a": "\u003c"}}`: `{"code":1,"message":"x","data":{"a":"<"}}`,
	} {
		var e rpcerr.RequestError
		require.NoError(t, json.Unmarshal([]byte(in), &e), in)
		b, err := json.Marshal(e)
		require.NoError(t, err)
		assert.JSONEq(t, want, string(b), in)
	}
	for _, in := range []string{
		`[]`, `"x"`, `{}`, `{"code":1}`, `{"message":"x"}`, `{"code":1,"message":null}`, `{"code":1,"message":5}`,
		`{"code":"1","message":"x"}`, `{"code":1.5,"message":"x"}`, `{"code":2147483648,"message":"x"}`, `{"code":null,"message":"x"}`,
		`{"Code":1,"Message":"x"}`,
	} {
		e := rpcerr.RequestError{Code: 9}
		assert.Error(t, json.Unmarshal([]byte(in), &e), in)
		assert.Equal(t, rpcerr.Code(9), e.Code, "left alone: %s", in)
	}
}

func TestMarshalRefusesBadData(t *testing.T) {
	_, err := json.Marshal(rpcerr.InternalError(func() {}))
	assert.Error(t, err)
	_, err = json.Marshal(rpcerr.InternalError(json.RawMessage(`{`)))
	assert.Error(t, err)
}

// An error that can be decoded can be encoded again, and decoding the result gives the same error.
// The scanner of connections reads the same values.
func FuzzRequestErrorJSON(f *testing.F) {
	f.Add([]byte(`{"code":-32602,"message":"Invalid params","data":{"_errors":[]}}`))
	for _, raw := range seed.Errors(f) {
		f.Add(raw)
	}
	f.Add([]byte(`{"code":1e3,"message":"\ud800","data":[1,null]}`))
	f.Add([]byte(`{"code":1,"code":2.5,"message":"x"}`))
	f.Add([]byte(`{"code":2.5,"message":"x"}`))
	f.Add([]byte(`{"code":2147483648,"message":"x"}`))
	f.Add([]byte(`{"code":1,"message":null}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var e, back rpcerr.RequestError
		code, message, data, found := scanError(in)
		if json.Unmarshal(in, &e) != nil {
			require.False(t, found, "%q", in)
			return
		}
		once, err := json.Marshal(e)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(once, &back))
		twice, err := json.Marshal(back)
		require.NoError(t, err)
		assert.Equal(t, string(once), string(twice))
		assert.Equal(t, e.Code, back.Code)

		if envelope.Repeated(in, "code", "message", "data") != "" || errors.Is(wire.Check(in), envelope.ErrTooDeep) {
			return // the two take different ones of equal members, and differ in how deep a value may be
		}
		require.True(t, found, "%q", in)
		assert.Equal(t, rpcerr.Code(code), e.Code)
		assert.Equal(t, message, e.Message)
		if len(data) == 0 || string(data) == "null" {
			assert.Nil(t, e.Data)
		} else {
			assert.Equal(t, string(data), string(e.Data.(json.RawMessage)))
		}
	})
}

// scanError finds the members of an error object without encoding/json.
func scanError(in []byte) (code float64, message string, data []byte, found bool) {
	if wire.Check(in) != nil {
		return 0, "", nil, false
	}
	d := wire.NewDecoder(envelope.Member(in, "message"))
	if d.Kind() != '"' || d.String(&message) != nil {
		return 0, "", nil, false
	}
	d = wire.NewDecoder(envelope.Member(in, "code"))
	found = d.Kind() == '0' && d.Float(&code) == nil && code == float64(int32(code))
	return code, message, envelope.Member(in, "data"), found && envelope.Repeated(in, "code", "message") == ""
}

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

// A handler may return an error of that library. A wrapped one may come from another peer, such as
// a language server, so its text must not pass through an agent.
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
