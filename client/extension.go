package client

import (
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/internal/endpoint"
)

// Call sends a request with the named method and waits for the response. Use it to call
// extension methods, whose names begin with an underscore. For a method of the protocol,
// Call does the same as the Conn's own method.
//
// Params may be a pointer to the params type of the method, a json.RawMessage, or any
// value that encoding/json can encode; if params is nil, the request has none. Call
// stores the result in the value that result points to: unchanged in a json.RawMessage,
// typed in a value of the result type of the method, and with encoding/json in any other
// value. If result is nil, Call discards the result.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	return byName.Call(c, ctx, method, params, result, c.engine.CallExtension)
}

// Notify sends a notification with the named method. Params are as for [Conn.Call].
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	return byName.Notify(c, ctx, method, params, c.engine.NotifyExtension)
}

// HandleExtension forwards a request of another connection to the agent, with any method
// name, and returns the raw result. It lets a Conn serve as the [acp.Agent] of a proxy.
// To call an extension of the agent, use [Conn.Call].
func (c *Conn) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return endpoint.Forward(ctx, &c.engine, method, params)
}

// HandleExtensionNotification forwards a notification of another connection to the
// agent. It lets a Conn serve as the [acp.Agent] of a proxy. To send an extension
// notification to the agent, use [Conn.Notify].
func (c *Conn) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return c.engine.NotifyExtension(ctx, method, endpoint.OrAbsent(params))
}
