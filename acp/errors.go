package acp

import (
	"strings"

	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The ways in which a connection fails on this side. Calls return them wrapped
// with the cause; compare with errors.Is. An error that the peer answered is an
// *rpcerr.RequestError instead, and a ctx error stays one.
var (
	// ErrClosed: the connection has ended, by Close, by the end of input or by a
	// failed read or write. Every pending and every later call returns it.
	ErrClosed = wire.ErrClosed
	// ErrOverloaded: the peer sent more than the hard limit of input while
	// handlers were not done with what came before. The connection is closed.
	ErrOverloaded = wire.ErrOverloaded
	// ErrStalled: the peer has stopped reading what this side writes. The
	// connection is closed.
	ErrStalled = wire.ErrStalled
	// ErrTurnCancelled is the cause (see context.Cause) for which the ctx of an
	// agent's Prompt ends when the client cancels the turn or closes the session.
	// Whatever error Prompt then returns, the client is told "cancelled".
	ErrTurnCancelled = wire.ErrTurnCancelled
	// ErrTurnRunning: the client's session helper runs one turn at a time, and one
	// is running.
	ErrTurnRunning = wire.ErrTurnRunning
	// ErrHandlerStuck: the connection has ended but a handler that ignores its ctx
	// has not returned. Run and Wait return it, with the names of the methods.
	ErrHandlerStuck = wire.ErrHandlerStuck
)

// CapabilityError says that a call was not sent because the peer did not
// advertise the capability it needs. Nothing went over the wire and the
// connection is fine; take another way or leave the feature out.
//
// When a handler returns it, as a proxy does that forwards a call, the peer gets
// -32601, method not found.
type CapabilityError struct {
	// Method is the method of the call, such as "session/list".
	Method string
	// Capability is the path of the missing bit below agentCapabilities or
	// clientCapabilities, such as "sessionCapabilities.list".
	Capability string
}

// Error names the method and the missing capability.
func (e *CapabilityError) Error() string {
	return "acp: " + e.Method + ": peer does not advertise " + e.Capability
}

// RequestError is the form in which the error leaves a handler: -32601 for the
// method that was asked.
func (e *CapabilityError) RequestError() *rpcerr.RequestError {
	return rpcerr.MethodNotFound(e.Method).WithCause(e)
}

// InvalidError says that a value breaks the rules of the protocol, or has no form on
// the wire: params this program wanted to send (nothing was sent), or the peer's answer
// to a call. Where tells which. When a handler returns it, the peer gets -32603 without
// details, because the mistake is not in the peer's request.
type InvalidError struct {
	// Where names the method and which part of it is wrong, such as
	// "session/new params" or "session/prompt result".
	Where string
	// Fields lists what is wrong, in the order of their paths. It is never empty.
	Fields []FieldError
}

// FieldError is one broken rule.
type FieldError struct {
	// Path leads to the member in the JSON object, such as "prompt[0].uri". It is
	// empty when the value as a whole is meant.
	Path string
	// Message says what the rule is, such as "must be an absolute path".
	Message string
}

// Error lists all broken rules on one line.
func (e *InvalidError) Error() string {
	var b strings.Builder
	b.WriteString("acp: invalid ")
	b.WriteString(e.Where)
	sep := ": "
	for _, f := range e.Fields {
		b.WriteString(sep)
		b.WriteString(f.Error())
		sep = "; "
	}
	return b.String()
}

// Error is the path and the rule.
func (e FieldError) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

// Unwrap gives the field errors, so that errors.As with a FieldError target finds
// the first of them.
func (e *InvalidError) Unwrap() []error {
	errs := make([]error, len(e.Fields))
	for i, f := range e.Fields {
		errs[i] = f
	}
	return errs
}
