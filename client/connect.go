// Copied to client/v2 by go generate.

package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/stream"
)

// Connect returns a connection that is ready for sessions. It calls [New], [Conn.Start]
// and [Conn.Initialize]. The connection is closed when ctx is done. If the agent cannot be
// initialized, Connect closes the connection and s.
//
// Connect waits for the agent's response until ctx is done. To wait for a shorter time, or
// to send an initialize request of your own, call the three functions separately.
func Connect(ctx context.Context, s stream.Stream, newClient func(*Conn) acp.Client, opts *Options) (*Conn, error) {
	c := New(s, newClient, opts)
	if err := c.Start(ctx); err != nil {
		c.Close()
		return nil, err
	}
	if _, err := c.Initialize(ctx, nil); err != nil {
		c.Close()
		return nil, withNoise(err, s)
	}
	return c, nil
}

// withNoise adds the agent's output that is not a message to the error of a ctx. The error of a
// process that has exited already contains it.
func withNoise(err error, s stream.Stream) error {
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		return err
	}
	if p, ok := s.(interface{ Noise() string }); ok && p.Noise() != "" {
		return fmt.Errorf("%w: the agent has not responded to initialize, and its standard output begins with %q, which is not a message", err, p.Noise())
	}
	return err
}
