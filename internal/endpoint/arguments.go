package endpoint

import (
	"context"
	"errors"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Middlewares turns a vocabulary's middlewares into the engine's.
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

// joinPath writes prompt, 0, uri as "prompt[0].uri".
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

// Relay is implemented by agents and clients of this module that pass requests on over
// another connection without being one. Other modules cannot implement it.
type Relay interface{ Relays(Own) }

// Own makes the method of Relay one that only this module can have.
type Own struct{}

// IsRelay reports whether v is a [Relay].
func IsRelay(v any) bool {
	_, ok := v.(Relay)
	return ok
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

// CheckWebURL returns an error if raw is not the URL of a web page. A client passes the URL
// to the operating system, which for other URLs could run a program or open a file, so both
// ends refuse them.
func CheckWebURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return errors.New("must be a URL")
	}
	if s := strings.ToLower(u.Scheme); s != "http" && s != "https" || u.Host == "" {
		return errors.New("must be an http or https URL with a host")
	}
	return nil
}
