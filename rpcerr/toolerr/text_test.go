package toolerr_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/seed"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

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
