package kind

import (
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Error is a failure with everything that its receiver needs to decide what to do next. All
// fields except Debug and Attrs are sent to the peer, in the form of [Error.RequestError].
//
// Build an Error with [Kind.New] or [Kind.Newf], and refine it with the methods that begin
// with With, each of which returns a copy. An Error is safe for concurrent use as long as no
// one assigns to its fields. The methods accept a nil receiver.
type Error struct {
	Kind    Kind
	Message string
	// Code is the application's name for this failure, such as "CHANNEL_NOT_FOUND". Optional.
	Code string
	// Reason is a failure mode in the contract of a tool, such as "no_match". Optional.
	Reason string
	// Retryable reports whether the same call may succeed later.
	Retryable bool
	// RetryAfter is how long to wait before trying again; 0 means unknown.
	RetryAfter time.Duration
	// NoDelay reports whether the call may be repeated at once. It has no meaning if RetryAfter
	// is positive.
	NoDelay bool
	// Hint is a hint for a model or a person.
	Hint string
	// Status is the HTTP status that another service responded with, or 0.
	Status int
	// Number is the code of the error on the wire. 0 means that of the kind. An error of kind ContextRequired that a
	// peer sent without a hint has a Number in any case, so that it can be passed on.
	Number rpcerr.Code
	// Data holds further facts, as JSON with sorted members and without white space.
	Data json.RawMessage

	// Debug and Attrs are logged and never sent.
	Debug string
	Attrs []slog.Attr

	cause   error
	mistake *errs.Misuse // this error stands in for one that could not be built
	derived bool         // a program chose the kind by looking at the cause
}

// Error returns the message, and nothing of the cause.
func (e *Error) Error() string {
	switch {
	case e == nil:
		return "<nil>"
	case e.Message == "":
		return e.Kind.Message()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	if m := e.unfit(); m != nil {
		return join(m, e.cause)
	}
	return e.cause
}

// Is makes errors.Is(err, kind.NotFound) work, and with it
// errors.Is(err, rpcerr.ErrResourceNotFound) and the other sentinels of rpcerr.
func (e *Error) Is(target error) bool {
	if e == nil {
		return false
	}
	switch t := target.(type) {
	case Kind:
		return e.fit().Kind == t
	case *rpcerr.RequestError:
		return e.RequestError().Is(t)
	}
	return e.derived && e.mistake == nil && target == errs.ErrDerived
}

// As makes errors.As find the wire form, a *rpcerr.RequestError.
func (e *Error) As(target any) bool {
	r, ok := target.(**rpcerr.RequestError)
	if ok && e != nil {
		*r = e.RequestError()
	}
	return ok && e != nil
}

// LogValue returns everything except Data, which may contain input of a user.
func (e *Error) LogValue() slog.Value {
	if e == nil {
		return slog.Value{}
	}
	attrs := []slog.Attr{slog.String("kind", string(e.Kind)), slog.String("message", errs.LogString(e.Error()))}
	text := func(key, value string) {
		if value != "" { // it may contain the text of another error or of a peer
			attrs = append(attrs, slog.String(key, errs.LogString(value)))
		}
	}
	text("code", e.Code)
	text("reason", e.Reason)
	if e.Number != 0 {
		attrs = append(attrs, slog.Int("number", int(e.Number)))
	}
	if e.Status != 0 {
		attrs = append(attrs, slog.Int("status", e.Status))
	}
	attrs = append(attrs, slog.Bool("retryable", e.Retryable))
	if e.RetryAfter > 0 || e.NoDelay {
		attrs = append(attrs, slog.Duration("retry_after", e.RetryAfter))
	}
	text("hint", e.Hint)
	text("debug", e.Debug)
	attrs = append(attrs, e.Attrs...)
	if cause := e.Unwrap(); cause != nil {
		attrs = append(attrs, errs.LogAttr("cause", cause))
	}
	return slog.GroupValue(attrs...)
}

// ErrBadUse is wrapped by the error that a constructor returns if a required argument is
// missing or impossible. Such an error is of kind Internal, and its cause names the
// mistake. The peer receives no details, whatever is added to it.
var ErrBadUse = errs.ErrBadUse

// badUse returns the error to use in place of one that cannot be built.
func badUse(function, problem string) *Error {
	return &Error{Kind: Internal, Message: Internal.Message(), mistake: &errs.Misuse{Func: function, Problem: problem}}
}

// unfit returns the reason why e must be sent as an internal error, or nil.
func (e *Error) unfit() *errs.Misuse {
	if e.mistake == nil && e.Kind == ContextRequired && strings.TrimSpace(e.Hint) == "" && e.Number == 0 {
		return &errs.Misuse{Func: "kind.ContextRequired", Problem: "the error has no hint: call WithHint with what to ask the user"}
	}
	return e.mistake
}

// fit returns e, or the internal error that is sent in its place.
func (e *Error) fit() *Error {
	if e.mistake != nil || e.unfit() == nil {
		return e
	}
	return new(Error).WithCause(e.unfit()).WithCause(e)
}

// join wraps the errors that are not nil.
func join(errs ...error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}
