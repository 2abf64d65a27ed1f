package kind_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/contract"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

func TestNewf(t *testing.T) {
	e := kind.NotFound.Newf(fs.ErrNotExist, "reading %s", "a.txt")
	assert.Equal(t, "reading a.txt", e.Error(), "the text of the cause stays out")
	assert.Equal(t, kind.NotFound, e.Kind)
	assert.ErrorIs(t, e, fs.ErrNotExist)
	assert.NoError(t, errors.Unwrap(kind.NotFound.Newf(nil, "no item %d", 7)))
}

func TestIs(t *testing.T) {
	e := fmt.Errorf("loading: %w", kind.NotFound.New("gone").WithCause(fs.ErrNotExist))
	assert.ErrorIs(t, e, kind.NotFound)
	assert.NotErrorIs(t, e, kind.Timeout)
	assert.ErrorIs(t, e, rpcerr.ErrResourceNotFound)
	assert.NotErrorIs(t, e, rpcerr.ErrSessionNotFound)
	assert.ErrorIs(t, e, fs.ErrNotExist)
	assert.ErrorIs(t, kind.NotFound.New("gone").With("sessionId", "s1"), rpcerr.ErrSessionNotFound)
	assert.ErrorIs(t, error(kind.NotFound), kind.NotFound, "a bare kind is an error too")
}

func TestAs(t *testing.T) {
	e := fmt.Errorf("w: %w", kind.NotFound.New("gone").WithCause(fs.ErrNotExist))
	r, ok := errors.AsType[*rpcerr.RequestError](e)
	require.True(t, ok)
	assert.Equal(t, rpcerr.CodeResourceNotFound, r.Code)
	assert.ErrorIs(t, r, fs.ErrNotExist)
	_, ok = errors.AsType[*rpcerr.RequestError](fmt.Errorf("w: %w", (*kind.Error)(nil)))
	assert.False(t, ok)
	_, ok = errors.AsType[*fs.PathError](e)
	assert.False(t, ok)
}

// The same questions work at the client for an error that the agent sent.
func TestIsOverTheWire(t *testing.T) {
	for _, k := range kind.All() {
		b, err := json.Marshal(k.New("m").WithHint("h").RequestError())
		require.NoError(t, err)
		received := new(rpcerr.RequestError)
		require.NoError(t, json.Unmarshal(b, received))
		for _, other := range kind.All() {
			assert.Equal(t, k == other, errors.Is(fmt.Errorf("calling: %w", received), other), "%s is %s", string(k), string(other))
		}
	}
	assert.ErrorIs(t, rpcerr.AuthRequired(nil), kind.Unauthorized, "also of other programs")
	assert.NotErrorIs(t, (*rpcerr.RequestError)(nil), kind.Internal)
	assert.NotErrorIs(t, rpcerr.AuthRequired(nil), kind.Kind(""))
}

func TestFrom(t *testing.T) {
	e := kind.Conflict.New("taken").WithDebug("local")
	for _, err := range []error{e, fmt.Errorf("a: %w", e), errors.Join(fs.ErrExist, e)} {
		got, ok := kind.From(err)
		assert.True(t, ok)
		assert.Same(t, e, got)
	}
	for _, err := range []error{nil, errors.New("x"), (*kind.Error)(nil)} {
		got, ok := kind.From(err)
		assert.False(t, ok)
		assert.Nil(t, got)
		assert.Empty(t, kind.Of(err))
	}
	bare, ok := kind.From(fmt.Errorf("a: %w", kind.Timeout))
	assert.True(t, ok)
	assert.True(t, bare.Retryable)
	assert.Equal(t, kind.Timeout, bare.Kind)

	wrapped := fmt.Errorf("a: %w", kind.Timeout)
	got, _ := kind.From(wrapped)
	assert.ErrorIs(t, got, wrapped, "what was wrapped around it stays reachable")
	assert.ErrorIs(t, rpcerr.From(wrapped), wrapped)
	assert.ErrorIs(t, rpcerr.From(fmt.Errorf("b: %w", e)), e)
	got, ok = kind.From(errors.Join((*kind.Error)(nil), fs.ErrExist, e))
	assert.True(t, ok, "declined, another one decides")
	assert.Same(t, e, got)

	outer := rpcerr.AuthRequired(nil).WithCause(e)
	got, ok = kind.From(outer)
	assert.True(t, ok)
	assert.Equal(t, kind.Unauthorized, got.Kind, "the outer one is not overruled by its cause")
	assert.ErrorIs(t, got, kind.Conflict, "which stays reachable")
}

