package rpcerr

import "encoding/json"

// One sentinel for each code, for errors.Is on either end of a connection:
//
//	if errors.Is(err, rpcerr.ErrAuthRequired) { ... }
//
// A handler may return them too, but a factory such as [ResourceNotFound] gives the peer
// more information.
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

	// ErrSessionNotFound matches a -32002 only when its data names a session and
	// no URI, which is how [SessionNotFound] builds it. The error of a missing
	// file, and one without data, match [ErrResourceNotFound] alone.
	ErrSessionNotFound error = errSessionNotFound
)

var errSessionNotFound = New(CodeResourceNotFound, "Session not found", nil)

// namesSession reports whether e is about a session, and not about a file that a
// session asked for.
func (e *RequestError) namesSession() bool {
	if e.Code != CodeResourceNotFound || e.Data == nil {
		return false
	}
	if _, ok := e.Data.(sessionData); ok {
		return true
	}
	var members map[string]json.RawMessage
	if e.DecodeData(&members) != nil {
		return false
	}
	if uri, ok := members["uri"]; ok && string(uri) != "null" {
		return false
	}
	var id *string
	return json.Unmarshal(members["sessionId"], &id) == nil && id != nil
}
