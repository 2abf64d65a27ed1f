// Copied to agent/v2 by go generate.

package agent

import (
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// AfterResponse arranges for f to be called after the response to the request that is
// being handled has been queued for sending. Use it for messages that must follow a
// response, such as the list of commands: the client learns the session's id from the
// response to session/new.
//
//	func (a *myAgent) NewSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
//		id := a.open(req)
//		agent.AfterResponse(ctx, func(ctx context.Context) {
//			a.conn.Session(id).Commands(ctx, a.commands...)
//		})
//		return &acp.NewSessionResponse{SessionID: id}, nil
//	}
//
// ctx must be the ctx of the handler or one derived from it. The ctx that f is given is
// done when the connection ends. If there are several functions, they are called in the
// order in which they were passed, also if the response is an error. AfterResponse
// returns false, and f is never called, if ctx belongs to no request or if the response
// has already been queued.
func AfterResponse(ctx context.Context, f func(ctx context.Context)) bool {
	return rpc.AfterResponse(ctx, func() { f(rpc.Detach(ctx)) })
}

// RequestID returns the id of the request that is being handled, for use in an
// [acp.ElicitationRequestScope]. It reports false if ctx belongs to no request.
func RequestID(ctx context.Context) (acp.RequestID, bool) {
	raw, ok := rpc.RequestID(ctx)
	if !ok {
		return acp.RequestID{}, false
	}
	var id acp.RequestID
	if err := json.Unmarshal(raw, &id); err != nil {
		return acp.RequestID{}, false
	}
	return id, true
}
