package peertest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/wire"
)

// A Do handles any method of a [FullAgent] or [FullClient]. If it is nil or returns a nil result,
// the result is that of [RawResult], the first option of a permission request, or the params of an
// extension.
type Do = func(ctx context.Context, method string, params any) (any, error)

func result[R any](ctx context.Context, f Do, method string, params any) (*R, error) {
	raw := RawResult(method)
	if p, ok := params.(*acp.RequestPermissionRequest); ok && len(p.Options) > 0 {
		raw = Choice(p.Options[0].OptionID)
	}
	return Result[R](ctx, f, method, params, raw)
}

// Choice is the result of a permission request, in every version.
func Choice(id acp.PermissionOptionID) string {
	return fmt.Sprintf(`{"outcome":{"outcome":"selected","optionId":%q}}`, id)
}

// Result returns the result of f, or raw if f returns none.
func Result[R any](ctx context.Context, f Do, method string, params any, raw string) (*R, error) {
	if f != nil {
		res, err := f(ctx, method, params)
		if err != nil {
			return nil, err
		}
		if r, ok := res.(*R); ok {
			return r, nil
		}
	}
	r := new(R)
	return r, json.Unmarshal([]byte(raw), r)
}

// Note calls f with a notification.
func Note(ctx context.Context, f Do, method string, params any) error {
	if f == nil {
		return nil
	}
	_, err := f(ctx, method, params)
	return err
}

// Extension returns the result of f, or the params if f returns none.
func Extension(ctx context.Context, f Do, method string, params json.RawMessage) (any, error) {
	if f != nil {
		if res, err := f(ctx, method, params); res != nil || err != nil {
			return res, err
		}
	}
	return params, nil
}

var note, extension = Note, Extension // for the generated methods

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
	return RequestsOf(t, acp.ProtocolVersion, side, Params)
}

// RequestsOf is Requests for any version.
func RequestsOf(t testing.TB, version int, side wire.Side, params map[string]string) []string {
	t.Helper()
	all := []string{"_extension"}
	for _, m := range wire.Methods(version) {
		if m.Side&side == 0 || m.Notification {
			continue
		}
		if params[m.Name] == "" {
			t.Errorf("Params lacks %s", m.Name)
		}
		all = append(all, m.Name)
	}
	return all
}
