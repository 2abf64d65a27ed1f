package toolerr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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
		assert.Equal(t, c.wire, wireOf(fmt.Errorf("w: %w", c.err)).Code)
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
		assert.Equal(t, c.want, wireOf(c.err).Code, "%#v", c.err)
		assert.ErrorIs(t, c.err, kind.Unauthorized)
	}
}

func TestErrorf(t *testing.T) {
	e := toolerr.Newf("CHANNEL_NOT_FOUND", toolerr.CategoryNotFound, fs.ErrNotExist, "no channel %q", "general")
	assert.Equal(t, `no channel "general"`, e.Message)
	assert.ErrorIs(t, e, fs.ErrNotExist)
	assert.Equal(t, toolerr.New("CHANNEL_NOT_FOUND", toolerr.CategoryNotFound, `no channel "general"`).WithCause(fs.ErrNotExist), e)
	assert.ErrorIs(t, toolerr.Newf("X", "", nil, ""), kind.ErrBadUse)
	assert.ErrorIs(t, toolerr.Newf("", "", nil, "m"), kind.ErrBadUse)
	assert.ErrorIs(t, toolerr.Newf("X", "typo", nil, "m"), kind.ErrBadUse)
}

// An error whose cause is bad use is not bad use itself.
func TestCauseThatIsBadUse(t *testing.T) {
	mistake := kind.NotFound.New("")
	for _, e := range []*toolerr.Error{toolerr.NotFound("m").WithCause(mistake), toolerr.Newf("NOT_FOUND", toolerr.CategoryNotFound, mistake, "m")} {
		assert.Equal(t, rpcerr.CodeResourceNotFound, wireOf(e).Code)
		assert.Equal(t, []acp.ToolCallContent{acp.ToolText(e.Text())}, e.FailedToolCall().Content)
	}
	incomplete := kind.ContextRequired.New("canary").WithCode("WHICH")
	assert.ErrorIs(t, rpcerr.From(incomplete), kind.ErrBadUse)
	assert.ErrorIs(t, incomplete, kind.ErrBadUse)
	b, err := json.Marshal([]any{rpcerr.From(incomplete), incomplete.FailedToolCall(), incomplete.Text()})
	require.NoError(t, err)
	assert.NotContains(t, string(b), "canary")
}

func TestParseForeignText(t *testing.T) {
	const text = "[ERROR code=A category=timeout retryable=true retryAfterMs=2] line one\nline two\n\n```json\n{\"retryAfterMs\":1.5,\"code\":\"A\",\"retryable\":true,\"category\":\"timeout\",\"more\":1}\n```"
	want := &toolerr.Error{Kind: kind.Timeout, Code: "A", Message: "line one\nline two", Retryable: true, RetryAfter: 2 * time.Millisecond}
	for _, in := range []string{text, "\n " + text + "\n\n", strings.ReplaceAll(text, "\n", "\r\n")} {
		got, err := toolerr.Parse(in)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, in := range []string{
		"", "boom", "```json\n{}\n```",
		"[ERROR code=A retryable=false] m\n\n```json\n{\n```",
		"[ERROR code=A retryable=false] m\n\n```json\n{\"retryable\":false}\n```",
		"[ERROR code=B retryable=false] m\n\n```json\n{\"code\":\"A\"}\n```",
		"[ERROR code=A retryable=true retryAfterMs=-1] m\n\n```json\n{\"code\":\"A\",\"retryable\":true,\"retryAfterMs\":-1}\n```",
	} {
		_, err := toolerr.Parse(in)
		assert.ErrorContains(t, err, "not the text of a tool error", in)
	}
}

// Errors made without a constructor have a text that can be parsed, and the result equals what a
// receiver of their wire form decodes.
func TestTextOfHandMade(t *testing.T) {
	for _, e := range []*toolerr.Error{
		{Code: "A\xff", Kind: "\xfe odd ]", Message: "\xff m \u2028"},
		{Code: "", Message: "m"},
		{Code: "A", Message: "m", Retryable: true, RetryAfter: 1},
		{Code: "A", Message: "m", Retryable: true, RetryAfter: 1500 * time.Microsecond},
		{Code: "A", Message: "[ERROR code=B retryable=false] x\n\n```json\n{\"code\":\"B\"}\n```", Kind: kind.Timeout},
	} {
		got, err := toolerr.Parse(e.Text())
		require.NoError(t, err, e.Text())
		assert.Equal(t, overTheWire(t, e).RetryAfter, got.RetryAfter)
		assert.Equal(t, strings.ToValidUTF8(e.Message, "\uFFFD"), got.Message)
		assert.Equal(t, e.Text(), got.Text())
	}
}

// Parsing a text returns the error it was written from, except for the fields that the text does
// not contain: Reason, Hint, Status and Data.
func FuzzText(f *testing.F) {
	f.Add("A", uint8(1), "message", true, int64(2000), "reason", "hint", 404, `{"a":1}`)
	f.Add("A", uint8(1), "message", true, int64(math.MinInt64), "", "", 0, ``)
	f.Add("A ]\n\"", uint8(0), "\n\n```json\n{}\n```", false, int64(-5), "", "", 0, `7`)
	f.Add("\xff", uint8(6), "\r\n m \r\n", false, int64(1)<<62, "", "", 0, ``)
	categories := []toolerr.Category{"", "auth", "rate_limit", "not_found", "validation", "internal", "timeout"}
	f.Fuzz(func(t *testing.T, code string, category uint8, message string, retryable bool, after int64, reason, hint string, status int, data string) {
		if strings.TrimSpace(code) == "" || strings.TrimSpace(message) == "" {
			return // refused by the constructor
		}
		e := toolerr.New(code, categories[int(category)%len(categories)], message)
		switch {
		case after == math.MinInt64:
			e = e.WithNoDelay()
		case after != 0:
			e = e.WithRetryAfter(time.Duration(after))
		}
		e.Retryable = retryable
		e.Reason = strings.ToValidUTF8(reason, "?")
		e = e.WithHint(hint)
		if status >= 100 && status <= 599 {
			e.Status = status
		}
		if json.Valid([]byte(data)) {
			e = e.WithData(json.RawMessage(data))
		}
		assert.Equal(t, e, overTheWire(t, e), "the record loses nothing")

		want := *e
		want.Reason, want.Hint, want.Status, want.Data = "", "", 0, nil
		got, err := toolerr.Parse(e.Text())
		require.NoError(t, err, e.Text())
		assert.Equal(t, &want, got)
	})
}

func FuzzParse(f *testing.F) {
	f.Add(toolerr.Timeout("m").Text())
	f.Add(strings.Replace(toolerr.Timeout("m").Text(), "m", "\xc7m", 1))
	f.Add(strings.ReplaceAll(toolerr.Timeout("m").Text(), "TIMEOUT", "\xc7"))
	for _, raw := range seed.Errors(f) {
		f.Add(string(raw))
	}
	f.Fuzz(func(t *testing.T, in string) {
		e, err := toolerr.Parse(in)
		if err != nil {
			assert.ErrorContains(t, err, "not the text of a tool error")
			return
		}
		again, err := toolerr.Parse(e.Text())
		require.NoError(t, err)
		assert.Equal(t, e, again)
	})
}

var _ acp.ToolFailure = (*toolerr.Error)(nil)

// wireOf returns the error that the peer receives for err.
func wireOf(err error) *rpcerr.RequestError {
	r, _ := errors.AsType[*rpcerr.RequestError](rpcerr.From(err))
	return r
}
