package endpoint

import (
	"context"
	"encoding/json"
	"log/slog"
	"reflect"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/weblink"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// Middlewares converts the middlewares of a vocabulary to those of the engine.
func Middlewares[M ~func(H) H, H ~func(context.Context, string, any) (any, error)](list []M) []rpc.Middleware {
	var all []rpc.Middleware
	for _, m := range list {
		if m == nil {
			continue
		}
		all = append(all, func(next rpc.Handler) rpc.Handler {
			return rpc.Handler(m(H(next)))
		})
	}
	return all
}

// EachField calls add for each field that breaks the schema, with its path and the rule.
func EachField(fields *wire.FieldErrors, add func(path, message string)) {
	fields.Walk(func(path []string, msg string) { add(joinPath(path), msg) })
}

// joinPath joins a path: prompt, 0, uri become "prompt[0].uri".
func joinPath(path []string) string {
	var b strings.Builder
	for _, name := range path {
		if _, err := strconv.ParseUint(name, 10, 64); err == nil {
			b.WriteString("[" + name + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(name)
	}
	return b.String()
}

// LimitLines returns a logger for one connection like log: lines that its peer can cause
// share a budget.
func LimitLines(log *slog.Logger) *slog.Logger { return rpc.LimitLines(log) }

// Relay is implemented by agents and clients of this module that pass requests on over another
// connection and are not connections themselves. Other modules cannot implement it.
type Relay interface{ Relays(Own) }

// Own is a parameter type that prevents other modules from implementing Relay.
type Own struct{}

// IsRelay reports whether v is a [Relay].
func IsRelay(v any) bool {
	_, ok := v.(Relay)
	return ok
}

// Innermost returns the agent or client that v wraps, through any number of wrappers, or v
// if it wraps none.
func Innermost[T any](v T) T {
	for {
		w, ok := any(v).(interface{ Unwrap() T })
		if !ok {
			return v
		}
		v = w.Unwrap()
	}
}

// ValueOf returns *p, or the zero value if p is nil.
func ValueOf[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// IsNil reports whether v is nil or holds a nil pointer, func, map, slice, channel or
// interface.
func IsNil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Slice, reflect.Chan, reflect.Interface:
		return r.IsNil()
	}
	return false
}

// CheckWebURL returns an error if raw is not the URL of a web page that a person may be asked to open.
// Both ends refuse others.
func CheckWebURL(raw string) error {
	_, err := weblink.Parse(raw)
	return err
}

// Printable returns a text of the peer on one line that is safe to print. White space becomes one space.
func Printable(s string) string {
	return strings.Join(strings.Fields(safetext.Lines(s, len(s))), " ")
}

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

// Forward calls an extension method with the params of another connection.
func Forward(ctx context.Context, engine *rpc.Conn, method string, params json.RawMessage) (any, error) {
	raw, err := engine.CallExtension(ctx, method, OrAbsent(params))
	if err != nil {
		return nil, err
	}
	return raw, nil
}
