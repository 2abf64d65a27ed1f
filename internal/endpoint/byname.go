package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/wire"
)

// ByName lists the calls of an end of type C that can be made with the method's
// name, so that these take the same path as the typed ones.
type ByName[C any] struct {
	Requests      map[string]func(c C, ctx context.Context, params, result any) error
	Notifications map[string]func(c C, ctx context.Context, params any) error
	// Peer is the role of the other end, for error texts.
	Peer string
}

// OnRequest adapts a typed call.
func OnRequest[C, P, R any](name string, f func(C, context.Context, *P) (*R, error)) func(C, context.Context, any, any) error {
	return func(c C, ctx context.Context, params, result any) error {
		p, err := paramsOf[P](name, wire.Request(acp.ProtocolVersion, name), params)
		if err != nil {
			return err
		}
		res, err := f(c, ctx, p)
		if err != nil {
			return err
		}
		if r, ok := result.(*R); ok && r != nil {
			*r = *res
			return nil
		}
		return assign(name, result, res)
	}
}

// OnNotification adapts a typed notification.
func OnNotification[C, P any](name string, f func(C, context.Context, *P) error) func(C, context.Context, any) error {
	return func(c C, ctx context.Context, params any) error {
		p, err := paramsOf[P](name, wire.Notification(acp.ProtocolVersion, name), params)
		if err != nil {
			return err
		}
		return f(c, ctx, p)
	}
}

// Call finds the request method and calls it. For a method the protocol does not
// define it calls extension.
func (b *ByName[C]) Call(c C, ctx context.Context, method string, params, result any,
	extension func(context.Context, string, any) (json.RawMessage, error),
) error {
	if f, ok := b.Requests[method]; ok {
		return f(c, ctx, params, result)
	}
	if err := b.checkExtension(method, wire.Request(acp.ProtocolVersion, method) != nil); err != nil {
		return err
	}
	raw, err := extension(ctx, method, params)
	if err != nil {
		return err
	}
	return assign(method, result, raw)
}

// Notify finds the notification and sends it. For one the protocol does not
// define it calls extension.
func (b *ByName[C]) Notify(c C, ctx context.Context, method string, params any,
	extension func(context.Context, string, any) error,
) error {
	if f, ok := b.Notifications[method]; ok {
		return f(c, ctx, params)
	}
	if err := b.checkExtension(method, wire.Notification(acp.ProtocolVersion, method) != nil); err != nil {
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
	case wire.Request(acp.ProtocolVersion, method) != nil:
		return fmt.Errorf("acp: %s is a request: use Call", method)
	case wire.Notification(acp.ProtocolVersion, method) != nil:
		return fmt.Errorf("acp: %s is a notification: use Notify", method)
	}
	return fmt.Errorf("acp: %q is not a method of the protocol; names of extensions begin with an underscore", method)
}

// paramsOf takes the typed params as they are and anything else by way of JSON.
func paramsOf[P any](name string, m *wire.Method, params any) (*P, error) {
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
		return nil, fmt.Errorf("acp: %s: encoding params: %w", name, err)
	}
	v, err := m.Params.Decode(raw)
	if d, ok := errors.AsType[*wire.DecodeError](err); ok {
		return nil, Invalid(name+" params", d.Fields)
	} else if err != nil {
		return nil, fmt.Errorf("acp: %s: params do not fit %T: %w", name, new(P), err)
	}
	return v.(*P), nil
}

// assign puts an answer into what the caller gave for it.
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