func TestForeignErrors(t *testing.T) {
	for _, c := range []struct {
		in   *rpcerr.RequestError
		want kind.Error
	}{
		{rpcerr.ResourceNotFound("/a"), kind.Error{Kind: kind.NotFound, Message: "Resource not found: /a", Data: json.RawMessage(`{"uri":"/a"}`)}},
		{rpcerr.New(500, "boom", nil), kind.Error{Kind: kind.Unknown, Message: "boom", Number: 500}},
		{rpcerr.New(-32001, "x", "text"), kind.Error{Kind: kind.Unknown, Message: "x", Number: -32001, Data: json.RawMessage(`"text"`)}},
		{rpcerr.New(-31003, "x", nil), kind.Error{Kind: kind.RateLimited, Message: "x", Retryable: true}},
		{rpcerr.New(-32603, "x", json.RawMessage(`{"retryAfterMs":5}`)), kind.Error{Kind: kind.Internal, Message: "x", Retryable: true, RetryAfter: 5 * time.Millisecond}},
		{rpcerr.New(-32603, "x", json.RawMessage(`{"retryAfterMs":5,"retryable":false}`)), kind.Error{Kind: kind.Internal, Message: "x", RetryAfter: 5 * time.Millisecond}},
		// Members of another program with the same meaning are understood ...
		{rpcerr.New(-32602, "x", json.RawMessage(`{"reason":"no_match","recovery":{"hint":"wider"},"retryable":true,"retryAfterMs":1.5,"code":"A","status":404,"kind":"timeout"}`)),
			kind.Error{Kind: kind.Timeout, Number: -32602, Message: "x", Reason: "no_match", Hint: "wider", Retryable: true, RetryAfter: 2 * time.Millisecond, Code: "A", Status: 404}},
		// ... and members with another meaning stay data.
		{rpcerr.New(-32602, "x", json.RawMessage(`{"reason":5,"recovery":{"hint":"wider","url":"u"},"retryable":"no","retryAfterMs":-1,"code":404,"status":"draft","kind":"file","data":[1]}`)),
			kind.Error{Kind: kind.InvalidParams, Message: "x", Hint: "wider",
				Data: json.RawMessage(`{"code":404,"data":[1],"kind":"file","reason":5,"recovery":{"url":"u"},"retryAfterMs":-1,"retryable":"no","status":"draft"}`)}},
		{rpcerr.New(-32602, "x", json.RawMessage(`{"data":{"a":1}}`)), kind.Error{Kind: kind.InvalidParams, Message: "x", Data: json.RawMessage(`{"data":{"a":1}}`)}},
	} {
		got := kind.FromRequestError(c.in)
		assert.Equal(t, &c.want, got)
		assert.Equal(t, &c.want, overTheWire(t, got), "and again")
	}
}

// overTheWire returns the error that a receiver decodes from e, without the cause.
func overTheWire(t *testing.T, e *kind.Error) *kind.Error {
	t.Helper()
	b, err := json.Marshal(e.RequestError())
	require.NoError(t, err)
	var r rpcerr.RequestError
	require.NoError(t, json.Unmarshal(b, &r))
	return kind.FromRequestError(&r)
}

