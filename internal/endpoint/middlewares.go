package endpoint

import (
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
