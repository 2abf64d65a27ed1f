package toolerr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

// Each row of the reference's table of factories.
func TestFactories(t *testing.T) {
	for _, c := range []struct {
		err       *toolerr.Error
		code      string
		category  toolerr.Category
		retryable bool
		wire      rpcerr.Code
		kind      kind.Kind
	}{
		{toolerr.Auth("m"), "AUTH_ERROR", toolerr.CategoryAuth, false, kind.CodeUnauthorized, kind.Unauthorized},
		{toolerr.NotFound("m"), "NOT_FOUND", toolerr.CategoryNotFound, false, rpcerr.CodeResourceNotFound, kind.NotFound},
		{toolerr.RateLimited("m", 0), "RATE_LIMITED", toolerr.CategoryRateLimit, true, -31003, kind.RateLimited},
		{toolerr.Validation("m"), "VALIDATION_ERROR", toolerr.CategoryValidation, false, -31007, kind.Validation},
		{toolerr.Timeout("m"), "TIMEOUT", toolerr.CategoryTimeout, true, -31004, kind.Timeout},
		{toolerr.Internal("m"), "INTERNAL_ERROR", toolerr.CategoryInternal, false, rpcerr.CodeInternalError, kind.Internal},
		{toolerr.New("X", "", "m"), "X", "", false, -31099, kind.Unknown},
	} {
		assert.Equal(t, c.code, c.err.Code)
		assert.Equal(t, c.category, toolerr.CategoryOf(c.err))
		assert.Equal(t, c.retryable, c.err.Retryable)
		assert.Equal(t, "m", c.err.Error())
		assert.Equal(t, c.wire, rpcerr.From(fmt.Errorf("w: %w", c.err)).Code)
		assert.ErrorIs(t, c.err, c.kind)
		own := c.err.WithCode("OWN")
		assert.Equal(t, "OWN", own.Code)
		assert.Equal(t, c.category, toolerr.CategoryOf(own))
		assert.Equal(t, own, overTheWire(t, own))
		back, err := toolerr.Parse(own.Text())
		require.NoError(t, err)
		assert.Equal(t, own, back)
	}
	assert.Equal(t, 2*time.Second, toolerr.RateLimited("m", 2*time.Second).RetryAfter)
}

func overTheWire(t *testing.T, e *toolerr.Error) *toolerr.Error {
	t.Helper()
	b, err := json.Marshal(rpcerr.From(e))
	require.NoError(t, err)
	var r rpcerr.RequestError
	require.NoError(t, json.Unmarshal(b, &r))
	return kind.FromRequestError(&r)
}

func TestEveryKindHasACategory(t *testing.T) {
	for _, k := range kind.All() {
		e := k.New("m").WithHint("h")
		assert.Equal(t, k == kind.Unknown, toolerr.CategoryOf(e) == "", string(k))
		assert.Equal(t, toolerr.CategoryOf(e), toolerr.CategoryOf(overTheWire(t, e)), "at the other end")
		parsed, err := toolerr.Parse(e.Text())
		require.NoError(t, err)
		assert.Equal(t, toolerr.CategoryOf(e), toolerr.CategoryOf(parsed))
		assert.NotEmpty(t, parsed.Code)
	}
	assert.Empty(t, toolerr.CategoryOf(errors.New("x")))
}

