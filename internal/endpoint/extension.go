package endpoint

import (
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/internal/rpc"
)

// Extensions sets the handlers of cfg for extension methods and notifications, if v has them.
func Extensions(cfg *rpc.Config, v any) {
	if h, ok := v.(interface {
		HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error)
	}); ok {
		cfg.Extension = h.HandleExtension
	}
	if h, ok := v.(interface {
		HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error
	}); ok {
		cfg.ExtensionNotification = h.HandleExtensionNotification
	}
}

// OrAbsent returns nil for absent params. A nil json.RawMessage in an any would not be nil.
func OrAbsent(params json.RawMessage) any {
	if params == nil {
		return nil
	}
	return params
}
