// Package roles passes methods on to an agent or a client that may lack the optional interface for them.
// The wrappers of every vocabulary use it, so it must not know one of them.
package roles

import (
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/rpcerr"
)

// Serves reports whether v has the optional interface I and handles the method.
func Serves[I any](v any, method string) bool {
	if _, ok := v.(I); !ok {
		return false
	}
	s, ok := v.(interface{ Handles(method string) bool })
	return !ok || s.Handles(method)
}

// Call calls the method f of the optional interface I of v. The method does not exist if v lacks it.
func Call[I, P, R any](v any, f func(I, context.Context, *P) (*R, error), method string, ctx context.Context, params *P) (*R, error) {
	if h, ok := v.(I); ok {
		return f(h, ctx, params)
	}
	return nil, rpcerr.MethodNotFound(method)
}

// Notify calls the method f of the optional interface I of v, if v has it.
func Notify[I, P any](v any, f func(I, context.Context, *P) error, ctx context.Context, params *P) error {
	if h, ok := v.(I); ok {
		return f(h, ctx, params)
	}
	return nil
}

// Extension passes an extension request on to v. The method does not exist if v handles none.
func Extension(v any, ctx context.Context, method string, params json.RawMessage) (any, error) {
	if h, ok := v.(interface {
		HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error)
	}); ok {
		return h.HandleExtension(ctx, method, params)
	}
	return nil, rpcerr.MethodNotFound(method)
}

// ExtensionNotification passes an extension notification on to v, if v handles any.
func ExtensionNotification(v any, ctx context.Context, method string, params json.RawMessage) error {
	if h, ok := v.(interface {
		HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error
	}); ok {
		return h.HandleExtensionNotification(ctx, method, params)
	}
	return nil
}
