package rpcerr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/seed"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// received returns the error that a peer sent.
func received(t testing.TB, wire string) *rpcerr.RequestError {
	t.Helper()
	e := new(rpcerr.RequestError)
	require.NoError(t, json.Unmarshal([]byte(wire), e))
	return e
}

func TestExplain(t *testing.T) {
	sent := func(data string) error {
		return received(t, `{"code":-32603,"message":"Internal error","data":`+data+`}`)
	}
	const bare = "Internal error (-32603)"
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("dial: refused"), "dial: refused"},
		{rpcerr.InternalError(nil), bare},
		{sent(`"OPENAI_API_KEY is not set"`), bare + ": OPENAI_API_KEY is not set"},
		{sent(`{"details":"OPENAI_API_KEY is not set"}`), bare + ": OPENAI_API_KEY is not set"},
		{sent(`{"detail":"OPENAI_API_KEY is not set"}`), bare + ": OPENAI_API_KEY is not set"},
		{sent(`{"details":"","detail":"b"}`), bare + ": b"},
		{sent(`{"details":{"a":1},"detail":"b"}`), bare + ": b"},
		{fmt.Errorf("starting: %w", sent(`"why"`)), "starting: " + bare + ": why"},
		{errors.Join(errors.New("first"), sent(`"why"`)), "first " + bare + ": why"},
		{sent(`{"message":"m","hunter2":"x"}`), bare},
		{sent(`["hunter2"]`), bare},
		{sent(`7`), bare},
		{sent(`" \n"`), bare},
		{received(t, `{"code":1,"message":"no: why","data":"why"}`), "no: why (1)"},
		{sent(`"a\u001b[31mb\u0000\u0085c\nd\u202ee"`), bare + ": a[31mbc de"},
		{received(t, `{"code":1,"message":"x\u001b[2Jy"}`), "x[2Jy (1)"},

		// Made here: the data was not written for this person.
		{rpcerr.InternalError("hunter2"), bare},
		{rpcerr.InternalError(map[string]string{"details": "hunter2"}), bare},
		{kind.Internal.New("m").With("details", "hunter2"), "m (-32603)"},
		{rpcerr.From(kind.Internal.New("m").With("details", "hunter2")), "m (-32603)"},

		// A record that was made of what the peer sent still is what the peer sent.
		{fmt.Errorf("w: %w", mustKind(sent(`"why"`)).WithHint("h")), "w: Internal error (-32603): why"},

		{rpcerr.UnsupportedProtocolVersion(3, 1, 2), "Unsupported protocol version: 3 (-32022): supported: 1, 2"},
		{received(t, `{"code":-32022,"message":"Unsupported protocol version: 3","data":{"requested":3,"supported":[1,2]}}`),
			"Unsupported protocol version: 3 (-32022): supported: 1, 2"},
		{received(t, `{"code":-32022,"message":"no","data":{"supported":[],"detail":"upgrade"}}`), "no (-32022): upgrade"},
	} {
		assert.Equal(t, c.want, rpcerr.Explain(c.err), "%#v", c.err)
	}
	long := rpcerr.Explain(sent(`"` + strings.Repeat("é", 400) + `"`))
	reason := strings.TrimPrefix(long, bare+": ")
	assert.LessOrEqual(t, len(reason), 512)
	assert.Greater(t, len(reason), 500)
	assert.True(t, utf8.ValidString(reason))
	assert.True(t, strings.HasSuffix(reason, "..."))
}

func mustKind(err error) *kind.Error {
	e, _ := kind.From(err)
	return e
}

// Whatever a peer sends, what a person reads is one line without controls.
func FuzzExplain(f *testing.F) {
	for _, raw := range seed.Errors(f) {
		f.Add(raw)
	}
	f.Add([]byte(`{"code":1,"message":"\u0007","data":{"details":"\u009b31m"}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var e rpcerr.RequestError
		if json.Unmarshal(in, &e) != nil {
			return
		}
		text := rpcerr.Explain(&e)
		assert.True(t, utf8.ValidString(text))
		assert.False(t, strings.ContainsFunc(text, unicode.IsControl), "%q", text)
		assert.LessOrEqual(t, len(text), 3*len(e.Error())+512+16)
		assert.NotEqual(t, -1, strings.Index(text, fmt.Sprint("(", int(e.Code), ")")))
	})
}
