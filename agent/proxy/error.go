package proxy

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/rpcerr"
)

// Error is an error that an end responded with. If a [Handler] returns it, wrapped or not,
// it is passed on byte for byte. The functions of package rpcerr handle it like any other
// error of the protocol.
type Error struct {
	// Raw is the member "error" of the response, or nil if the response has neither a
	// result nor an error.
	Raw json.RawMessage
}

func (e *Error) Error() string {
	if r := e.RequestError(); r != nil {
		return r.Error()
	}
	return "proxy: the peer responded with an error that is not a valid JSON-RPC error"
}

// RequestError returns the error as an *rpcerr.RequestError, or nil if it is not a valid
// JSON-RPC error.
func (e *Error) RequestError() *rpcerr.RequestError {
	r := new(rpcerr.RequestError)
	if r.UnmarshalJSON(e.Raw) != nil {
		return nil
	}
	return r
}

// Is reports whether target is an error of package rpcerr with the same code.
func (e *Error) Is(target error) bool {
	r := e.RequestError()
	return r != nil && r.Is(target)
}
