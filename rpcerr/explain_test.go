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

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/seed"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
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
	invalid := func(data string) error {
		return received(t, `{"code":-32602,"message":"Invalid params","data":`+data+`}`)
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
		{sent(`{"errorId":"k3v7pq2x"}`), bare + ": error id k3v7pq2x"},
		{fmt.Errorf("starting: %w", sent(`"why"`)), "starting: " + bare + ": why"},
		{errors.Join(errors.New("first"), sent(`"why"`)), "first " + bare + ": why"},
		{sent(`{"message":"m","hunter2":"x"}`), bare},
		{sent(`["hunter2"]`), bare},
		{sent(`7`), bare},
		{sent(`" \n"`), bare},
		{received(t, `{"code":1,"message":"no: why","data":"why"}`), "no: why (1)"},
		{sent(`"a\u001b[31mb\u0000\u0085c\nd\u202ee"`), bare + ": ab c de"},
		{received(t, `{"code":1,"message":"x\u001b[2Jy"}`), "xy (1)"},

		// Validation: what this module sends, and what programs with zod send.
		{invalid(`{"_errors":[],"mcpServers":{"_errors":[],"0":{"_errors":[],"command":{"_errors":["must not be empty"]}}}}`),
			"Invalid params (-32602): mcpServers[0].command: must not be empty"},
		{invalid(`{"_errors":["must be an object"]}`), "Invalid params (-32602): must be an object"},
		{invalid(`{"_errors":[],"d":{"_errors":["4"]},"c":{"_errors":["3"]},"a":{"_errors":["1","one"]},"b":{"10":{"_errors":["ten"]},"9":{"_errors":["2"]},"_errors":[]},"detail":"x"}`),
			"Invalid params (-32602): a: 1; b[9]: 2; b[10]: ten; and more"},
		{invalid(`{"missing":"sessionId"}`), "Invalid params (-32602): sessionId: must be present"},
		{invalid(`{"missing":"sessionId","received":{"a":1}}`), "Invalid params (-32602): sessionId: must be present"},
		{invalid(`{"missing":["a","b"]}`), "Invalid params (-32602): a: must be present; b: must be present"},
		{invalid(`{"_errors":[],"a\u001b[2J\n":{"_errors":["x\u202ey"]}}`), "Invalid params (-32602): a : xy"},
		{invalid(`{"_errors":"hunter2","a":["hunter2"],"missing":7}`), "Invalid params (-32602)"},
		{fmt.Errorf("w: %w", mustKind(invalid(`{"_errors":[],"cwd":{"_errors":["no"]}}`))), "w: Invalid params (-32602): cwd: no"},
		{rpcerr.InvalidParams(map[string]any{"_errors": []string{"hunter2"}}), "Invalid params (-32602)"},

		// Made here: the data was not written for this person.
		{rpcerr.InternalError("hunter2"), bare},
		{rpcerr.InternalError(map[string]string{"details": "hunter2"}), bare},
		{kind.Internal.New("m").With("details", "hunter2"), "m (-32603)"},
		{rpcerr.From(kind.Internal.New("m").With("details", "hunter2")), "m (-32603)"},

		// A record made from an error of the peer still counts as the peer's.
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

// A handler names the members that break its own rules as the connection names those that break
// the schema, so that the caller reads both in one way.
func TestWithFields(t *testing.T) {
	want := []rpcerr.FieldError{
		{Path: "", Message: "two are wrong"}, {Path: "cwd", Message: "must be a repository"},
		{Path: "mcpServers[1].env[0].name", Message: "is set by this agent"}, {Path: "mcpServers[1].env[0].name", Message: "is too long"},
	}
	err := rpcerr.InvalidParams(nil).WithFields(want...)
	b, failed := json.Marshal(err)
	require.NoError(t, failed)
	assert.JSONEq(t, `{"code":-32602,"message":"Invalid params","data":{"_errors":["two are wrong"],"cwd":{"_errors":["must be a repository"]},
		"mcpServers":{"_errors":[],"1":{"_errors":[],"env":{"_errors":[],"0":{"_errors":[],"name":{"_errors":["is set by this agent","is too long"]}}}}}}}`, string(b))
	assert.Equal(t, want, rpcerr.Fields(received(t, string(b))))
	assert.Contains(t, rpcerr.Explain(received(t, string(b))), "Invalid params (-32602): two are wrong; cwd: must be a repository; mcpServers[1].env[0].name: ")
	assert.Empty(t, rpcerr.Fields(rpcerr.InvalidParams(nil).WithFields()))
	assert.NotPanics(t, func() { rpcerr.InvalidParams(nil).WithFields(rpcerr.FieldError{Path: "_errors.a[", Message: "m"}) })
}

func TestFields(t *testing.T) {
	tree := received(t, `{"code":-32602,"message":"Invalid params","data":{"_errors":["a","b"],"prompt":{"_errors":[],"0":{"_errors":["c"]}}}}`)
	want := []rpcerr.FieldError{{"", "a"}, {"", "b"}, {"prompt[0]", "c"}}
	assert.Equal(t, want, rpcerr.Fields(fmt.Errorf("w: %w", tree)))
	assert.Equal(t, want, rpcerr.Fields(mustKind(tree)))
	assert.Equal(t, want, rpcerr.Fields(rpcerr.InvalidParams(tree.Data)), "of a handler")
	own := &acp.InvalidError{Where: "session/new params", Fields: []acp.FieldError{{Path: "cwd", Message: "must be an absolute path"}}}
	assert.Equal(t, own.Fields, rpcerr.Fields(fmt.Errorf("w: %w", own)), "found before anything was sent")
	for _, err := range []error{nil, errors.New("x"), rpcerr.InvalidParams(nil), rpcerr.InvalidParams("cwd")} {
		assert.Empty(t, rpcerr.Fields(err), "%v", err)
	}

	deep := `{"_errors":["x"]}`
	for range 5000 {
		deep = `{"_errors":[],"a":` + deep + `}`
	}
	wide := `"0":{"_errors":["x"]}`
	for i := range 5000 {
		wide += fmt.Sprintf(`,"%d":{"_errors":["x"]}`, i+1)
	}
	for _, data := range []string{deep, `{"_errors":[],` + wide + `}`} {
		assert.LessOrEqual(t, len(rpcerr.Fields(received(t, `{"code":-32602,"message":"m","data":`+data+`}`))), 100)
	}
}

func TestFromPeer(t *testing.T) {
	bare := received(t, `{"code":-32000,"message":"Authentication required"}`)
	full := received(t, `{"code":-32602,"message":"Invalid params","data":{"a":1}}`)
	raw := *full
	for _, err := range []error{bare, full, &raw, fmt.Errorf("w: %w", bare), errors.Join(errors.New("x"), full), mustKind(bare),
		fmt.Errorf("w: %w", mustKind(full).WithHint("h")), classify.Error(fmt.Errorf("w: %w", full))} {
		assert.True(t, rpcerr.FromPeer(err), "%v", err)
	}
	for _, err := range []error{nil, errors.New("x"), rpcerr.AuthRequired(nil), rpcerr.InvalidParams(json.RawMessage(`{"a":1}`)), kind.NotFound.New("x"),
		&acp.CapabilityError{Method: "session/list", Capability: "x"},
		rpcerr.InternalError(nil).WithCause(bare), full.WithData("other"), full.WithDetail("our words"),
		kind.Internal.New("m").WithCause(bare), kind.Unauthorized.New("m").WithCause(bare)} {
		assert.False(t, rpcerr.FromPeer(err), "%v", err)
	}
}

// Whatever a peer sends, a person reads one line without control characters.
func FuzzExplain(f *testing.F) {
	for _, raw := range seed.Errors(f) {
		f.Add(raw)
	}
	f.Add([]byte(`{"code":-32602,"message":"","data":{"_errors":[],"\u0007":{"_errors":["\u0085"]}}}`))
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
