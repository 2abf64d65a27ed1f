package endpoint

import (
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/internal/rpc"
)

// fromKey marks the ctx of an extension handler with the connection that the
// message came from.
type fromKey struct{}

// Extensions sets the handlers of cfg for methods without a row, if v has such handlers.
// cfg is the configuration of the connection self.
func Extensions(cfg *rpc.Config, self, v any) {
	if h, ok := v.(interface {
		HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error)
	}); ok {
		cfg.Extension = func(ctx context.Context, method string, params json.RawMessage) (any, error) {
			return h.HandleExtension(context.WithValue(ctx, fromKey{}, self), method, params)
		}
	}
	if h, ok := v.(interface {
		HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error
	}); ok {
		cfg.ExtensionNotification = func(ctx context.Context, method string, params json.RawMessage) error {
			return h.HandleExtensionNotification(context.WithValue(ctx, fromKey{}, self), method, params)
		}
	}
}

// CameFrom reports whether the extension message that ctx belongs to arrived over the
// connection self. Forwarding it there would return it to its sender.
func CameFrom(ctx context.Context, self any) bool { return ctx.Value(fromKey{}) == self }

// OrAbsent keeps absent params absent: a nil json.RawMessage in an any is not nil.
func OrAbsent(params json.RawMessage) any {
	if params == nil {
		return nil
	}
	return params
}
