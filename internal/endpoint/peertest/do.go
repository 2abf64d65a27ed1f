// Copied to internal/system/peertest/v2 by go generate.

package peertest

import (
	"cmp"
	"context"
	"encoding/json"
	"testing"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/wire"
)

// A Do handles any method of a [FullAgent] or [FullClient]. If it is nil or returns a nil result,
// the result is that of [RawResult], the first option of a permission request, or the params of an
// extension.
type Do = func(ctx context.Context, method string, params any) (any, error)

func result[R any](ctx context.Context, f Do, method string, params any) (*R, error) {
	if f != nil {
		res, err := f(ctx, method, params)
		if err != nil {
			return nil, err
		}
		if r, ok := res.(*R); ok {
			return r, nil
		}
	}
	if p, ok := params.(*acp.RequestPermissionRequest); ok && len(p.Options) > 0 {
		return any(acp.Selected(p.Options[0].OptionID)).(*R), nil
	}
	r := new(R)
	return r, json.Unmarshal([]byte(RawResult(method)), r)
}

func note(ctx context.Context, f Do, method string, params any) error {
	if f == nil {
		return nil
	}
	_, err := f(ctx, method, params)
	return err
}

func extension(ctx context.Context, f Do, method string, params json.RawMessage) (any, error) {
	if f != nil {
		if res, err := f(ctx, method, params); res != nil || err != nil {
			return res, err
		}
	}
	return params, nil
}

// Around returns a middleware that is written as one function.
func Around(f func(ctx context.Context, method string, params any, next acp.Handler) (any, error)) acp.Middleware {
	return func(next acp.Handler) acp.Handler {
		return func(ctx context.Context, method string, params any) (any, error) { return f(ctx, method, params, next) }
	}
}

// RawResult returns a valid result for a request.
func RawResult(method string) string { return cmp.Or(results[method], `{}`) }

// Requests lists the requests that one side handles, and an extension. It fails the test if Params
// lacks one of them.
func Requests(t testing.TB, side wire.Side) []string {
	t.Helper()
	all := []string{"_extension"}
	for _, m := range wire.Methods(acp.ProtocolVersion) {
		if m.Side&side == 0 || m.Notification {
			continue
		}
		if Params[m.Name] == "" {
			t.Errorf("Params lacks %s", m.Name)
		}
		all = append(all, m.Name)
	}
	return all
}
