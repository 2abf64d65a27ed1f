package toolerr

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/rpcerr/internal/inside"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// ErrNotText is returned by [Parse] for text that the method Text did not write.
var ErrNotText = errors.New("toolerr: not the text of a tool error")

// Parse reads back what the method Text of an error wrote, also when it comes from another
// program that uses the format, or with white space around it. The kind is that of the
// category, and Unknown for a category that is none of the six. Bytes that are not UTF-8 are
// decoded as U+FFFD, as in JSON.
func Parse(text string) (*Error, error) {
	text = strings.ToValidUTF8(strings.Trim(text, " \t\r\n"), "\uFFFD")
	e, err := parse(text)
	if err != nil && strings.Contains(text, "\r\n") { // the line ends of another system
		if e, err2 := parse(strings.ReplaceAll(text, "\r\n", "\n")); err2 == nil {
			return e, nil
		}
	}
	return e, err
}

func parse(text string) (*Error, error) {
	body, ok := strings.CutSuffix(text, inside.FenceClose)
	if !ok {
		return nil, fmt.Errorf("%w: no closing fence", ErrNotText)
	}
	at := strings.LastIndex(body, inside.FenceOpen)
	if at < 0 {
		return nil, fmt.Errorf("%w: no JSON in a fence", ErrNotText)
	}
	var b struct {
		inside.ToolText
		Code         *string  `json:"code"`
		RetryAfterMs *float64 `json:"retryAfterMs"`
	}
	if err := json.Unmarshal([]byte(body[at+len(inside.FenceOpen):]), &b); err != nil {
		return nil, fmt.Errorf("%w: reading the JSON: %w", ErrNotText, err)
	}
	if b.Code == nil {
		return nil, fmt.Errorf("%w: the JSON has no code", ErrNotText)
	}
	k, ok := kinds[Category(b.Category)]
	if !ok {
		k = kind.Unknown
	}
	e := &Error{Kind: k, Code: *b.Code, Retryable: b.Retryable}
	if k == kind.Unauthorized {
		e.Number = kind.CodeUnauthorized
	}
	b.ToolText.Code = e.Code
	if b.RetryAfterMs != nil {
		ms := math.Ceil(*b.RetryAfterMs)
		if ms < 0 || ms > float64(math.MaxInt64/time.Millisecond) {
			return nil, fmt.Errorf("%w: retryAfterMs is out of range", ErrNotText)
		}
		e.RetryAfter, e.NoDelay = time.Duration(ms)*time.Millisecond, ms == 0
		b.ToolText.RetryAfterMs = new(int64(ms))
	}
	// The JSON decides what the line before the message must look like, so that
	// a message may hold anything.
	if e.Message, ok = strings.CutPrefix(body[:at], b.Header()); !ok {
		return nil, fmt.Errorf("%w: the first line does not agree with the JSON", ErrNotText)
	}
	return e, nil
}
