package errs

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
)

// Category returns the category of package toolerr for a kind, and "" for one that has none.
// Several kinds share a category.
func Category(kind string) string {
	switch kind {
	case "unauthorized", "forbidden":
		return "auth"
	case "rate_limited":
		return "rate_limit"
	case "not_found", "method_not_found":
		return "not_found"
	case "validation", "parse_error", "invalid_request", "invalid_params", "conflict", "context_required", "context_too_large", "unsupported_version":
		return "validation"
	case "timeout", "cancelled":
		return "timeout"
	case "internal", "service_unavailable", "mcp_unavailable", "configuration", "initialization_failed", "database", "serialization", "transient", "fatal":
		return "internal"
	}
	return ""
}

// DefaultCode returns the code for a failure in the category without a code of its own.
func DefaultCode(category string) string {
	switch category {
	case "rate_limit":
		return "RATE_LIMITED"
	case "not_found", "timeout":
		return strings.ToUpper(category)
	}
	return strings.ToUpper(cmp.Or(category, "unknown")) + "_ERROR"
}

// ToolText is the JSON in the text of a tool error. The order of its members is part of the
// format.
type ToolText struct {
	Code         string `json:"code"`
	Category     string `json:"category,omitempty"`
	Retryable    bool   `json:"retryable"`
	RetryAfterMs *int64 `json:"retryAfterMs,omitempty"`
}

// The text before and after the JSON.
const (
	FenceOpen  = "\n\n```json\n"
	FenceClose = "\n```"
)

// String returns the whole text.
func (t ToolText) String(message string) string {
	raw, _ := json.Marshal(t) // strings, a bool and a number
	return t.Header() + message + FenceOpen + string(raw) + FenceClose
}

// Header returns the text before the message.
func (t ToolText) Header() string {
	s := "[ERROR code=" + word(t.Code)
	if t.Category != "" {
		s += " category=" + word(t.Category)
	}
	s += " retryable=" + strconv.FormatBool(t.Retryable)
	if t.RetryAfterMs != nil {
		s += " retryAfterMs=" + strconv.FormatInt(*t.RetryAfterMs, 10)
	}
	return s + "] "
}

// word quotes a value that would break the line.
func word(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == ']' || r == '"' || r == 0x7f || r == 0x2028 || r == 0x2029 }) {
		return strconv.Quote(s)
	}
	return s
}
