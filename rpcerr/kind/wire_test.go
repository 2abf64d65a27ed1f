package kind_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/seed"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// One failure in all its forms: record, tool error, response to a request, end of a tool
// call, stored JSON. Each conversion, in either direction, gives an equal value, but for
// the code, which a tool error always has.
func FuzzConversions(f *testing.F) {
	f.Add(uint8(0), "message", "CODE", "reason", "hint", int64(1500), 404, int32(0), `{"a":1}`, true)
	f.Add(uint8(1), "m", "", "", "", int64(1)<<62, 599, int32(0), `{"data":{"kind":"x"},"recovery":{"hint":"x"},"status":200}`, true)
	f.Add(uint8(9), "\xff<>&\u2028", "", "", "", int64(-1), 0, int32(-32050), `{"reason":"mine","data":{"data":[]},"kind":1}`, false)
	f.Add(uint8(4), "Internal error", "", "", "", int64(0), 0, int32(0), ``, false)
	f.Add(uint8(4), "Internal error", "", "", "", int64(math.MinInt64), 0, int32(0), ``, true)
	f.Add(uint8(5), "Log in", "", "", "", int64(0), 0, int32(-31006), ``, false)
	f.Add(uint8(22), "Which one", "", "", "", int64(0), 0, int32(-31006), ``, false)
	f.Add(uint8(4), "Internal error", "", "", "", int64(0), 0, int32(7), `{"data":{"code":{}}}`, false)
	f.Fuzz(func(t *testing.T, n uint8, message, code, reason, hint string, after int64, status int, number int32, data string, retryable bool) {
		if strings.TrimSpace(message) == "" {
			return // refused by the constructor
		}
		r := kind.All()[int(n)%len(kind.All())].New(message)
		if strings.TrimSpace(code) != "" {
			r = r.WithCode(code)
		}
		r.Reason, r.Hint = strings.ToValidUTF8(reason, "?"), strings.ToValidUTF8(hint, "?")
		switch {
		case after == math.MinInt64:
			r = r.WithNoDelay()
		case after != 0:
			r = r.WithRetryAfter(time.Duration(after))
		}
		r.Retryable = retryable
		if status >= 100 && status <= 599 {
			r.Status = status
		}
		if rpcerr.Code(number) != r.Kind.Code() {
			r.Number = rpcerr.Code(number)
		}
		if json.Valid([]byte(data)) {
			r = r.WithData(json.RawMessage(data))
		}

		if r.Kind == kind.ContextRequired && r.Number == 0 && strings.TrimSpace(r.Hint) == "" {
			return // bad use, and not what it was
		}
		assert.Equal(t, r, overTheWire(t, r))
		var stored kind.Error
		b, err := json.Marshal(r)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, &stored))
		assert.Equal(t, *r, stored)

		for _, err := range []error{r, fmt.Errorf("w: %w", r)} {
			b, merr := json.Marshal(&acp.SessionNotification{SessionID: "s", Update: acp.FailToolCall("t", err)})
			require.NoError(t, merr)
			var received acp.SessionNotification
			require.NoError(t, json.Unmarshal(b, &received))
			got, ok := kind.FromToolCall(received.Update.(*acp.ToolCallUpdate))
			assert.True(t, ok)
			assert.Equal(t, r, got.WithCause(nil))
			wire, merr := json.Marshal(rpcerr.From(err))
			require.NoError(t, merr)
			assert.JSONEq(t, string(wire), string(received.Update.(*acp.ToolCallUpdate).RawOutput), "both surfaces carry the same")
		}
	})
}

