package client

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/stream"
)

// Connect returns a connection that is ready for sessions: it is New, Start and
// Initialize in one; see all three. The connection lives as long as ctx. When the agent
// cannot be initialized the connection, and with it s, is closed.
//
// An agent that never answers is waited for as long as ctx lives. To wait for less, or
// to tell the agent more than what the client implements, take the three steps by
// themselves.
func Connect(ctx context.Context, s stream.Stream, newClient func(*Conn) acp.Client, opts *Options) (*Conn, error) {
	c := New(s, newClient, opts)
	if err := c.Start(ctx); err != nil {
		c.Close()
		return nil, err
	}
	if _, err := c.Initialize(ctx, nil); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}