func TestBadUse(t *testing.T) {
	for problem, e := range map[string]*kind.Error{
		`unknown kind "typo"`:      kind.Kind("typo").New("x"),
		"empty message":            kind.NotFound.New(" "),
		"kind.New: empty message":  kind.NotFound.Newf(nil, "").WithHint("h").WithCause(fs.ErrClosed),
		"0 is not an HTTP status":  kind.NotFound.New("x").WithStatus(0),
		"WithCode: empty code":     kind.NotFound.New("x").WithCode(" "),
		"WithReason: empty reason": kind.NotFound.New("x").WithReason(" "),
		"cannot be encoded":        kind.NotFound.New("x").WithData(func() {}),
		"the value of k cannot be": kind.NotFound.New("x").With("k", make(chan int)),
		"Data is not an object":    kind.NotFound.New("x").WithData([]int{1}).With("k", 1),
		"With on a nil":            (*kind.Error)(nil).WithHint("x"),
	} {
		require.ErrorIs(t, e, kind.ErrBadUse, problem)
		assert.ErrorContains(t, errors.Unwrap(e), problem, "for the log")
		b, err := json.Marshal(e)
		require.NoError(t, err)
		assert.NotContains(t, string(b), "bad", "the peer does not learn of it")
		assert.JSONEq(t, `{"code":-32603,"message":"Internal error"}`, string(b))
	}
}

// An error that replaces one that could not be built keeps doing so after every change.
func TestBadUseStays(t *testing.T) {
	boom := errors.New("boom")
	for _, e := range []*kind.Error{
		kind.NotFound.New(""), kind.NotFound.New("gone").WithStatus(0), kind.NotFound.New("gone").WithCode(""),
		kind.NotFound.New("gone").WithData(func() {}).WithStatus(-1),
	} {
		e = e.WithCode("C").WithReason("r").WithHint("h").WithStatus(404).WithStatus(0).WithRetryAfter(time.Second).WithRetryable(true).
			WithData("d").With("k", 1).WithDebug("debug").WithCause(boom).WithCause(fs.ErrExist)
		require.ErrorIs(t, e, kind.ErrBadUse)
		assert.ErrorIs(t, e, boom, "no cause replaces another")
		assert.ErrorIs(t, e, fs.ErrExist)
		b, err := json.Marshal(e)
		require.NoError(t, err)
		assert.JSONEq(t, `{"code":-32603,"message":"Internal error"}`, string(b))
		assert.Equal(t, "debug", e.Debug)
	}
	var buf bytes.Buffer
	slog.New(slog.NewTextHandler(&buf, nil)).Info("x", "err", kind.NotFound.New("no such template").WithAttrs(slog.String("id", "t7")).WithStatus(0))
	assert.Contains(t, buf.String(), "0 is not an HTTP status")
	assert.Contains(t, buf.String(), "no such template", "the log still says what was meant")
	assert.Contains(t, buf.String(), "t7")
}

func TestBuilding(t *testing.T) {
	e := kind.NotFound.New("gone").WithData(map[string]any{"b": 1, "a": "<"})
	assert.Equal(t, `{"a":"\u003c","b":1}`, string(e.Data))
	assert.Equal(t, `{"a":"\u003c","b":1,"c":{}}`, string(e.With("c", struct{}{}).Data))
	assert.Equal(t, `{"a":"\u003c","b":1}`, string(e.Data), "copies leave the original alone")
	assert.Nil(t, e.WithData(nil).Data)
	assert.Nil(t, e.WithData(struct{}{}).Data)
	assert.Equal(t, `{"n":9007199254740993}`, string(e.WithData(json.RawMessage(`{"n": 9007199254740993 }`)).Data))

	assert.Equal(t, 2*time.Millisecond, e.WithRetryAfter(1500*time.Microsecond).RetryAfter)
	assert.True(t, e.WithRetryAfter(-1).Retryable)
	assert.Zero(t, e.WithRetryAfter(-1).RetryAfter)
	assert.Positive(t, e.WithRetryAfter(math.MaxInt64).RetryAfter)
	assert.Equal(t, e, e.WithRetryAfter(time.Second).WithRetryable(false))

	a := e.WithAttrs(slog.Int("a", 1))
	b, c := a.WithAttrs(slog.Int("b", 2)), a.WithAttrs(slog.Int("c", 3))
	assert.Equal(t, "b", b.Attrs[1].Key)
	assert.Equal(t, "c", c.Attrs[1].Key)

}

