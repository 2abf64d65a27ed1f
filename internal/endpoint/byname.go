package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
)

// ByName holds the typed calls of an end of type C by method name, so that a call by name does the
// same as the typed call.
type ByName[C any] struct {
	Requests      map[string]func(c C, ctx context.Context, params, result any) error
	Notifications map[string]func(c C, ctx context.Context, params any) error
	// Peer is the role of the other end, for error texts.
	Peer string
	// Version is the version of the methods.
	Version int
	// Invalid is rpc.Config.Invalid.
	Invalid func(where string, fields *wire.FieldErrors) error
}

// RequestByName adapts a typed call.
func RequestByName[C, P, R any](m Request[P, R], f func(C, context.Context, *P) (*R, error)) func(C, context.Context, any, any) error {
	return func(c C, ctx context.Context, params, result any) error {
		p, err := paramsOf[P](m.Method, params)
		if err != nil {
			return err
		}
		typed, _ := result.(*R)
		var raw json.RawMessage
		if result != nil && typed == nil {
			ctx = rpc.WithRawResult(ctx, &raw)
		}
		res, err := f(c, ctx, p)
		switch {
		case err != nil:
			return err
		case typed != nil:
			*typed = *res
			return nil
		case raw != nil:
			return assign(m.Name, result, raw)
		}
		return assign(m.Name, result, res) // the result is a middleware's own
	}
}

// NotificationByName adapts a typed notification.
func NotificationByName[C, P any](m Notification[P], f func(C, context.Context, *P) error) func(C, context.Context, any) error {
	return func(c C, ctx context.Context, params any) error {
		p, err := paramsOf[P](m.Method, params)
		if err != nil {
			return err
		}
		return f(c, ctx, p)
	}
}

// Call calls the named request method. If the protocol does not define the method, Call
// calls extension.
func (b *ByName[C]) Call(c C, ctx context.Context, method string, params, result any,
	extension func(context.Context, string, any) (json.RawMessage, error),
) error {
	if f, ok := b.Requests[method]; ok {
		return b.told(f(c, ctx, params, result))
	}
	if err := b.checkExtension(method, wire.Request(b.Version, method) != nil); err != nil {
		return err
	}
	raw, err := extension(ctx, method, params)
	if err != nil {
		return err
	}
	return assign(method, result, raw)
}

// Notify sends the named notification. If the protocol does not define it, Notify calls
// extension.
func (b *ByName[C]) Notify(c C, ctx context.Context, method string, params any,
	extension func(context.Context, string, any) error,
) error {
	if f, ok := b.Notifications[method]; ok {
		return b.told(f(c, ctx, params))
	}
	if err := b.checkExtension(method, wire.Notification(b.Version, method) != nil); err != nil {
		return err
	}
	return extension(ctx, method, params)
}

func (b *ByName[C]) checkExtension(method string, defined bool) error {
	switch {
	case strings.HasPrefix(method, "_") && len(method) > 1:
		return nil
	case strings.HasPrefix(method, "$/"):
		return fmt.Errorf("acp: %s: the connection sends it by itself; end the ctx of the call instead", method)
	case defined:
		return fmt.Errorf("acp: %s: the %s does not handle this method", method, b.Peer)
	case wire.Request(b.Version, method) != nil:
		return fmt.Errorf("acp: %s is a request: use Call", method)
	case wire.Notification(b.Version, method) != nil:
		return fmt.Errorf("acp: %s is a notification: use Notify", method)
	}
	return fmt.Errorf("acp: %q is not a method of the protocol; names of extensions begin with an underscore", method)
}

// invalidParams is the error for params that break the schema of their method.
type invalidParams struct {
	where  string
	fields *wire.FieldErrors
}

func (e *invalidParams) Error() string { return "acp: invalid " + e.where }

// told converts an invalidParams error to the error of the vocabulary.
func (b *ByName[C]) told(err error) error {
	if bad, ok := err.(*invalidParams); ok {
		return b.Invalid(bad.where, bad.fields)
	}
	return err
}

// paramsOf returns typed params unchanged, and converts any other value through JSON.
func paramsOf[P any](m *wire.Method, params any) (*P, error) {
	switch p := params.(type) {
	case nil:
		return new(P), nil
	case *P:
		return p, nil
	case P:
		return &p, nil
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("acp: %s: encoding params: %w", m.Name, err)
	}
	v, _, err := m.Params.Decode(raw)
	if d, ok := errors.AsType[*wire.DecodeError](err); ok {
		return nil, &invalidParams{m.Name + " params", d.Fields}
	} else if err != nil {
		return nil, fmt.Errorf("acp: %s: params do not fit %T: %w", m.Name, new(P), err)
	}
	return v.(*P), nil
}

// assign stores res in the value that result points to.
func assign(name string, result, res any) error {
	if result == nil {
		return nil
	}
	raw, ok := res.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(res); err != nil {
			return fmt.Errorf("acp: %s: encoding result: %w", name, err)
		}
	}
	if dst, ok := result.(*json.RawMessage); ok && dst != nil {
		*dst = raw
		return nil
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("acp: %s: decoding result: %w", name, err)
	}
	return nil
}
