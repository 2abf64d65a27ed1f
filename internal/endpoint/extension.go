package endpoint

import (
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// fromKey marks the ctx of an extension handler with the connection that the
// message came from.
type fromKey struct{}

// Extensions gives the engine of the connection self the handlers of v for methods
// without a row, where v has them.
func Extensions(cfg *rpc.Config, self, v any) {
	if h, ok := v.(acp.ExtensionHandler); ok {
		cfg.Extension = func(ctx context.Context, method string, params json.RawMessage) (any, error) {
			return h.HandleExtension(context.WithValue(ctx, fromKey{}, self), method, params)
		}
	}
	if h, ok := v.(acp.ExtensionNotificationHandler); ok {
		cfg.ExtensionNotification = func(ctx context.Context, method string, params json.RawMessage) error {
			return h.HandleExtensionNotification(context.WithValue(ctx, fromKey{}, self), method, params)
		}
	}
}

// CameFrom tells whether the extension message that ctx belongs to arrived over the
// connection self, so that forwarding it there would throw it back.
func CameFrom(ctx context.Context, self any) bool { return ctx.Value(fromKey{}) == self }

// OrAbsent keeps absent params absent: a nil json.RawMessage in an any is not nil.
func OrAbsent(params json.RawMessage) any {
	if params == nil {
		return nil
	}
	return params
}
