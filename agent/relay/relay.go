// Package relay has what a program needs that passes messages on between an agent and a client. Experimental: it may change
// in any release. Its functions take the ctx of a handler or of a call, at either end and in either version of the protocol.
//
// # A relay
//
// A relay has two connections, and the handlers of one call the other. What it receives behind a response must not overtake
// that response: an update must not reach the client before the response to session/new that names its session. A
// connection therefore handles what it has read behind a response to such a handler only when the response of the handler
// has been queued. It knows that its handlers are those of a relay if its agent or client is a Conn of the other end, or embeds
// or wraps one, such as an acp.AgentWrapper. A type that keeps the Conn in a field sets Options.Relay, in the Options of
// package agent or client. Package agent/proxy does all of this for messages that no type decodes.
//
// # Members that the schema does not define
//
// A decoded message holds what the schema defines. A handler reads the rest with [RawParams], which needs Options.RawParams,
// and a call with [WithRawResult].
package relay

import (
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/internal/rpc"
)

// Release lets messages continue that were read over another connection behind a response to a handler of a relay. Without
// Release they wait until the response of the handler is queued, its ctx is done or it makes its next call. A handler or
// middleware of a relay must call Release before it waits for anything else after it has that response, because what it
// waits for may be behind these messages.
func Release(ctx context.Context) { rpc.Release(ctx) }

// RawParams returns the params of the message that is being handled as they arrived. They are nil if the message has none,
// and must not be modified. RawParams reports false if ctx does not belong to a handler or Options.RawParams is not set.
func RawParams(ctx context.Context) (json.RawMessage, bool) { return rpc.RawParams(ctx) }

// WithRawResult returns a copy of ctx with which the first call of a connection also stores its result in raw as it arrived:
//
//	var raw json.RawMessage
//	session, err := conn.StartSession(relay.WithRawResult(ctx, &raw), req)
//	if err == nil {
//		err = json.Unmarshal(raw, &more)
//	}
//
// The call stores nil if it fails, or if a sending middleware returns a result of its own.
func WithRawResult(ctx context.Context, raw *json.RawMessage) context.Context {
	return rpc.WithRawResult(ctx, raw)
}
