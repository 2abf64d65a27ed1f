package kind

import "github.com/acpkit/go-sdk/rpcerr"

// Kind says in one word what went wrong. It is an error itself, so that the
// constants serve as targets of errors.Is and may even be returned as they are.
// Programs compare kinds; they never compare messages.
type Kind string

// The kinds that have a code in JSON-RPC or in the protocol.
const (
	ParseError         Kind = "parse_error"         // what arrived is not JSON
	InvalidRequest     Kind = "invalid_request"     // an unsupported operation, or a missing capability
	MethodNotFound     Kind = "method_not_found"    // no such method
	InvalidParams      Kind = "invalid_params"      // params that break their schema
	Internal           Kind = "internal"            // a bug, or anything unexpected
	Cancelled          Kind = "cancelled"           // the caller gave up
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

	Transient       Kind = "transient"        // a tool failed in a way that may pass
	Fatal           Kind = "fatal"            // a tool failed for good
	ContextRequired Kind = "context_required" // a person has to say more first
)

// facts is what belongs to a kind.
type facts struct {
	kind      Kind
	code      rpcerr.Code // on an ACP connection
	mcp       int         // in the numbering that MCP servers use beside it
	retryable bool        // unless somebody says otherwise
	message   string      // the fixed text: tells the kind and nothing else
}

// table is in the order in which All gives the kinds out. Codes of kinds that
// the protocol does not assign lie outside the ranges it reserves: the MCP
// number moved by a thousand.
var table = []facts{
	{ParseError, rpcerr.CodeParseError, -32700, false, "Parse error"},
	{InvalidRequest, rpcerr.CodeInvalidRequest, -32600, false, "Invalid request"},
	{MethodNotFound, rpcerr.CodeMethodNotFound, -32601, false, "Method not found"},
	{InvalidParams, rpcerr.CodeInvalidParams, -32602, false, "Invalid params"},
	{Internal, rpcerr.CodeInternalError, -32603, false, "Internal error"},
	{Unauthorized, rpcerr.CodeAuthRequired, -32006, false, "Authentication required"},
	{NotFound, rpcerr.CodeResourceNotFound, -32001, false, "Resource not found"},
	{UnsupportedVersion, rpcerr.CodeUnsupportedProtocolVersion, -32600, false, "Unsupported protocol version"},

	{ServiceUnavailable, -31000, -32000, true, "Service unavailable"},
	{Conflict, -31002, -32002, false, "Conflict"},
	{RateLimited, -31003, -32003, true, "Too many requests"},
	{Timeout, -31004, -32004, true, "Timed out"},
	{Cancelled, rpcerr.CodeRequestCancelled, -32004, false, "Request cancelled"}, // behind Timeout, whose MCP number it borrows
	{Forbidden, -31005, -32005, false, "Not allowed"},
	{Validation, -31007, -32007, false, "Invalid input"},
	{Configuration, -31008, -32008, false, "Wrong configuration"},
	{InitializationFailed, -31009, -32009, false, "Initialization failed"},
	{Database, -31010, -32010, false, "Storage failed"},
	{Serialization, -31070, -32070, false, "Malformed data"},
	{Unknown, -31099, -32099, false, "Unknown error"},

	{Transient, -31100, -32000, true, "Temporary failure"},
	{Fatal, -31101, -32603, false, "Permanent failure"},
	{ContextRequired, -31102, -32007, false, "More information is needed"},
}

var (
	byKind = index(func(f facts) Kind { return f.kind })
	byCode = index(func(f facts) rpcerr.Code { return f.code })
	byMCP  = index(func(f facts) int { return f.mcp })
)

// index keeps the first row of each key.
func index[K comparable](key func(facts) K) map[K]facts {
	m := make(map[K]facts, len(table))
	for _, f := range table {
		if _, ok := m[key(f)]; !ok {
			m[key(f)] = f
		}
	}
	return m
}

// All returns every kind.
func All() []Kind {
	kinds := make([]Kind, len(table))
	for i, f := range table {
		kinds[i] = f.kind
	}
	return kinds
}

// Known tells whether k is one of the constants.
func (k Kind) Known() bool {
	_, ok := byKind[k]
	return ok
}

func (k Kind) facts() facts {
	if f, ok := byKind[k]; ok {
		return f
	}
	return byKind[Unknown]
}

// Error returns the kind's name, such as "not_found".
func (k Kind) Error() string { return string(k) }

// Matches tells whether err is of this kind, on either end of a connection. It is
// what errors.Is(err, k) asks when err is an answer of the peer.
func (k Kind) Matches(err error) bool { return Of(err) == k && k != "" }

// Message is the kind's fixed text. It is what a peer reads when the text of
// the error itself may not leave the process.
func (k Kind) Message() string { return k.facts().message }

// Retryable tells whether trying again may help, unless the error says
// otherwise: true for rate limits, timeouts, unavailable services and
// [Transient].
func (k Kind) Retryable() bool { return k.facts().retryable }

// Code is the kind's error code on an ACP connection.
func (k Kind) Code() rpcerr.Code { return k.facts().code }

// MCPCode is the number under which MCP servers of this family report the kind,
// for people who serve the same tools there. Kinds which that numbering does
// not know have the number of the nearest one it does.
func (k Kind) MCPCode() int { return k.facts().mcp }

// FromCode returns the kind of an error code of an ACP connection, and Unknown
// for a code that none of the kinds has.
func FromCode(code rpcerr.Code) Kind {
	if f, ok := byCode[code]; ok {
		return f.kind
	}
	return Unknown
}

// FromMCPCode returns the kind of a number as [Kind.MCPCode] gives it. Where
// several kinds share a number it is the one the number was made for.
func FromMCPCode(code int) Kind {
	if f, ok := byMCP[code]; ok {
		return f.kind
	}
	return Unknown
}

// RequestError makes a bare kind a complete error: its code and its fixed text.
func (k Kind) RequestError() *rpcerr.RequestError {
	return (&Error{Kind: k, Retryable: k.Retryable()}).RequestError().WithCause(k)
}
