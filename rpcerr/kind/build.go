package kind

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/rpcerr"
)

// New returns an error of the kind. The peer reads message, and often a model does: say what
// went wrong with which input. An empty message or an unknown kind is bad use; see [ErrBadUse].
func (k Kind) New(message string) *Error {
	switch {
	case !k.Known():
		return badUse("kind.New", "unknown kind "+strconv.Quote(string(k)))
	case strings.TrimSpace(message) == "":
		return badUse("kind.New", "empty message")
	}
	return &Error{Kind: k, Message: clean(message), Retryable: k.Retryable()}
}

// Newf is [Kind.New] with a formatted message. The cause, which may be nil, is for errors.Is,
// errors.As and the log; the peer does not see it. A text of another error among args is read
// by the peer: make that error the cause.
//
//	kind.NotFound.Newf(err, "no template %q", name)
func (k Kind) Newf(cause error, format string, args ...any) *Error {
	e := k.New(fmt.Sprintf(format, args...))
	if cause == nil {
		return e
	}
	return e.WithCause(cause)
}

// clean replaces invalid UTF-8, so that encoding as JSON does not change the text.
func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func (e *Error) copy() *Error {
	if e == nil {
		return badUse("kind", "With on a nil *Error")
	}
	c := *e
	return &c
}

// edit returns a copy with a change that the peer will see. It does not change an error that
// replaces one that could not be built, because the peer receives no details of it.
func (e *Error) edit(change func(*Error)) *Error {
	c := e.copy()
	if c.mistake == nil {
		change(c)
	}
	return c
}

// refuse returns the error for a change that cannot be made to e.
func (e *Error) refuse(function, problem string) *Error {
	c := e.copy()
	if c.mistake != nil {
		return c
	}
	return badUse(function, problem).WithCause(c).WithAttrs(c.Attrs...)
}

// WithCode returns a copy with the application's own name for the failure; a tool call that
// fails with it shows [Error.Text]. An empty code is bad use.
func (e *Error) WithCode(code string) *Error {
	if strings.TrimSpace(code) == "" {
		return e.refuse("kind.WithCode", "empty code")
	}
	return e.edit(func(c *Error) { c.Code = clean(code) })
}

// WithReason returns a copy with the reason, for code that does not know the contract of the
// tool above it. It replaces any reason that e has, also one that a contract or package toolcode
// gave it, and does not compare the new one with a contract. An empty reason is bad use.
func (e *Error) WithReason(reason string) *Error {
	if strings.TrimSpace(reason) == "" {
		return e.refuse("kind.WithReason", "empty reason")
	}
	return e.edit(func(c *Error) { c.Reason = clean(reason) })
}

// WithHint returns a copy with the hint. An empty hint removes it. An error of kind
// [ContextRequired] needs a hint: without one it is bad use.
func (e *Error) WithHint(hint string) *Error {
	return e.edit(func(c *Error) { c.Hint = clean(hint) })
}

// WithStatus returns a copy with the HTTP status that another service responded with. A
// number that is no HTTP status is bad use.
func (e *Error) WithStatus(status int) *Error {
	if status < 100 || status > 599 {
		return e.refuse("kind.WithStatus", strconv.Itoa(status)+" is not an HTTP status")
	}
	return e.edit(func(c *Error) { c.Status = status })
}

// WithNumber returns a copy with another code on the wire than that of its kind.
func (e *Error) WithNumber(code rpcerr.Code) *Error {
	return e.edit(func(c *Error) {
		if c.Number = code; code == c.Kind.Code() {
			c.Number = 0
		}
	})
}

// WithRetryable returns a copy that is retryable or not. False also removes RetryAfter and
// NoDelay.
func (e *Error) WithRetryable(yes bool) *Error {
	return e.edit(func(c *Error) {
		if c.Retryable = yes; !yes {
			c.RetryAfter, c.NoDelay = 0, false
		}
	})
}

// WithRetryAfter returns a copy that may be retried after d, rounded up to whole
// milliseconds. Zero or less means only that it may be retried; see [Error.WithNoDelay].
func (e *Error) WithRetryAfter(d time.Duration) *Error {
	return e.edit(func(c *Error) {
		c.Retryable, c.RetryAfter, c.NoDelay = true, ceilMillis(d), false
	})
}

// WithNoDelay returns a copy that may be retried at once.
func (e *Error) WithNoDelay() *Error {
	return e.edit(func(c *Error) {
		c.Retryable, c.RetryAfter, c.NoDelay = true, 0, true
	})
}

// WithData returns a copy whose Data is v, written by encoding/json; nil or an empty object
// removes it. A value that cannot be encoded is bad use. On the wire, members of an object are
// beside the error's own fields, and replace none of them.
func (e *Error) WithData(v any) *Error {
	raw, err := canonical(v)
	if err != nil {
		return e.refuse("kind.WithData", "the value cannot be encoded: "+err.Error())
	}
	return e.edit(func(c *Error) {
		if c.Data = raw; nothing(raw) {
			c.Data = nil
		}
	})
}

// With returns a copy that has one more member in Data.
func (e *Error) With(key string, value any) *Error {
	var members map[string]json.RawMessage
	if e != nil && len(e.Data) > 0 && json.Unmarshal(e.Data, &members) != nil {
		return e.refuse("kind.With", "Data is not an object")
	}
	raw, err := canonical(value)
	if err != nil {
		return e.refuse("kind.With", "the value of "+key+" cannot be encoded: "+err.Error())
	}
	if members == nil {
		members = make(map[string]json.RawMessage, 1)
	}
	members[key] = raw
	return e.WithData(members)
}

// WithCause returns a copy that wraps cause, for errors.Is, errors.As and the log.
func (e *Error) WithCause(cause error) *Error {
	if m, ok := cause.(*errs.Misuse); ok {
		return badUse(m.Func, m.Problem)
	}
	c := e.copy()
	if d, ok := cause.(*errs.Derived); ok {
		c.derived, cause = true, d.Cause
	}
	if c.mistake != nil {
		cause = join(cause, c.cause) // the cause of a mistake is never replaced
	}
	c.cause = cause
	return c
}

// WithDebug returns a copy with a message for the developers of this program.
func (e *Error) WithDebug(message string) *Error {
	c := e.copy()
	c.Debug = message
	return c
}

// WithAttrs returns a copy with more attributes for the log.
func (e *Error) WithAttrs(attrs ...slog.Attr) *Error {
	c := e.copy()
	c.Attrs = append(slices.Clip(c.Attrs), attrs...)
	return c
}

// WithLogged returns a copy that neither the connection nor the packages below rpcerr log again.
func (e *Error) WithLogged() *Error {
	c := e.copy()
	c.cause = errs.Logged(cmp.Or(c.cause, error(e)))
	return c
}

func ceilMillis(d time.Duration) time.Duration {
	whole := max(d, 0).Truncate(time.Millisecond)
	if whole < d && whole <= math.MaxInt64-time.Millisecond {
		whole += time.Millisecond
	}
	return whole
}

// canonical encodes equal JSON values as equal bytes.
func canonical(v any) (json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // integers beyond 2^53 survive
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// nothing reports whether a canonical value is empty, so that Data is nil.
func nothing(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null" || string(raw) == "{}"
}