// lostMembers returns the members of the data before that are missing in the data after, both at
// the top level and in the member data.
func lostMembers(t *testing.T, before, after json.RawMessage) (lost []string) {
	members := func(raw json.RawMessage) (m map[string]json.RawMessage) {
		if json.Unmarshal(raw, &m) != nil {
			return nil
		}
		return m
	}
	equal := func(a, b json.RawMessage) bool {
		if a == nil || b == nil {
			return false
		}
		x, err := json.Marshal(kind.Internal.New("m").WithData(map[string]any{"v": a}).Data)
		require.NoError(t, err)
		y, err := json.Marshal(kind.Internal.New("m").WithData(map[string]any{"v": b}).Data)
		require.NoError(t, err)
		return string(x) == string(y)
	}
	top := members(after)
	aside := members(top["data"])
	for name, v := range members(before) {
		switch {
		case equal(v, top[name]), equal(v, aside[name]):
		case name == "retryAfterMs" && top[name] != nil: // rounded up
		case name == "recovery": // the hint stays, other members are moved to data, and an empty one is dropped
			rest := members(aside["recovery"])
			for name, v := range members(v) {
				if said := members(top["recovery"])[name]; !equal(v, said) && !equal(v, rest[name]) && string(v) != `""` && string(v) != "null" {
					lost = append(lost, "recovery."+name)
				}
			}
		default:
			lost = append(lost, name)
		}
	}
	return lost
}

// Every error of a peer can be read without loss, and reading the result again gives the same.
func FuzzForeign(f *testing.F) {
	f.Add(int32(-32002), "gone", []byte(`{"uri":"/a","recovery":{"hint":"h","x":1}}`))
	f.Add(int32(7), "", []byte(`{"data":{"data":{}},"retryAfterMs":1e300}`))
	f.Add(int32(0), "x", []byte(`{"kind":"timeout","data":{}}`))
	f.Add(int32(1), "x", []byte(`{"reason":5,"data":{"reason":"x"}}`))
	f.Add(int32(1), "x", []byte(`{"recovery":{"hint":null},"data":{"data":null},"status":700,"code":""}`))
	for _, raw := range seed.Errors(f) {
		var e rpcerr.RequestError
		if json.Unmarshal(raw, &e) == nil && e.Data != nil {
			f.Add(int32(e.Code), e.Message, []byte(e.Data.(json.RawMessage)))
		}
	}
	f.Fuzz(func(t *testing.T, code int32, message string, data []byte) {
		if !json.Valid(data) {
			return
		}
		once := kind.FromRequestError(rpcerr.New(rpcerr.Code(code), message, json.RawMessage(data)))
		if code == 0 || message == "" {
			return // decoded as "the code of the kind", and encoded as that
		}
		wire := once.RequestError()
		assert.Equal(t, rpcerr.Code(code), wire.Code)
		sent, _ := wire.Data.(json.RawMessage)
		assert.Empty(t, lostMembers(t, data, sent), "%s became %s", data, sent)
		b, err := json.Marshal(once)
		require.NoError(t, err)
		var twice kind.Error
		require.NoError(t, json.Unmarshal(b, &twice))
		once.Message = string([]rune(once.Message)) // what encoding/json makes of bytes that are not UTF-8
		assert.Equal(t, *once, twice)
	})
}

// An error that a peer sent is passed on unchanged, even without the hint that its kind
// requires of errors created by this package.
func TestForeignContextRequired(t *testing.T) {
	e := kind.FromRequestError(rpcerr.New(-31102, "which John?", nil))
	assert.Equal(t, kind.ContextRequired, e.Kind)
	assert.Equal(t, rpcerr.Code(-31102), wireOf(e).Code)
	assert.Equal(t, "which John?", wireOf(e).Message)
}

func TestDataCannotOverrule(t *testing.T) {
	e := kind.Conflict.New("taken").WithReason("busy").WithData(map[string]any{"reason": "mine", "kind": "fatal", "retryable": true, "owner": "me"})
	b, err := json.Marshal(e.RequestError())
	require.NoError(t, err)
	assert.JSONEq(t, `{"code":-31002,"message":"taken","data":{"kind":"conflict","reason":"busy","retryable":false,"owner":"me",
		"data":{"kind":"fatal","reason":"mine","retryable":true}}}`, string(b))
	assert.Equal(t, e, overTheWire(t, e))
}

