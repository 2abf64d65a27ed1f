package permission

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Code is the code of the error with which a denied request of the agent fails.
const Code rpcerr.Code = 403

// ErrUnknownSession is the error of a question about a session that is not open. The agent
// receives the code -32602.
var ErrUnknownSession error = rpcerr.InvalidParams(nil).WithDetail("the session is not open")

// RequestError returns the error that the agent receives.
func (e *DeniedError) RequestError() *rpcerr.RequestError {
	what := map[Action]string{ActionRead: "reading this file", ActionWrite: "writing this file", ActionCommand: "running this command"}[e.Operation.Action]
	return &rpcerr.RequestError{Code: Code, Message: "Permission denied: " + what + " was not allowed"}
}

// Requests answers session/request_permission of version 1 of the protocol. It is made for
// embedding in a client. All fields but Scope are optional.
type Requests struct {
	Scope *Scope
	// Session returns the folder and the turn of a session; see [Question]. If known is
	// false, the request fails with -32602 and no person is asked.
	Session func(id acp.SessionID) (workspace string, turn uint64, known bool)
	// Agent returns the name of the agent.
	Agent func() string
}

// RequestPermission responds as the policy of the Scope decides. The client must pass each
// update to [Scope.Apply], because a question may contain only the id of its tool call.
//
// Protocol: session/request_permission.
func (r *Requests) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	call, _ := thread.ToolCallOf(&req.ToolCall)
	q := &Question{Session: string(req.SessionID), Title: req.ToolCall.Title, Tool: ToolOf(call)}
	if r.Session != nil {
		known := false
		if q.Workspace, q.Turn, known = r.Session(req.SessionID); !known {
			return nil, ErrUnknownSession
		}
	}
	if r.Agent != nil {
		q.Agent = r.Agent()
	}
	for _, o := range req.Options {
		q.Options = append(q.Options, Option{ID: string(o.OptionID), Name: o.Name, Kind: string(o.Kind)})
	}
	if o := r.Scope.Decide(ctx, q); o.OptionID != "" {
		return acp.Selected(acp.PermissionOptionID(o.OptionID)), nil
	}
	return acp.Cancelled(), nil
}
