package kind_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/seed"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Every value that the constructors build arrives as it left, but for the fields
// that may not leave: Debug, Attrs and the cause.
func FuzzOverTheWire(f *testing.F) {
	f.Add(uint8(3), "msg", "CODE", "reason", "hint", int64(1500), 404, `{"a":1}`, true)
	f.Add(uint8(22), "ask", "", "", "which one?", int64(0), 404, `{"a":1}`, false)
	f.Add(uint8(9), "\xff<>&\u2028", "", "", "", int64(-1), 0, `{"reason":"mine","data":{"data":[]},"kind":1}`, false)
	f.Add(uint8(1), "m", "", "", "", int64(0), 700, `[{"b":1, "a":1e3}]`, true)
	f.Add(uint8(10), "m", "", "", "", int64(math.MinInt64), 503, ``, true)
	f.Add(uint8(10), "m", "", "", "", int64(math.MinInt64), 503, ``, false)
	f.Add(uint8(1), "m", "", "", "", int64(1)<<62, 599, `{"data":{"kind":"x"}}`, true)
	f.Add(uint8(1), "m", "", "", "", int64(1)<<62, 599, `{"recovery":{"hint":"x"},"status":200}`, true)
	f.Fuzz(func(t *testing.T, k uint8, message, code, reason, hint string, after int64, status int, data string, retryable bool) {
		if strings.TrimSpace(message) == "" || status < 100 || status > 599 {
			return // refused by the constructor
		}
		e := kind.All()[int(k)%len(kind.All())].New(message).WithRetryable(retryable).WithStatus(status)
		switch {
		case after == math.MinInt64:
			e = e.WithNoDelay()
		case after != 0:
			e = e.WithRetryAfter(time.Duration(after))
		}
		e.Retryable = e.Retryable && retryable
		if strings.TrimSpace(code) != "" {
			e = e.WithCode(code)
		}
		if strings.TrimSpace(reason) != "" {
			e = e.WithReason(reason)
		}
		if strings.TrimSpace(hint) != "" {
			e = e.WithHint(hint)
		}
		if json.Valid([]byte(data)) {
			e = e.WithData(json.RawMessage(data))
		}
		if e.Kind == kind.ContextRequired && strings.TrimSpace(e.Hint) == "" {
			require.ErrorIs(t, rpcerr.From(e), kind.ErrBadUse, "no one knows what to ask")
			return
		}
		secret := e.WithDebug("debug-secret").WithAttrs(slog.String("k", "attr-secret")).WithCause(errors.New("cause-secret"))

		b, err := json.Marshal(secret.RequestError())
		require.NoError(t, err)
		if !strings.Contains(message+code+reason+hint+data, "-secret") {
			assert.NotContains(t, string(b), "-secret")
		}
		var r rpcerr.RequestError
		require.NoError(t, json.Unmarshal(b, &r))
		assert.Equal(t, e, kind.FromRequestError(&r))

		var stored kind.Error
		whole, err := json.Marshal(e)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(whole, &stored))
		assert.Equal(t, *e, stored)
	})
}

// lostMembers returns the members of one error's data that are not in another's, neither
// in their place nor among those that had to make room.
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
		case name == "recovery": // the hint stays, the rest makes room, an empty one says nothing
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

// Whatever a peer sends is read, nothing of it is lost, and what was read is stable from
// then on.
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
			return // read as "the kind's own", so they come back as that
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
	assert.Equal(t, rpcerr.Code(-31102), rpcerr.From(e).Code)
	assert.Equal(t, "which John?", rpcerr.From(e).Message)
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
