package endpoint

import (
	"reflect"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// Middlewares turns the vocabulary's middlewares into the engine's.
func Middlewares(list []acp.Middleware) []rpc.Middleware {
	var all []rpc.Middleware
	for _, m := range list {
		if m == nil {
			continue
		}
		all = append(all, func(next rpc.Handler) rpc.Handler {
			return rpc.Handler(m(acp.Handler(next)))
		})
	}
	return all
}

// IsNil tells whether v is nil or holds a nil pointer, func, map or the like, with
// which nothing can be done.
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