func TestBadUse(t *testing.T) {
	for problem, e := range map[string]*toolerr.Error{
		"empty code":                 toolerr.New(" ", "", "m"),
		"WithCode: empty code":       toolerr.Auth("m").WithCode(""),
		"kind.New: empty message":    toolerr.RateLimited("", time.Second).WithCode("X").WithCause(fs.ErrExist),
		"unknown category typo":      toolerr.New("X", "typo", "m"),
		"cannot be encoded":          toolerr.Auth("m").WithData(func() {}),
		"With on a nil":              (*toolerr.Error)(nil).WithHint("h"),
		"WithData: the value cannot": toolerr.Auth("m").WithData(func() {}).WithCode("").WithHint("h").WithData(1).WithRetryAfter(time.Second),
	} {
		require.ErrorIs(t, e, kind.ErrBadUse, problem)
		assert.ErrorContains(t, errors.Unwrap(e), problem, "for the log")
		assert.Equal(t, "Internal error", e.Message)
		assert.False(t, e.Retryable)
		e = e.WithCause(fs.ErrClosed)
		require.ErrorIs(t, e, kind.ErrBadUse, "a cause does not replace the name of the mistake")
		require.ErrorIs(t, e, fs.ErrClosed)
		b, err := json.Marshal(rpcerr.From(e))
		require.NoError(t, err)
		assert.JSONEq(t, `{"code":-32603,"message":"Internal error"}`, string(b))
		assert.Contains(t, overTheWire(t, e).Text(), "code=INTERNAL_ERROR")
	}
}

// After a conversion, only an error that asked the user to log in still does so.
func TestLogin(t *testing.T) {
	for _, c := range []struct {
		err  error
		want rpcerr.Code
	}{
		{toolerr.Auth("m"), kind.CodeUnauthorized},
		{toolerr.New("KEY_REFUSED", toolerr.CategoryAuth, "m"), kind.CodeUnauthorized},
		{kind.Upstream("m", 401).WithCode("X"), kind.CodeUnauthorized},
		{kind.Unauthorized.New("m").WithCode("X"), rpcerr.CodeAuthRequired},
		{kind.FromRequestError(rpcerr.AuthRequired(nil)).WithCode("X"), rpcerr.CodeAuthRequired},
	} {
		assert.Equal(t, c.want, rpcerr.From(c.err).Code, "%#v", c.err)
		assert.ErrorIs(t, c.err, kind.Unauthorized)
	}
}

func TestErrorf(t *testing.T) {
	e := toolerr.Errorf("CHANNEL_NOT_FOUND", toolerr.CategoryNotFound, "no channel %q: %w", "general", fs.ErrNotExist)
	assert.Equal(t, `no channel "general"`, e.Message)
	assert.ErrorIs(t, e, fs.ErrNotExist)
	assert.Equal(t, toolerr.New("CHANNEL_NOT_FOUND", toolerr.CategoryNotFound, `no channel "general"`).WithCause(fs.ErrNotExist), e)
	assert.Equal(t, "Resource not found", toolerr.Errorf("X", toolerr.CategoryNotFound, "%w", fs.ErrNotExist).Message)
	assert.ErrorIs(t, toolerr.Errorf("X", "", ""), kind.ErrBadUse)
	assert.ErrorIs(t, toolerr.Errorf("", "", "m"), kind.ErrBadUse)
	assert.ErrorIs(t, toolerr.Errorf("X", "typo", "m"), kind.ErrBadUse)
}

// An error whose cause is bad use is not bad use itself.
func TestCauseThatIsBadUse(t *testing.T) {
	mistake := kind.NotFound.New("")
	for _, e := range []*toolerr.Error{toolerr.NotFound("m").WithCause(mistake), toolerr.Errorf("NOT_FOUND", toolerr.CategoryNotFound, "m: %w", mistake)} {
		assert.Equal(t, rpcerr.CodeResourceNotFound, rpcerr.From(e).Code)
		assert.Equal(t, []acp.ToolCallContent{acp.ToolText(e.Text())}, e.FailedToolCall().Content)
	}
	incomplete := kind.ContextRequired.New("canary").WithCode("WHICH")
	assert.ErrorIs(t, rpcerr.From(incomplete), kind.ErrBadUse)
	assert.ErrorIs(t, incomplete, kind.ErrBadUse)
	b, err := json.Marshal([]any{rpcerr.From(incomplete), incomplete.FailedToolCall(), incomplete.Text()})
	require.NoError(t, err)
	assert.NotContains(t, string(b), "canary")
}
