package toolerr

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// block is the JSON in the fence. The order of its members is part of the format.
type block struct {
	Code         string   `json:"code"`
	Category     Category `json:"category,omitempty"`
	Retryable    bool     `json:"retryable"`
	RetryAfterMs *int64   `json:"retryAfterMs,omitempty"`
}

func (b block) header() string {
	var s strings.Builder
	s.WriteString("[ERROR code=" + word(b.Code))
	if b.Category != "" {
		s.WriteString(" category=" + word(string(b.Category)))
	}
	s.WriteString(" retryable=" + strconv.FormatBool(b.Retryable))
	if b.RetryAfterMs != nil {
		s.WriteString(" retryAfterMs=" + strconv.FormatInt(*b.RetryAfterMs, 10))
	}
	s.WriteString("] ")
	return s.String()
}

// word quotes what would break the line.
func word(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == ']' || r == '"' || r == 0x7f || r == 0x2028 || r == 0x2029 }) {
		return strconv.Quote(s)
	}
	return s
}

const (
	fenceOpen  = "\n\n```json\n"
	fenceClose = "\n```"
)

// Text returns the form that models read: one line for people, then the same facts
// as JSON in a fence.
//
//	[ERROR code=RATE_LIMITED category=rate_limit retryable=true retryAfterMs=2000] Too many requests
//
//	```json
//	{"code":"RATE_LIMITED","category":"rate_limit","retryable":true,"retryAfterMs":2000}
//	```
//
// It does not contain Reason, Hint, Status, Data, nor a kind that is finer than the
// category. Line breaks in the message are kept.
func (e *Error) Text() string {
	if e == nil {
		return ""
	}
	// Fields may have been assigned by hand, so they are put into the form that the
	// constructors give them.
	b := block{Code: clean(e.Code), Category: Category(clean(string(e.Category))), Retryable: e.Retryable}
	if e.RetryAfter > 0 || e.NoDelay {
		b.RetryAfterMs = new(wholeMillis(e.RetryAfter).Milliseconds())
	}
	message := clean(e.Message)
	raw, err := json.Marshal(b)
	if err != nil { // strings, a bool and a number always can be encoded
		return b.header() + message
	}
	return b.header() + message + fenceOpen + string(raw) + fenceClose
}

// ErrNotText is returned by [Parse] for text that [Error.Text] did not write.
var ErrNotText = errors.New("toolerr: not the text of a tool error")

// Parse reads back what [Error.Text] wrote, also when it comes from another program that
// uses the format, or with white space around it. Bytes that are not UTF-8 are decoded as
// U+FFFD, as in JSON.
func Parse(text string) (*Error, error) {
	text = clean(strings.Trim(text, " \t\r\n"))
	e, err := parse(text)
	if err != nil && strings.Contains(text, "\r\n") { // the line ends of another system
		if e, err2 := parse(strings.ReplaceAll(text, "\r\n", "\n")); err2 == nil {
			return e, nil
		}
	}
	return e, err
}

func parse(text string) (*Error, error) {
	body, ok := strings.CutSuffix(text, fenceClose)
	if !ok {
		return nil, fmt.Errorf("%w: no closing fence", ErrNotText)
	}
	at := strings.LastIndex(body, fenceOpen)
	if at < 0 {
		return nil, fmt.Errorf("%w: no JSON in a fence", ErrNotText)
	}
	var b struct {
		Code         *string  `json:"code"`
		Category     Category `json:"category"`
		Retryable    bool     `json:"retryable"`
		RetryAfterMs *float64 `json:"retryAfterMs"`
	}
	if err := json.Unmarshal([]byte(body[at+len(fenceOpen):]), &b); err != nil {
		return nil, fmt.Errorf("%w: reading the JSON: %w", ErrNotText, err)
	}
	if b.Code == nil {
		return nil, fmt.Errorf("%w: the JSON has no code", ErrNotText)
	}
	e := &Error{Code: *b.Code, Category: b.Category, Retryable: b.Retryable}
	known := block{Code: e.Code, Category: e.Category, Retryable: e.Retryable}
	if b.RetryAfterMs != nil {
		ms := math.Ceil(*b.RetryAfterMs)
		if ms < 0 || ms > float64(math.MaxInt64/time.Millisecond) {
			return nil, fmt.Errorf("%w: retryAfterMs is out of range", ErrNotText)
		}
		e.RetryAfter, e.NoDelay = time.Duration(ms)*time.Millisecond, ms == 0
		known.RetryAfterMs = new(int64(ms))
	}
	// The JSON decides what the line before the message must look like, so that
	// a message may hold anything.
	if e.Message, ok = strings.CutPrefix(body[:at], known.header()); !ok {
		return nil, fmt.Errorf("%w: the first line does not agree with the JSON", ErrNotText)
	}
	return e, nil
}
