package client

import (
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/rpcerr"
)

// HandleExtension forwards a request of another connection to the agent, whatever its
// name is, and returns the raw answer. It makes a Conn usable as the [acp.Agent] of a
// proxy; to call an extension of the agent use [Conn.Call].
func (c *Conn) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	if endpoint.CameFrom(ctx, c) {
		// A client that embeds its Conn would throw the agent's request back.
		return nil, rpcerr.MethodNotFound(method)
	}
	raw, err := c.engine.Get().CallExtension(ctx, method, endpoint.OrAbsent(params))
	if err != nil {
		return nil, err
	}
	return raw, nil
}

// HandleExtensionNotification forwards a notification of another connection to the
// agent. It makes a Conn usable as the [acp.Agent] of a proxy; to send one of your own
// use [Conn.Notify].
func (c *Conn) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	if endpoint.CameFrom(ctx, c) {
		return nil
	}
	return c.engine.Get().NotifyExtension(ctx, method, endpoint.OrAbsent(params))
}
