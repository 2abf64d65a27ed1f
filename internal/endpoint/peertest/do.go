package peertest

import (
	"context"
	"encoding/json"
)

// A Do handles any method. If it returns a nil result, the default result of the role is used,
// which is valid.
type Do func(ctx context.Context, method string, params any) (any, error)

// Result calls f for a request. It returns def if f is nil or its result is not an *R.
func Result[R any](ctx context.Context, f Do, method string, params any, def *R) (*R, error) {
	if f == nil {
		return def, nil
	}
	res, err := f(ctx, method, params)
	if err != nil {
		return nil, err
	}
	if r, ok := res.(*R); ok {
		return r, nil
	}
	return def, nil
}

// Note calls f for a notification, unless f is nil.
func Note(ctx context.Context, f Do, method string, params any) error {
	if f == nil {
		return nil
	}
	_, err := f(ctx, method, params)
	return err
}

// Extension calls f for an extension. It returns the params if f is nil or returns nil.
func Extension(ctx context.Context, f Do, method string, params json.RawMessage) (any, error) {
	if f != nil {
		if res, err := f(ctx, method, params); res != nil || err != nil {
			return res, err
		}
	}
	return params, nil
}
