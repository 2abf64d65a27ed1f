package acp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The errors of this end of a connection. Calls return them wrapped with the cause; use
// errors.Is. An error that the peer returned is an *rpcerr.RequestError instead, and a
// call whose ctx is done returns the error of ctx.
var (
	// ErrClosed means that the connection has ended: by Close, at the end of the input, or
	// because a read or write failed. Pending and later calls return it.
	ErrClosed = wire.ErrClosed
	// ErrOverloaded means that the connection was closed because more input was pending
	// than the hard limit allows.
	ErrOverloaded = wire.ErrOverloaded
	// ErrStalled means that the connection was closed because the peer stopped reading.
	ErrStalled = wire.ErrStalled
	// ErrTurnCancelled is the cause (see context.Cause) with which the ctx of an agent's
	// Prompt is cancelled when the client cancels the turn or closes the session. Whatever
	// error Prompt then returns, the client receives the stop reason "cancelled".
	ErrTurnCancelled = wire.ErrTurnCancelled
	// ErrTurnRunning means that a turn is already running in the session. A Session of
	// package client runs one turn at a time.
	ErrTurnRunning = wire.ErrTurnRunning
	// ErrHandlerStuck means that the connection has ended but a handler that ignores its
	// ctx has not returned. Run and Wait return it with the names of the methods.
	ErrHandlerStuck = wire.ErrHandlerStuck
)

// IdleError means that a turn was cancelled because the agent had sent nothing about its session
// for the time of Options.IdleLimit of the client. It is a context.DeadlineExceeded, as errors.Is
// reports.
type IdleError struct {
	// Limit is the time of the option.
	Limit time.Duration
	// Last is when the last message of the session arrived during the turn; zero if none did.
	Last time.Time
}

// Error says when the last message came.
func (e *IdleError) Error() string {
	last := "since the prompt was sent"
	if !e.Last.IsZero() {
		last = "and the last message came at " + e.Last.Format(time.TimeOnly)
	}
	return fmt.Sprintf("client: the turn was cancelled: the agent has sent nothing about the session for %v, %s", e.Limit, last)
}

// Is reports whether target is context.DeadlineExceeded.
func (e *IdleError) Is(target error) bool { return target == context.DeadlineExceeded }

// CapabilityError means that a call was not sent because the peer did not advertise the
// required capability. The connection remains usable.
//
// If a handler returns it, as in a proxy that forwards calls, the peer receives -32601,
// method not found.
type CapabilityError struct {
	// Method is the method of the call, such as "session/list".
	Method string
	// Capability is the path of the missing capability, as in the method Has of the
	// capabilities, such as "sessionCapabilities.list".
	Capability string
}

// Error returns the method and the missing capability.
func (e *CapabilityError) Error() string {
	return "acp: " + e.Method + ": peer does not advertise " + e.Capability
}

// RequestError returns the error that the peer receives if a handler returns e: -32601.
func (e *CapabilityError) RequestError() *rpcerr.RequestError {
	return rpcerr.MethodNotFound(e.Method).WithCause(e)
}

// InvalidError means that a value violates the rules of the protocol or cannot be encoded:
// params that this program wanted to send (nothing was sent), or the result of a call
// that the peer returned. Where identifies the value. If a handler returns an InvalidError,
// the peer receives -32603 without details, because its request is not at fault.
type InvalidError struct {
	// Where is the method and the invalid part of it, such as "session/new params" or
	// "session/prompt result".
	Where string
	// Fields lists the violations, ordered by path. It is never empty.
	Fields []FieldError
}

// FieldError is one violation of a rule. [rpcerr.Fields] returns those of any error.
type FieldError = rpcerr.FieldError

// Error returns all violations on one line.
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

// Unwrap returns the field errors, so that errors.As finds the first one.
func (e *InvalidError) Unwrap() []error {
	errs := make([]error, len(e.Fields))
	for i, f := range e.Fields {
		errs[i] = f
	}
	return errs
}

// VersionError means that the two ends of a connection found no common version of the
// protocol. A client gets it from the call of initialize, whether the agent responded with
// another version or with an error of the code -32022.
type VersionError struct {
	// Requested is the version that this end requested, and Own lists the versions that it
	// supports.
	Requested int
	Own       []int
	// Answered is the version in the response. It is 0 if the agent responded with an error.
	Answered int
	// Supported lists the versions that the agent supports, as far as it reported them.
	Supported []int
	// Err is the error that the agent responded with, or nil.
	Err error
}

// Error names the versions of both ends.
func (e *VersionError) Error() string {
	var b strings.Builder
	b.WriteString("client: the agent ")
	switch {
	case e.Err == nil:
		fmt.Fprintf(&b, "responded with protocol version %d to a request for version %d", e.Answered, e.Requested)
	case len(e.Supported) == 0:
		fmt.Fprintf(&b, "does not support protocol version %d", e.Requested)
	default:
		fmt.Fprintf(&b, "does not support protocol version %d, only %s", e.Requested, listVersions(e.Supported))
	}
	if len(e.Own) > 0 {
		b.WriteString("; this client supports " + listVersions(e.Own))
	}
	return b.String()
}

func listVersions(list []int) string {
	text := "version "
	if len(list) > 1 {
		text = "versions "
	}
	for i, n := range list {
		switch {
		case i > 0 && i == len(list)-1:
			text += " and "
		case i > 0:
			text += ", "
		}
		text += strconv.Itoa(n)
	}
	return text
}

// Unwrap returns the error that the agent responded with, or nil.
func (e *VersionError) Unwrap() error { return e.Err }

// RequestError returns the error that the client of a proxy gets: -32022 with the version
// that was requested and the versions that the agent supports. If the requested version is
// one of them, only the proxy does not support it, and the list leaves it out.
func (e *VersionError) RequestError() *rpcerr.RequestError {
	supported := e.Supported
	if e.Err == nil {
		supported = []int{e.Answered}
	}
	supported = slices.DeleteFunc(slices.Clone(supported), func(n int) bool { return n == e.Requested })
	return rpcerr.UnsupportedProtocolVersion(e.Requested, supported...).WithCause(e)
}
