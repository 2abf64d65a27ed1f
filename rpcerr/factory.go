package rpcerr

import (
	"encoding/json"
	"strconv"
)

// The factories fill in code and message. data may be nil; it reaches the peer.

// ParseError returns the error for a message that is not JSON (-32700).
func ParseError(data any) *RequestError { return standard(CodeParseError, data) }

// InvalidRequest returns the error for JSON that is no request, or one at a forbidden time (-32600).
func InvalidRequest(data any) *RequestError { return standard(CodeInvalidRequest, data) }

// MethodNotFound returns the error for an unknown method (-32601). Its data names the method.
func MethodNotFound(method string) *RequestError {
	return New(CodeMethodNotFound, "Method not found: "+method, map[string]string{"method": method})
}

// InvalidParams returns the error for params that break the schema or make no sense (-32602).
func InvalidParams(data any) *RequestError { return standard(CodeInvalidParams, data) }

// InternalError returns the error for a failure of the handler (-32603), as any plain error is sent.
func InternalError(data any) *RequestError { return standard(CodeInternalError, data) }

// RequestCancelled returns the error for work that ended because the peer cancelled the
// request (-32800). If the peer has cancelled the request, context.Canceled is sent as this.
func RequestCancelled(data any) *RequestError { return standard(CodeRequestCancelled, data) }

// AuthRequired returns the error for credentials that are absent or expired (-32000): the
// client authenticates and calls again.
func AuthRequired(data any) *RequestError { return standard(CodeAuthRequired, data) }

// ResourceNotFound returns the error for a file or another resource that does not exist
// (-32002). Message and data contain the URI or path unless it is empty.
func ResourceNotFound(uri string) *RequestError {
	if uri == "" {
		return standard(CodeResourceNotFound, nil)
	}
	return New(CodeResourceNotFound, "Resource not found: "+uri, map[string]string{"uri": uri})
}

// SessionNotFound returns the error for a session that does not exist or is not active
// (-32002). Its data names the session; [ErrSessionNotFound] matches it by that.
func SessionNotFound(id string) *RequestError {
	name := id
	if name == "" {
		name = "its id is empty"
	}
	return New(CodeResourceNotFound, "Session not found: "+name, map[string]string{"sessionId": id})
}

// UnsupportedProtocolVersion returns the error for a requested version of the protocol
// that is not supported (-32022). Its data contains all of them.
func UnsupportedProtocolVersion(requested int, supported ...int) *RequestError {
	return New(CodeUnsupportedProtocolVersion, "Unsupported protocol version: "+strconv.Itoa(requested),
		map[string]any{"requested": requested, "supported": append([]int{}, supported...)})
}

func standard(code Code, data any) *RequestError { return New(code, codeNames[code], data) }

// One sentinel for each code, for errors.Is on either end of a connection. A handler may
// return them too, but a factory such as [ResourceNotFound] gives the peer more information.
var (
	ErrParse                      error = ParseError(nil)
	ErrInvalidRequest             error = InvalidRequest(nil)
	ErrMethodNotFound             error = standard(CodeMethodNotFound, nil)
	ErrInvalidParams              error = InvalidParams(nil)
	ErrInternal                   error = InternalError(nil)
	ErrRequestCancelled           error = RequestCancelled(nil)
	ErrAuthRequired               error = AuthRequired(nil)
	ErrUnsupportedProtocolVersion error = standard(CodeUnsupportedProtocolVersion, nil)

	// ErrResourceNotFound matches every -32002: files, terminals and sessions.
	ErrResourceNotFound error = standard(CodeResourceNotFound, nil)

	// ErrSessionNotFound matches a -32002 only if its data names a session and no URI, as
	// that of [SessionNotFound] does.
	ErrSessionNotFound error = errSessionNotFound
)

var errSessionNotFound = New(CodeResourceNotFound, "Session not found", nil)

// namesSession reports whether e is about a session, and not about a file that one asked for.
func (e *RequestError) namesSession() bool {
	var members map[string]json.RawMessage
	if e.Code != CodeResourceNotFound || e.DecodeData(&members) != nil {
		return false
	}
	if uri, ok := members["uri"]; ok && string(uri) != "null" {
		return false
	}
	var id *string
	return json.Unmarshal(members["sessionId"], &id) == nil && id != nil
}
