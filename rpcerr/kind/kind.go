// Package kind describes failures in a form that programs and models can act on: a [Kind], and an
// [Error] that has a kind, whether and when to try again, a hint, and further data. Experimental: it
// may change in any release.
//
//	return kind.NotFound.Newf(err, "no template %q", name).
//		WithHint("Call list_templates to see what exists.").
//		With("template", name)
//
// The failure of another service is built from its HTTP status:
//
//	return kind.Upstream("The tracker refused the query.", resp.StatusCode).WithCause(err)
//
// On the wire an Error is the error object of JSON-RPC, with a code of the protocol
// where there is one (not found is -32002) and the other facts in its data. A failed tool
// call carries the same object in its raw output. The receiver reads it back with [From],
// asks for the kind with [Of] or errors.Is, or asks what to do with [AdviceFor]. It does not find an
// *Error with errors.As, which reports false: what it received is an *rpcerr.RequestError.
//
// The cause, the text given to WithDebug and the attributes given to
// WithAttrs stay in the process. Everything else reaches the peer.
package kind

import (
	"strconv"
	"time"

	"github.com/acpkit/go-sdk/rpcerr"
)

// Kind is the category of a failure. A Kind is an error itself, so that the constants serve
// as targets of errors.Is. Programs compare kinds; they never compare messages.
type Kind string

// The kinds that have a code in JSON-RPC or in the protocol.
const (
	ParseError         Kind = "parse_error"         // what arrived is not JSON
	InvalidRequest     Kind = "invalid_request"     // an unsupported operation, or a missing capability
	MethodNotFound     Kind = "method_not_found"    // no such method
	InvalidParams      Kind = "invalid_params"      // params that break their schema
	Internal           Kind = "internal"            // a bug, or anything unexpected
	Cancelled          Kind = "cancelled"           // the caller cancelled the work
	Unauthorized       Kind = "unauthorized"        // no credentials, or expired ones
	NotFound           Kind = "not_found"           // a resource, record or file that does not exist
	UnsupportedVersion Kind = "unsupported_version" // no protocol version in common
)

// The kinds whose codes are this module's own.
const (
	ServiceUnavailable   Kind = "service_unavailable"   // something this program depends on is down
	Conflict             Kind = "conflict"              // a duplicate, or a concurrent change
	RateLimited          Kind = "rate_limited"          // too much, too fast
	Timeout              Kind = "timeout"               // it took too long
	Forbidden            Kind = "forbidden"             // known, and not allowed
	Validation           Kind = "validation"            // input that breaks a rule of the application
	Configuration        Kind = "configuration"         // a setting is missing or wrong
	InitializationFailed Kind = "initialization_failed" // a part of the program did not start
	Database             Kind = "database"              // the storage layer failed
	Serialization        Kind = "serialization"         // data that cannot be read or written
	Unknown              Kind = "unknown"               // nothing better fits

	Transient       Kind = "transient"         // a tool failed in a way that may pass
	Fatal           Kind = "fatal"             // a tool failed for good
	ContextRequired Kind = "context_required"  // a person must give more information; the hint is what to ask
	ContextTooLarge Kind = "context_too_large" // the input does not fit the model's context
	MCPUnavailable  Kind = "mcp_unavailable"   // an MCP server did not respond
)

// CodeUnauthorized is the code of an [Unauthorized] failure that does not ask the user to
// authenticate with this agent: another service refused its credentials, or a program
// guessed the kind.
const CodeUnauthorized rpcerr.Code = -31006

// facts holds the properties of a kind.
type facts struct {
	kind      Kind
	code      rpcerr.Code // on an ACP connection
	mcp       int         // in the numbering that MCP servers use beside it
	status    int         // in a response over HTTP
	retryable bool        // default; an error can override it
	message   string      // the fixed text, which describes only the kind
}

// The code of a kind that the protocol does not know lies outside the reserved ranges: it is
// the MCP number moved by a thousand.
var table = []facts{
	{ParseError, rpcerr.CodeParseError, -32700, 400, false, "Parse error"},
	{InvalidRequest, rpcerr.CodeInvalidRequest, -32600, 405, false, "Invalid request"},
	{MethodNotFound, rpcerr.CodeMethodNotFound, -32601, 404, false, "Method not found"},
	{InvalidParams, rpcerr.CodeInvalidParams, -32602, 400, false, "Invalid params"},
	{Internal, rpcerr.CodeInternalError, -32603, 500, false, "Internal error"},
	{Unauthorized, rpcerr.CodeAuthRequired, -32006, 401, false, "Authentication required"},
	{NotFound, rpcerr.CodeResourceNotFound, -32001, 404, false, "Resource not found"},
	{UnsupportedVersion, rpcerr.CodeUnsupportedProtocolVersion, -32600, 400, false, "Unsupported protocol version"},

	{ServiceUnavailable, -31000, -32000, 503, true, "Service unavailable"},
	{Conflict, -31002, -32002, 409, false, "Conflict"},
	{RateLimited, -31003, -32003, 429, true, "Too many requests"},
	{Timeout, -31004, -32004, 504, true, "Timed out"},
	{Cancelled, rpcerr.CodeRequestCancelled, -32004, 499, false, "Request cancelled"},
	{Forbidden, -31005, -32005, 403, false, "Not allowed"},
	{Validation, -31007, -32007, 422, false, "Invalid input"},
	{Configuration, -31008, -32008, 500, false, "Wrong configuration"},
	{InitializationFailed, -31009, -32009, 500, false, "Initialization failed"},
	{Database, -31010, -32010, 500, false, "Storage failed"},
	{Serialization, -31070, -32070, 500, false, "Malformed data"},
	{Unknown, -31099, -32099, 500, false, "Unknown error"},

	{Transient, -31100, -32000, 503, true, "Temporary failure"},
	{Fatal, -31101, -32603, 500, false, "Permanent failure"},
	{ContextRequired, -31102, -32007, 422, false, "More information is needed"},
	{ContextTooLarge, -31103, -32007, 413, false, "The input is too large for the model"},
	{MCPUnavailable, -31104, -32000, 502, true, "The MCP server did not respond"},
}

