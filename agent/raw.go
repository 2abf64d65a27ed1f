// Copied to agent/v2 by go generate.

package agent

import (
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/internal/rpc"
)

// RawParams returns the undecoded params of the message that is being handled, including
// members that the schema does not define. They are nil if the message has none, and must
// not be modified. RawParams reports false if ctx does not belong to a handler or
// Options.RawParams is not set.
func RawParams(ctx context.Context) (json.RawMessage, bool) { return rpc.RawParams(ctx) }

// WithRawResult returns a copy of ctx. The first call of a [Conn] with that ctx also
// stores its undecoded result in raw, including members that the schema does not define:
//
//	var raw json.RawMessage
//	res, err := conn.RequestPermission(agent.WithRawResult(ctx, &raw), req)
//	if err == nil {
//		err = json.Unmarshal(raw, &more)
//	}
//
// The call stores nil if it fails, or if a sending middleware returns a result of its own.
func WithRawResult(ctx context.Context, raw *json.RawMessage) context.Context {
	return rpc.WithRawResult(ctx, raw)
}