func TestDataAssignedByHand(t *testing.T) {
	e := &kind.Error{Kind: kind.Timeout, Message: "m", Data: json.RawMessage(`{"a":`)}
	b, err := json.Marshal(e.RequestError())
	require.NoError(t, err)
	assert.JSONEq(t, `{"code":-31004,"message":"m","data":{"kind":"timeout","retryable":false}}`, string(b), "not JSON: left out, the rest leaves")
	var zero kind.Error
	assert.Equal(t, rpcerr.Code(-31099), zero.RequestError().Code)
}

var _ acp.ToolFailure = (*kind.Error)(nil)

// The response to a request and the end of a tool call carry the same facts.
func TestBothSurfaces(t *testing.T) {
	e := kind.RateLimited.New("slow down").WithRetryAfter(time.Second).WithHint("Ask for less.").With("limit", 10).WithReason("quota").WithStatus(429)
	u := acp.FailToolCall("t1", fmt.Errorf("wrapped: %w", e.WithCause(errors.New("secret")).WithDebug("secret")))
	assert.Equal(t, acp.ToolCallID("t1"), u.ToolCallID)
	assert.Equal(t, acp.ToolCallStatusFailed, u.Status)
	assert.Equal(t, []acp.ToolCallContent{acp.ToolText("Error: slow down\nRecovery: Ask for less.")}, u.Content)
	wire, err := json.Marshal(rpcerr.From(e))
	require.NoError(t, err)
	assert.JSONEq(t, string(wire), string(u.RawOutput))
	assert.NotContains(t, string(u.RawOutput), "secret")

	b, err := json.Marshal(u)
	require.NoError(t, err)
	var back acp.ToolCallUpdate
	require.NoError(t, json.Unmarshal(b, &back))
	got, ok := kind.FromToolCall(&back)
	assert.True(t, ok)
	assert.Equal(t, e, got.WithCause(nil))
	assert.True(t, rpcerr.FromPeer(got))
	assert.Contains(t, rpcerr.Explain(got), "Ask for less; try again in 1s")
}

func TestFromToolCallOfOthers(t *testing.T) {
	for _, u := range []*acp.ToolCallUpdate{
		nil,
		{Status: acp.ToolCallStatusCompleted, RawOutput: json.RawMessage(`{"code":1,"message":"m"}`)},
		{Status: acp.ToolCallStatusFailed},
		{Status: acp.ToolCallStatusFailed, RawOutput: json.RawMessage(`"text"`)},
	} {
		_, ok := kind.FromToolCall(u)
		assert.False(t, ok)
	}
	// An error that was not written for the peer: the code and the fixed text.
	got, ok := kind.FromToolCall(acp.FailToolCall("t", errors.New("secret")))
	assert.True(t, ok)
	assert.Equal(t, kind.Internal, got.Kind)
	assert.Equal(t, "Internal error", got.Message)
	assert.Nil(t, (*kind.Error)(nil).FailedToolCall())
}

// An error with a code is shown in the form that has a place for the code.
func TestTextWithACode(t *testing.T) {
	e := kind.Conflict.New("taken").WithCode("NAME_TAKEN").WithHint("Choose another.")
	assert.Equal(t, "[ERROR code=NAME_TAKEN category=validation retryable=false] taken\n\n```json\n"+
		`{"code":"NAME_TAKEN","category":"validation","retryable":false}`+"\n```", e.Text())
	want := strings.Replace(e.Text(), "taken\n", "taken\nRecovery: Choose another.\n", 1)
	assert.Equal(t, []acp.ToolCallContent{acp.ToolText(want)}, e.FailedToolCall().Content)
	for k, code := range map[kind.Kind]string{
		kind.Forbidden: "AUTH_ERROR", kind.RateLimited: "RATE_LIMITED", kind.MethodNotFound: "NOT_FOUND", kind.InvalidParams: "VALIDATION_ERROR",
		kind.Database: "INTERNAL_ERROR", kind.Cancelled: "TIMEOUT", kind.Unknown: "UNKNOWN_ERROR", kind.ContextRequired: "INTERNAL_ERROR",
	} {
		assert.Contains(t, k.New("m").Text(), "[ERROR code="+code+" ", string(k))
	}
	assert.Empty(t, (*kind.Error)(nil).Text())
}
