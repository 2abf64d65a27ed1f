package kind

import (
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/acpkit/go-sdk/rpcerr"
)

// Error is a failure with everything that its receiver needs to decide what to do next. All
// fields except Debug and Attrs are sent to the peer, in the form of [Error.RequestError].
// Debug and Attrs are logged and not sent.
//
// Build an Error from a kind, with [Kind.New] or [Kind.Errorf], and refine it with the
// methods that begin with With, each of which returns a copy. An Error is safe for
// concurrent use as long as no one assigns to its fields. The methods accept a nil
// receiver.
type Error struct {
	Kind    Kind
	Message string
	// Code is a name of the application for this failure, such as
	// "CHANNEL_NOT_FOUND". Optional.
	Code string
	// Reason names a failure mode that the tool declares in its contract, such as
	// "no_match". Optional.
	Reason string
	// Retryable reports whether the same call may succeed later.
	Retryable bool
	// RetryAfter is how long to wait before trying again; 0 means unknown. It is sent in
	// milliseconds.
	RetryAfter time.Duration
	// NoDelay reports whether the call may be repeated at once: a RetryAfter of zero is known.
	// It has no meaning if RetryAfter is positive.
	NoDelay bool
	// Hint is a hint for a model or a person.
	Hint string
	// Status is the HTTP status that another service responded with, or 0.
	Status int
	// Number is the code on the wire if it differs from that of the kind, and 0 otherwise. An
	// error of kind ContextRequired that a peer sent without a hint has a Number too.
	Number rpcerr.Code
	// Data holds further facts, as JSON. WithData and With keep it in one canonical
	// form (sorted members, no white space), which makes values comparable.
	Data json.RawMessage

	// ---- what follows never leaves the process ----

	// Debug is for the developers of this program.
	Debug string
	// Attrs is for telemetry.
	Attrs []slog.Attr

	cause   error
	mistake *UseError // this error stands in for one that could not be built
	errorID string    // under which it is in the log already
	derived bool      // a program chose the kind by looking at the cause
}

// Error returns the message, without anything that must not leave the process, such as the
// cause.
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
	switch {
	case e == nil:
		return nil
	case e.Mistake() != nil:
		return join([]error{e.Mistake(), e.cause})
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
		if use := e.incomplete(); use != nil {
			e = use
		}
		return e.Kind == t
	case *rpcerr.RequestError:
		return e.RequestError().Is(t)
	}
	return false
}

// As makes errors.As find the wire form, a *rpcerr.RequestError, for code that handles the
// errors of both ends alike.
func (e *Error) As(target any) bool {
	r, ok := target.(**rpcerr.RequestError)
	if ok && e != nil {
		*r = e.RequestError()
	}
	return ok && e != nil
}

// Record returns e. Error types that hold an Error have this method too; [From] uses it.
func (e *Error) Record() *Error { return e }

// Derived reports whether package classify chose the kind, by looking at the cause,
// and not the author of the program.
func (e *Error) Derived() bool { return e != nil && e.derived }

// Logged reports whether the error, or what it wraps, is in the log already.
func (e *Error) Logged() bool {
	if e == nil || e.errorID != "" {
		return e != nil
	}
	below, ok := errors.AsType[interface {
		error
		Logged() bool
	}](e.cause)
	return ok && below.Logged()
}

// ErrorID returns the id under which the error is in the log, and "" if it is not there or
// was logged without one. A connection sends it with an internal error.
func (e *Error) ErrorID() string {
	if e == nil {
		return ""
	}
	if e.errorID != "" {
		return e.errorID
	}
	below, ok := errors.AsType[interface {
		error
		ErrorID() string
	}](e.cause)
	if !ok {
		return ""
	}
	return below.ErrorID()
}

// LogValue returns everything except Data, which may contain input of a user.
func (e *Error) LogValue() slog.Value {
	if e == nil {
		return slog.Value{}
	}
	attrs := []slog.Attr{slog.String("kind", string(e.Kind)), slog.String("message", rpcerr.LogText(e))}
	text := func(key, value string) {
		if value != "" { // it may be the text of another error, and what a peer has named
			attrs = append(attrs, slog.String(key, rpcerr.LogText(errors.New(value))))
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
	cause := e.Unwrap()
	if use := e.incomplete(); use != nil { // the peer reads something else
		text("bad_use", use.mistake.Error())
		cause = e.cause
	}
	text("debug", e.Debug)
	attrs = append(attrs, e.Attrs...)
	if cause != nil {
		attrs = append(attrs, logAttr("cause", cause))
	}
	return slog.GroupValue(attrs...)
}

// logAttr returns err for a log. An error that knows what a log may hold decides itself.
func logAttr(key string, err error) slog.Attr {
	if v, ok := err.(slog.LogValuer); ok {
		return slog.Any(key, v)
	}
	return slog.String(key, rpcerr.LogText(err))
}

// ErrBadUse is wrapped by the error that a constructor returns if a required argument is
// missing or impossible. Such an error is of kind Internal, and its cause names the
// mistake. The peer receives no details: the methods that begin with With change only what
// is logged.
var ErrBadUse = errors.New("kind: bad use")

// UseError describes a mistake that is an [ErrBadUse].
type UseError struct {
	Func    string // the function that was called, such as "kind.Upstream"
	Problem string // what was wrong, such as "status 0 is not an HTTP error status"
}

// Error returns "Func: Problem".
func (e *UseError) Error() string { return e.Func + ": " + e.Problem }

// Is makes it match ErrBadUse.
func (e *UseError) Is(target error) bool { return target == ErrBadUse }

// Mistake returns the reason why e is sent as an internal error: a
// constructor could not build it, or it lacks what its kind requires. It returns nil if
// there is none.
func (e *Error) Mistake() *UseError {
	if e == nil {
		return nil
	}
	if use := e.incomplete(); use != nil {
		return use.mistake
	}
	return e.mistake
}

// BadUse returns the error to use in place of one that cannot be built; see [ErrBadUse]. It
// is for packages with constructors of their own.
func BadUse(function, problem string) *Error {
	return &Error{Kind: Internal, Message: Internal.Message(), mistake: &UseError{function, problem}}
}
