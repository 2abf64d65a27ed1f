package kind

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// New returns an error of the kind. message is read by the peer, and often by a
// model: say what went wrong with which input, not how this program is built. An
// empty message or a kind that is none of the constants is bad use; see
// [ErrBadUse].
func (k Kind) New(message string) *Error {
	switch {
	case !k.Known():
		return BadUse("kind.New", "unknown kind "+strconv.Quote(string(k)))
	case strings.TrimSpace(message) == "":
		return BadUse("kind.New", "empty message")
	}
	return &Error{Kind: k, Message: clean(message), Retryable: k.Retryable()}
}

// Errorf formats a message as fmt.Errorf does. An operand of %w becomes the
// cause and stays in the process: its text is left out of the message, together
// with the punctuation that joined it. When nothing else is left, the message is the
// kind's fixed text.
//
//	kind.NotFound.Errorf("no template %q: %w", name, err)   // the peer reads: no template "x"
func (k Kind) Errorf(format string, args ...any) *Error {
	message, cause := split(format, args)
	if message == "" && cause != nil {
		message = k.Message()
	}
	e := k.New(message)
	if cause != nil && e.cause == nil {
		e.cause = cause
	}
	return e
}

// operand stands in for an error among the arguments of Errorf, so that one used
// with %w can be told from one that was asked for in plain text.
type operand struct {
	error
	hidden bool
}

func (o *operand) Format(s fmt.State, verb rune) {
	if !o.hidden {
		fmt.Fprintf(s, fmt.FormatString(s, verb), o.error)
	}
}

func split(format string, args []any) (string, error) {
	args = slices.Clone(args)
	for i, a := range args {
		if err, ok := a.(error); ok && err != nil {
			args[i] = &operand{error: err}
		}
	}
	var causes []error
	switch w := fmt.Errorf(format, args...).(type) {
	case interface{ Unwrap() error }:
		causes = []error{w.Unwrap()}
	case interface{ Unwrap() []error }:
		causes = w.Unwrap()
	default:
		return w.Error(), nil
	}
	for i, c := range causes {
		o := c.(*operand)
		o.hidden = true
		causes[i] = o.error
	}
	message := strings.Trim(fmt.Errorf(format, args...).Error(), " :;,-")
	if len(causes) == 1 {
		return message, causes[0]
	}
	return message, join(causes)
}

// clean makes text fit for JSON, so that it comes back as it went.
func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func (e *Error) copy() *Error {
	if e == nil {
		return BadUse("kind", "With on a nil *Error")
	}
	c := *e
	return &c
}

// WithCode returns a copy with the application's own name for the failure.
func (e *Error) WithCode(code string) *Error {
	c := e.copy()
	c.Code = clean(code)
	return c
}

// WithReason returns a copy that carries the reason. It is meant for code below
// a tool, which does not know the tool's contract; the tool itself calls Fail on
// the declared reason.
func (e *Error) WithReason(reason string) *Error {
	c := e.copy()
	c.Reason = clean(reason)
	return c
}

// WithHint returns a copy that tells what would help.
func (e *Error) WithHint(hint string) *Error {
	c := e.copy()
	c.Hint = clean(hint)
	return c
}

// WithStatus returns a copy that names the HTTP status behind the failure.
// A number that is no HTTP status is bad use.
func (e *Error) WithStatus(status int) *Error {
	if status < 100 || status > 599 {
		return BadUse("kind.WithStatus", strconv.Itoa(status)+" is not an HTTP status").WithCause(e)
	}
	c := e.copy()
	c.Status = status
	return c
}

// WithRetryable returns a copy that says whether trying again may help.
// Saying no also drops RetryAfter.
func (e *Error) WithRetryable(yes bool) *Error {
	c := e.copy()
	if badUse(c) != nil {
		return c
	}
	c.Retryable = yes
	if !yes {
		c.RetryAfter = 0
	}
	return c
}

// WithRetryAfter returns a copy that may be retried after d, rounded up to whole
// milliseconds. Zero or less says only that it may be retried.
func (e *Error) WithRetryAfter(d time.Duration) *Error {
	c := e.copy()
	if badUse(c) != nil {
		return c
	}
	c.Retryable = true
	c.RetryAfter = ceilMillis(d)
	return c
}

// WithCause returns a copy that wraps cause, for errors.Is, errors.As and the log.
func (e *Error) WithCause(cause error) *Error {
	c := e.copy()
	c.cause = join([]error{cause, badUse(e)})
	return c
}

// badUse keeps the one cause that must not be replaced: the name of a mistake.
func badUse(e *Error) error {
	if e != nil {
		if u, ok := e.cause.(*UseError); ok {
			return u
		}
	}
	return nil
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

// WithLogged returns a copy that says it was written to the log, so that layers
// above do not repeat it.
func (e *Error) WithLogged() *Error {
	c := e.copy()
	c.logged = true
	return c
}

func ceilMillis(d time.Duration) time.Duration {
	switch {
	case d <= 0:
		return 0
	case d > math.MaxInt64-time.Millisecond:
		return d.Truncate(time.Millisecond)
	}
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}
