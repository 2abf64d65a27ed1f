package rpcerr

import (
	"context"
	"log/slog"
	"strconv"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/internal/errs"
)

// RequestError is the error of a request in its wire form. A call returns it if the peer responded
// with an error; Data is then a json.RawMessage, or nil if the peer sent none. If a handler returns
// it, through any wrapping with %w, it is sent unchanged. A type of your own must not embed one:
// the embedded field hides the method of that name.
//
// Build one with a factory such as [InvalidParams]. The methods that begin with With return
// copies, so a value is safe for concurrent use as long as no one assigns to its fields. All
// methods accept a nil receiver.
type RequestError struct {
	Code    Code
	Message string
	// Data is optional and may be anything encoding/json can write. The peer reads it.
	Data any

	cause    error
	received bool // the error was decoded, so all of it came from a peer
}

// New returns an error with a code of the application, which must lie outside the ranges that
// JSON-RPC (-32768 to -32000) and the Language Server Protocol (-32899 to -32800) reserve. A
// caller takes the codes from -31104 to -31000 for the kinds of package kind: -31000, for example,
// is a service that is unavailable, so that package retry calls again.
func New(code Code, message string, data any) *RequestError {
	return &RequestError{Code: code, Message: message, Data: data}
}

// Error returns the message and the code, and nothing of Data or of the cause.
func (e *RequestError) Error() string {
	if e == nil {
		return "<nil>"
	}
	message := e.Message
	if message == "" {
		message = e.Code.String()
	}
	return message + " (" + strconv.Itoa(int(e.Code)) + ")"
}

// Unwrap returns the cause given to WithCause.
func (e *RequestError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.cause
}

// Is reports whether target is a RequestError with the same code. [ErrSessionNotFound] also
// requires certain data. If target has a method Matches(error) bool, as the kinds of package
// kind have, Is returns its result.
func (e *RequestError) Is(target error) bool {
	if m, ok := target.(interface{ Matches(error) bool }); ok {
		return e != nil && m.Matches(e)
	}
	t, ok := target.(*RequestError)
	if !ok || t == nil || e == nil {
		return t == e && ok
	}
	if t == errSessionNotFound && e != t {
		return e.namesSession()
	}
	return e.Code == t.Code
}

// WithDetail returns a copy whose message reads "<message>: <detail>".
func (e *RequestError) WithDetail(detail string) *RequestError {
	c := e.copy()
	switch {
	case detail == "":
	case c.Message == "":
		c.Message = c.Code.String() + ": " + detail
	default:
		c.Message += ": " + detail
	}
	return c
}

// WithData returns a copy with the given data.
func (e *RequestError) WithData(data any) *RequestError {
	c := e.copy()
	c.Data = data
	return c
}

// WithCause returns a copy that wraps cause, which the log shows and the peer does not read.
func (e *RequestError) WithCause(cause error) *RequestError {
	c := e.copy()
	c.cause = cause
	return c
}

// copy returns an internal error for nil: a response needs a code.
func (e *RequestError) copy() *RequestError {
	if e == nil {
		return InternalError(nil)
	}
	c := *e
	c.received = false
	return &c
}

// LogValue returns the code, its name, the message and the cause. It omits Data, which may
// contain input of a user.
func (e *RequestError) LogValue() slog.Value {
	if e == nil {
		return slog.Value{}
	}
	attrs := []slog.Attr{slog.Int("code", int(e.Code)), slog.String("message", errs.LogString(e.Message))}
	if name, ok := codeNames[e.Code]; ok {
		attrs = append(attrs, slog.String("name", name))
	}
	if e.cause != nil {
		attrs = append(attrs, errs.LogAttr("cause", e.cause))
	}
	return slog.GroupValue(attrs...)
}

// Code is the number of a JSON-RPC error.
type Code int32

// The codes of JSON-RPC 2.0 and of the Agent Client Protocol.
const (
	CodeParseError                 Code = jsonrpc2.CodeParseError     // a message is not JSON
	CodeInvalidRequest             Code = jsonrpc2.CodeInvalidRequest // JSON, but not a message, or at a forbidden time
	CodeMethodNotFound             Code = jsonrpc2.CodeMethodNotFound // unknown method, or an optional one that was not advertised
	CodeInvalidParams              Code = jsonrpc2.CodeInvalidParams  // params that break the schema or name something impossible
	CodeInternalError              Code = jsonrpc2.CodeInternalError  // the handler failed for a reason that the peer cannot change
	CodeRequestCancelled           Code = -32800                      // the work ended because the request was cancelled
	CodeAuthRequired               Code = -32000                      // credentials are absent or expired
	CodeResourceNotFound           Code = -32002                      // an unknown file, terminal or session
	CodeUnsupportedProtocolVersion Code = -32022                      // no protocol version in common
)

// codeNames holds the fixed message of each code.
var codeNames = map[Code]string{
	CodeParseError:                 "Parse error",
	CodeInvalidRequest:             "Invalid request",
	CodeMethodNotFound:             "Method not found",
	CodeInvalidParams:              "Invalid params",
	CodeInternalError:              "Internal error",
	CodeRequestCancelled:           "Request cancelled",
	CodeAuthRequired:               "Authentication required",
	CodeResourceNotFound:           "Resource not found",
	CodeUnsupportedProtocolVersion: "Unsupported protocol version",
}

// String returns the code's name, such as "Invalid params", and "code -31001"
// for a code the protocol does not define.
func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return "code " + strconv.Itoa(int(c))
}

// From returns the error that goes to the peer for err: nil for nil, and else a [*RequestError], which
// errors.As finds. The first rule that fits wins:
//
//   - a *jsonrpc2.Error of github.com/sourcegraph/jsonrpc2 becomes the same error; one that is
//     wrapped is an error like any other, because another peer may have sent it;
//   - the first error in the chain that has a method RequestError() *RequestError
//     becomes what that method returns, unless it returns nil;
//   - context.Canceled becomes -32800; a connection sends this only if the peer has
//     cancelled the request, and else -32603, because some other ctx ended;
//   - everything else, context.DeadlineExceeded included, becomes -32603 "Internal error".
//
// The result wraps err, which is never encoded.
func From(err error) error {
	if err == nil {
		return nil
	}
	return from(err)
}

func from(err error) *RequestError {
	if e, ok := err.(*jsonrpc2.Error); ok {
		return fromWire(e)
	}
	r, own := find(err)
	switch {
	case r == nil && errs.Is(err, context.Canceled):
		return RequestCancelled(nil).WithCause(err)
	case r == nil:
		return InternalError(nil).WithCause(err)
	case own == error(r):
		return r
	}
	return r.WithCause(errs.Both(err, r.cause)) // err has what was wrapped around own
}

// CodeOf returns the code of the first error in the chain of err that is a *RequestError
// or has a method RequestError. It reports false for every other error, including the
// error of a ctx and that of a connection that has ended, because no peer sent those.
func CodeOf(err error) (Code, bool) {
	if r, _ := find(err); r != nil {
		return r.Code, true
	}
	return 0, false
}

// find returns the first error in the chain, in the order of errors.As, that builds
// an error of the protocol, and what it builds.
func find(err error) (r *RequestError, own error) {
	return errs.Explicit[RequestError](err, func(error) bool { return false })
}

// RequestError returns e, so that [From] finds the outermost RequestError of a chain.
func (e *RequestError) RequestError() *RequestError { return e }
