package endpoint

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// SilentError is the error of a handshake that the agent did not answer in time.
type SilentError struct {
	Limit   time.Duration // of the options; 0 if the ctx of the caller has ended
	Noise   string        // the beginning of what the agent wrote that is not a message
	Network bool          // the agent is reached over a network
	Err     error         // of the ctx
}

func (e *SilentError) Error() string {
	text := "the agent has not responded to initialize"
	if e.Limit > 0 {
		text += fmt.Sprintf(" in %v, the time of Options.Handshake", e.Limit)
	}
	if e.Noise != "" {
		text += fmt.Sprintf(", and its standard output begins with %q, which is not a message", e.Noise)
	}
	return text + ": " + e.Err.Error()
}

func (e *SilentError) Unwrap() error { return e.Err }

// UnreadyError is the error of a handshake before whose response the connection has ended.
type UnreadyError struct{ error }

// Unwrap returns the error of the connection.
func (e *UnreadyError) Unwrap() error { return e.error }

// Limited returns a ctx for a handshake. A limit that is not positive is none.
func Limited(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, limit)
}

// Silent returns the error of a handshake whose ctx has ended, a *SilentError, or whose connection has, an
// *UnreadyError. It returns other errors unchanged. ctx is that of the caller, without the limit. noise is what the agent wrote that is not a
// message; network tells that it is reached over a network.
func Silent(ctx context.Context, err error, limit time.Duration, noise string, network bool) error {
	if _, exited := errors.AsType[*stream.ExitError](err); exited || errors.Is(err, wire.ErrClosed) {
		return &UnreadyError{err}
	}
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		return err
	}
	if _, told := errors.AsType[*SilentError](err); told {
		return err
	}
	if ctx.Err() != nil {
		limit = 0
	}
	return &SilentError{Limit: max(limit, 0), Noise: noise, Network: network, Err: err}
}

// NoiseOf returns what a stream has read that is not a message.
func NoiseOf(s stream.Stream) string {
	if p, ok := s.(interface{ Noise() string }); ok {
		return p.Noise()
	}
	return ""
}
