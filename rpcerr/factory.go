package rpcerr

import "strconv"

// The factories fill in code and message. data may be nil; it reaches the peer.

// ParseError says that a message was not JSON (-32700).
func ParseError(data any) *RequestError { return standard(CodeParseError, data) }

// InvalidRequest says that a message was JSON but no request, or came at a
// time when it is forbidden (-32600).
func InvalidRequest(data any) *RequestError { return standard(CodeInvalidRequest, data) }

// MethodNotFound says that the method does not exist or was not advertised
// (-32601). Its data names the method.
func MethodNotFound(method string) *RequestError {
	return New(CodeMethodNotFound, "Method not found: "+method, methodData{method})
}

// InvalidParams says that the params break the schema, or ask for something
// that cannot be (-32602).
func InvalidParams(data any) *RequestError { return standard(CodeInvalidParams, data) }

// InternalError says that the handler failed and the caller can do nothing about
// it (-32603). A handler need not build one: any plain error leaves as this.
func InternalError(data any) *RequestError { return standard(CodeInternalError, data) }

// RequestCancelled says that the work ended because the peer cancelled the
// request (-32800). context.Canceled leaves as this.
func RequestCancelled(data any) *RequestError { return standard(CodeRequestCancelled, data) }

// AuthRequired says that credentials are absent or expired (-32000): the client
// authenticates and calls again. It is not for a quota or a key that was refused.
func AuthRequired(data any) *RequestError { return standard(CodeAuthRequired, data) }

// ResourceNotFound says that a file or another resource does not exist
// (-32002). Its data names the URI or path as the caller wrote it.
func ResourceNotFound(uri string) *RequestError {
	return New(CodeResourceNotFound, "Resource not found: "+uri, resourceData{uri})
}

// SessionNotFound says that the session does not exist or is not active
// (-32002). Its data names the session, which is what [ErrSessionNotFound] looks
// for on the other end.
func SessionNotFound(id string) *RequestError {
	return New(CodeResourceNotFound, "Session not found: "+id, sessionData{id})
}

// UnsupportedProtocolVersion says that no supported version suits the requested
// one (-32022). Its data names both.
func UnsupportedProtocolVersion(requested int, supported ...int) *RequestError {
	if supported == nil {
		supported = []int{}
	}
	return New(CodeUnsupportedProtocolVersion, "Unsupported protocol version: "+strconv.Itoa(requested),
		versionData{requested, supported})
}

func standard(code Code, data any) *RequestError { return New(code, codeNames[code], data) }

type (
	methodData struct {
		Method string `json:"method"`
	}
	resourceData struct {
		URI string `json:"uri"`
	}
	sessionData struct {
		SessionID string `json:"sessionId"`
	}
	versionData struct {
		Requested int   `json:"requested"`
		Supported []int `json:"supported"`
	}
)
