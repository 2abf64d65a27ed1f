package endpoint

import (
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/internal/rpc"
)

// fromKey is the key of the connection in the ctx of an extension handler.
type fromKey struct{}

// Extensions sets the handlers of cfg for extension methods and notifications, if v has them. cfg
// is the configuration of the connection self.
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

// CameFrom reports whether the extension message of ctx arrived over the connection self.
// Forwarding the message to self would return it to its sender.
func CameFrom(ctx context.Context, self any) bool { return ctx.Value(fromKey{}) == self }

// OrAbsent returns nil for absent params. A nil json.RawMessage in an any would not be nil.
func OrAbsent(params json.RawMessage) any {
	if params == nil {
		return nil
	}
	return params
}
