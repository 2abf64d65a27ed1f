package agent

import (
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// AfterResponse arranges that f runs once the answer of the request that is being
// handled has been queued for sending. It is for what has to follow an answer, such
// as the list of commands after the answer of session/new, which names the session:
//
//	func (a *myAgent) NewSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
//		id := a.open(req)
//		agent.AfterResponse(ctx, func(ctx context.Context) {
//			a.conn.Session(id).Commands(ctx, a.commands...)
//		})
//		return &acp.NewSessionResponse{SessionID: id}, nil
//	}
//
// ctx is the handler's or descends from it; the one f gets lives until the
// connection ends. Functions run in the order in which they were given, also when
// the answer is an error. AfterResponse returns false, and f never runs, when ctx
// belongs to no request or its answer is out already.
func AfterResponse(ctx context.Context, f func(ctx context.Context)) bool {
	return rpc.AfterResponse(ctx, func() { f(rpc.Detach(ctx)) })
}

// RequestID returns the id of the request that is being handled, for an
// [acp.ElicitationRequestScope]; false when ctx belongs to no request.
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
