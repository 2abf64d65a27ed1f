// Package permission answers the permission requests of version 2 of the protocol as a policy
// of package [github.com/acpkit/go-sdk/client/permission] decides. Experimental: it may change
// in any release.
//
// A client embeds [Requests] and passes each update to [Apply]:
//
//	type editor struct {
//		permission.Requests
//	}
//
//	func (e *editor) SessionUpdate(ctx context.Context, n *acp.UpdateSessionNotification) error {
//		permission.Apply(e.Scope, n.SessionID, n.Update)
//		return nil
//	}
//
// # Subjects
//
// A question about a tool call is decided as in version 1, with what earlier updates
// reported about the call. A question about a command is decided like a shell command line:
// rules may deny it, but no rule allows it unless Options.Extract has found the same
// command in the tool call. A question without a subject, or with a subject of an unknown
// kind, is put to a person unless a rule denies everything.
//
// In version 2 the agent itself runs commands and writes files, so a client decides nothing
// but these questions; there is no operation to authorize later.
package permission

import (
	"context"

	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/thread"
)

// Requests answers session/request_permission. It is made for embedding in a client. All
// fields but Scope are optional.
type Requests struct {
	Scope *permission.Scope
	// Session returns the folder and the turn of a session; see [permission.Question]. If known is
	// false, the request fails with -32602 and no person is asked.
	Session func(ctx context.Context, id acp.SessionID) (workspace string, turn uint64, known bool)
	// Agent returns the name of the agent.
	Agent func() string
}

// RequestPermission responds as the policy of the Scope decides. The client must pass each
// update to [Apply].
//
// Protocol: session/request_permission.
func (r *Requests) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	q := question(req)
	if r.Session != nil {
		known := false
		if q.Workspace, q.Turn, known = r.Session(ctx, req.SessionID); !known {
			return nil, permission.ErrUnknownSession
		}
	}
	if s, ok := req.Subject.(*acp.ToolCallPermissionSubject); ok {
		Apply(r.Scope, req.SessionID, &s.ToolCall) // the subject is an update too
	}
	if r.Agent != nil {
		q.Agent = r.Agent()
	}
	if o := r.Scope.Decide(ctx, q); o.OptionID != "" {
		return acp.Selected(acp.PermissionOptionID(o.OptionID)), nil
	}
	return acp.Cancelled(), nil
}

func question(req *acp.RequestPermissionRequest) *permission.Question {
	q := &permission.Question{Session: string(req.SessionID), Title: req.Title, Description: req.Description}
	for _, o := range req.Options {
		q.Options = append(q.Options, permission.Option{ID: string(o.OptionID), Name: o.Name, Kind: string(o.Kind)})
	}
	switch s := req.Subject.(type) {
	case *acp.ToolCallPermissionSubject:
		call, _ := thread.ToolCallOf(&s.ToolCall)
		q.Tool = permission.ToolOf(call)
	case *acp.CommandPermissionSubject:
		q.Command, q.Cwd = s.Command, string(s.Cwd)
		if s.ToolCallID != "" {
			q.Tool = &permission.Tool{ID: string(s.ToolCallID)}
		}
	case *acp.UnknownRequestPermissionSubject:
		q.Tool = &permission.Tool{Input: s.Raw}
	}
	return q
}

// Apply records what an update reports about a tool call, because a later question may
// contain only the id of the call. Call it for each update of a session, in order. Updates
// of other kinds are ignored.
func Apply(s *permission.Scope, id acp.SessionID, u acp.SessionUpdate) {
	if ch, ok := thread.ToolCallOf(u); ok {
		s.Observe(string(id), ch)
	}
}
