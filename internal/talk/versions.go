package talk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
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

// WithNoise adds the agent's output that is not a message to the error of a ctx. The error of a
// process that has exited already contains it.
func WithNoise(err error, s stream.Stream) error {
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		return err
	}
	if p, ok := s.(interface{ Noise() string }); ok && p.Noise() != "" {
		return fmt.Errorf("%w: the agent has not responded to initialize, and its standard output begins with %q, which is not a message", err, p.Noise())
	}
	return err
}
