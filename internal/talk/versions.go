package talk

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/rpcerr"
)

// Answered returns the protocol version in a result of initialize, or 0 if it has none.
func Answered(result json.RawMessage) int {
	var r struct {
		ProtocolVersion int `json:"protocolVersion"`
	}
	if json.Unmarshal(result, &r) != nil {
		return 0
	}
	return r.ProtocolVersion
}

// proxied is an error of initialize for the client of a proxy. The client requested a version that
// the proxy does not support.
type proxied struct {
	error
	theirs *rpcerr.RequestError
}

// Proxied returns err with the error that the client of the proxy gets.
func Proxied(err error, theirs *rpcerr.RequestError) error { return &proxied{err, theirs} }

func (e *proxied) Unwrap() error { return e.error }

// RequestError returns the error for the client of the proxy.
func (e *proxied) RequestError() *rpcerr.RequestError { return e.theirs.WithCause(e) }
