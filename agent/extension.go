package agent

import (
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/rpcerr"
)

// HandleExtension forwards a request of another connection to the client, whatever its
// name is, and returns the raw answer. It makes a Conn usable as the [acp.Client] of a
// proxy; to call an extension of the client use [Conn.Call].
func (c *Conn) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	if endpoint.CameFrom(ctx, c) {
		// An agent that embeds its Conn would throw the client's request back.
		return nil, rpcerr.MethodNotFound(method)
	}
	raw, err := c.engine.Get().CallExtension(ctx, method, endpoint.OrAbsent(params))
	if err != nil {
		return nil, err
	}
	return raw, nil
}

// HandleExtensionNotification forwards a notification of another connection to the
// client. It makes a Conn usable as the [acp.Client] of a proxy; to send one of your own
// use [Conn.Notify].
func (c *Conn) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	if endpoint.CameFrom(ctx, c) {
		return nil
	}
	return c.engine.Get().NotifyExtension(ctx, method, endpoint.OrAbsent(params))
}
