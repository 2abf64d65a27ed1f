package rpc

import (
	"encoding/json"
	"errors"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/rpcerr"
)

// RawError is the error of a response to [Conn.CallExtension]. A handler of extensions
// that returns it responds with the same bytes.
type RawError struct {
	Raw json.RawMessage
	err *rpcerr.RequestError
}

// Error returns the text of the error.
func (e *RawError) Error() string { return e.err.Error() }

// Unwrap returns the error as an *rpcerr.RequestError.
func (e *RawError) Unwrap() error { return e.err }

// RequestError is the form in which other handlers pass the error on.
func (e *RawError) RequestError() *rpcerr.RequestError { return e.err }

// appendRawFault encodes err unchanged, if a handler of extensions passes it on.
func appendRawFault(b []byte, r *request, err error) ([]byte, bool) {
	raw, ok := errors.AsType[*RawError](err)
	if !ok || r.entry != nil {
		return b, false
	}
	if end, err := envelope.Skip(raw.Raw, 0, envelope.MaxDepth-1); err != nil || end != len(raw.Raw) {
		return b, false
	}
	b = append(appendHead(b, []byte(r.id)), `,"error":`...)
	return append(append(b, raw.Raw...), '}'), true
}
