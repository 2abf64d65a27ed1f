package kit

import (
	"cmp"
	"context"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/rpcerr"
)

// hasRoom returns an error if a prompt can neither run nor wait. The connection decides which
// prompt waits for which, because it knows the order of their arrival. ctx must be that of the
// prompt's handler.
func (a *Agent) hasRoom(ctx context.Context) error {
	limit := max(a.opts.Queue, 0)
	switch {
	case rpc.Ahead(ctx) <= limit:
		return nil
	case limit == 0:
		return rpcerr.InvalidRequest(nil).WithDetail("a turn of this session is running: wait for its end, or cancel it")
	}
	return rpcerr.InvalidRequest(nil).WithDetail(fmt.Sprintf("%d prompts of this session wait already: wait for the end of a turn", limit))
}

// receiving is a middleware that refuses prompts of version 2 early: before they become part of the
// conversation and wait in package agent/v2.
func (a *Agent) receiving(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		if _, ok := params.(*acp2.PromptRequest); ok {
			if err := cmp.Or(a.opts.Auth.ready(ctx), a.hasRoom(ctx)); err != nil {
				return nil, err
			}
		}
		return next(ctx, method, params)
	}
}