func TestLog(t *testing.T) {
	var buf bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&buf, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	log.Info("x", "err", kind.RateLimited.New("slow").WithRetryAfter(time.Second).WithCode("C").WithReason("r").WithStatus(429).
		WithHint("h").WithDebug("d").WithAttrs(slog.Int("n", 1)).With("secret", "hunter2").WithCause(fs.ErrExist))
	assert.JSONEq(t, `{"level":"INFO","msg":"x","err":{"kind":"rate_limited","message":"slow","code":"C","reason":"r","status":429,
		"retryable":true,"retry_after":1000000000,"hint":"h","debug":"d","n":1,"cause":"file already exists"}}`, buf.String())
	assert.NotPanics(t, func() { log.Info("x", "err", (*kind.Error)(nil)) })
}

// A context-required error without a hint is bad use, at this end and in each wire form.
func TestContextRequiredNeedsAHint(t *testing.T) {
	for _, e := range []*kind.Error{
		kind.ContextRequired.New("which John?"), kind.ContextRequired.New("which John?").WithHint("y").WithHint(" "),
		kind.ContextRequired.New("which John?").WithHint(contract.Hint(t.Context(), "no contract")),
	} {
		assert.ErrorIs(t, e, kind.ErrBadUse)
		assert.NotErrorIs(t, e, kind.ContextRequired)
		assert.Equal(t, kind.Internal, kind.Of(e))
		assert.Equal(t, kind.Advice{Action: kind.ActionGiveUp}, kind.AdviceFor(e), "nobody knows what to ask")
		assert.ErrorIs(t, e.WithHint("Which John?"), kind.ContextRequired)
		assert.NotErrorIs(t, e.WithHint("Which John?"), kind.ErrBadUse)
		r := wireOf(fmt.Errorf("w: %w", e))
		assert.ErrorIs(t, r, kind.ErrBadUse)
		b, err := json.Marshal([]any{r, e, e.FailedToolCall()})
		require.NoError(t, err)
		assert.NotContains(t, string(b), "John")
		instead, _ := kind.From(e)
		assert.ErrorContains(t, errors.Unwrap(instead), "call WithHint")
		assert.Contains(t, e.LogValue().String(), "call WithHint")
	}
	assert.Equal(t, rpcerr.Code(-31102), wireOf(kind.ContextRequired.New("m").WithHint("h")).Code)
	assert.Equal(t, rpcerr.CodeInternalError, wireOf(kind.ContextRequired).Code)
	assert.Empty(t, kind.NotFound.New("m").WithHint(contract.Hint(t.Context(), "no contract")).Hint)
	assert.NotErrorIs(t, kind.NotFound.New("m").WithHint(""), kind.ErrBadUse)
}

func TestNumber(t *testing.T) {
	e := kind.Unauthorized.New("the tracker refused the key").WithNumber(kind.CodeUnauthorized)
	assert.Equal(t, kind.CodeUnauthorized, wireOf(e).Code)
	assert.NotErrorIs(t, e, rpcerr.ErrAuthRequired)
	assert.Equal(t, e, overTheWire(t, e))
	assert.Equal(t, kind.Unauthorized, kind.Of(rpcerr.New(kind.CodeUnauthorized, "", nil)))
	assert.Equal(t, rpcerr.CodeAuthRequired, wireOf(e.WithNumber(rpcerr.CodeAuthRequired)).Code)
	assert.Zero(t, e.WithNumber(rpcerr.CodeAuthRequired).Number)
}

func TestNoDelay(t *testing.T) {
	e := kind.Timeout.New("m").WithRetryAfter(time.Minute).WithNoDelay()
	assert.True(t, e.Retryable)
	assert.Zero(t, e.RetryAfter)
	assert.Equal(t, e, overTheWire(t, e))
	b, err := json.Marshal(e)
	require.NoError(t, err)
	assert.JSONEq(t, `{"code":-31004,"message":"m","data":{"kind":"timeout","retryable":true,"retryAfterMs":0}}`, string(b))
	assert.False(t, e.WithRetryAfter(time.Second).NoDelay)
	assert.False(t, e.WithRetryable(false).NoDelay)
}

// wireOf returns the error that the peer receives for err.
func wireOf(err error) *rpcerr.RequestError {
	r, _ := errors.AsType[*rpcerr.RequestError](rpcerr.From(err))
	return r
}