// All returns every kind.
func All() []Kind {
	var kinds []Kind
	for _, f := range table {
		kinds = append(kinds, f.kind)
	}
	return kinds
}

// Known reports whether k is one of the constants.
func (k Kind) Known() bool {
	return k.facts().kind == k
}

func (k Kind) facts() facts {
	for _, f := range table {
		if f.kind == k {
			return f
		}
	}
	return Unknown.facts()
}

// Error returns the kind's name, such as "not_found".
func (k Kind) Error() string { return string(k) }

// Matches reports whether err is of this kind, on either end of a connection.
// errors.Is(err, k) calls it if err came from the peer.
func (k Kind) Matches(err error) bool { return Of(err) == k && k != "" }

// Message returns the kind's fixed text, which is sent in place of a text that must not be.
func (k Kind) Message() string { return k.facts().message }

// Retryable reports whether trying again may help, unless the error overrides it: true for
// rate limits, timeouts, unavailable services and [Transient].
func (k Kind) Retryable() bool { return k.facts().retryable }

// Code returns the kind's error code on an ACP connection.
func (k Kind) Code() rpcerr.Code { return k.facts().code }

// MCPCode returns the code of the kind in the error of an MCP server, for programs that serve
// the same tools over MCP. For a kind without a code, it returns that of the nearest kind.
func (k Kind) MCPCode() int { return k.facts().mcp }

// fromCode returns the kind of a code on the wire, and Unknown for a code that no kind has.
func fromCode(code rpcerr.Code) Kind {
	for _, f := range table {
		if f.code == code {
			return f.kind
		}
	}
	if code == CodeUnauthorized {
		return Unauthorized
	}
	return Unknown
}

// RequestError returns the wire form of a kind that is returned as it is.
func (k Kind) RequestError() *rpcerr.RequestError {
	return (&Error{Kind: k, Retryable: k.Retryable()}).RequestError().WithCause(k)
}

// FromStatus returns the kind of an HTTP status that this program itself would send, and
// Unknown for a status below 400 or above 599.
func FromStatus(status int) Kind {
	switch status {
	case 400:
		return InvalidParams
	case 401:
		return Unauthorized
	case 402, 403:
		return Forbidden
	case 404:
		return NotFound
	case 408, 425, 504:
		return Timeout
	case 409, 423, 424:
		return Conflict
	case 422:
		return Validation
	case 429:
		return RateLimited
	case 500, 501:
		return Internal
	}
	switch status / 100 {
	case 4:
		return InvalidRequest
	case 5:
		return ServiceUnavailable
	}
	return Unknown
}

// FromUpstreamStatus returns the kind of an HTTP status that another service sent. It differs from
// [FromStatus] only for 500 and 501: they report a bug of the other service, not of this program,
// so the service counts as unavailable. To build an error use [Upstream]: for status 401, the New
// of the kind would ask the user to log in to this program.
func FromUpstreamStatus(status int) Kind {
	if status == 500 || status == 501 {
		return ServiceUnavailable
	}
	return FromStatus(status)
}

// HTTPStatus returns the HTTP status of a response that reports the kind. FromStatus returns
// the kind again where HTTP has a status for it, and the nearest kind otherwise.
func (k Kind) HTTPStatus() int { return k.facts().status }

// Upstream returns the failure of another service that responded with an HTTP status from 400
// to 599; any other is bad use. The kind is that of [FromUpstreamStatus], and the error is
// retryable for 429 and from 500 on.
func Upstream(message string, status int) *Error {
	if status < 400 || status > 599 {
		return badUse("kind.Upstream", strconv.Itoa(status)+" is not an HTTP error status")
	}
	e := FromUpstreamStatus(status).New(message).WithStatus(status).WithRetryable(status == 429 || status >= 500)
	if status == 401 {
		return e.WithNumber(CodeUnauthorized) // this code does not ask the user to log in
	}
	return e
}

// UpstreamRateLimit returns the failure of another service that limits the rate of
// requests. after is how long to wait; it must be positive.
func UpstreamRateLimit(message string, after time.Duration) *Error {
	if after <= 0 {
		return badUse("kind.UpstreamRateLimit", "how long to wait is missing; call kind.Upstream(message, 429) if the service does not say")
	}
	return Upstream(message, 429).WithRetryAfter(after)
}
