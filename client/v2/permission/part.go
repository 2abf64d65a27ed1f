package permission

import (
	"context"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client/permission"
)

// Requests answers session/request_permission. It is made for embedding in a client. All
// fields but Scope are optional.
type Requests struct {
	Scope *permission.Scope
	// Session returns the folder and the turn of a session; see [permission.Question]. If known is
	// false, the request fails with -32602 and no person is asked.
	Session func(id acp.SessionID) (workspace string, turn uint64, known bool)
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
		if q.Workspace, q.Turn, known = r.Session(req.SessionID); !known {
			return nil, permission.ErrUnknownSession
		}
	}
	if s, ok := req.Subject.(*acp.ToolCallPermissionSubject); ok {
		r.Scope.Observe(string(req.SessionID), change(&s.ToolCall)) // the subject is an update too
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
		q.Tool = tool(&s.ToolCall)
	case *acp.CommandPermissionSubject:
		q.Command, q.Cwd = s.Command, string(s.Cwd)
		if s.ToolCallID != "" {
			q.Tool = &permission.Tool{ID: string(s.ToolCallID)}
		}
	}
	return q
}

// Apply records what an update reports about a tool call, because a later question may
// contain only the id of the call. Call it for each update of a session, in order. Updates
// of other kinds are ignored.
func Apply(s *permission.Scope, id acp.SessionID, u acp.SessionUpdate) {
	switch u := u.(type) {
	case *acp.ToolCallUpdate:
		s.Observe(string(id), change(u))
	case *acp.ToolCallContentChunk:
		ch := permission.ToolChange{ID: string(u.ToolCallID)}
		ch.MoreDiffs, ch.MorePatches = diffs([]acp.ToolCallContent{u.Content})
		s.Observe(string(id), ch)
	}
}

// tool returns the tool call of a question.
func tool(u *acp.ToolCallUpdate) *permission.Tool {
	t := &permission.Tool{
		ID: string(u.ToolCallID), Name: u.Name.Or(""), Kind: string(u.Kind.Or("")), Title: u.Title.Or(""),
	}
	if string(u.RawInput) != "null" {
		t.Input = u.RawInput
	}
	if list, ok := u.Content.Get(); ok {
		t.Diffs, t.Patches = diffs(list)
	}
	if list, ok := u.Locations.Get(); ok {
		t.Paths = paths(list)
	}
	return t
}

// change returns what an update changes: null removes the earlier value.
func change(u *acp.ToolCallUpdate) permission.ToolChange {
	ch := permission.ToolChange{ID: string(u.ToolCallID), Name: text(u.Name), Kind: text(u.Kind), Title: text(u.Title)}
	switch string(u.RawInput) {
	case "":
	case "null":
		ch.Input = []byte{}
	default:
		ch.Input = u.RawInput
	}
	if !u.Content.IsZero() {
		d, p := diffs(u.Content.Or(nil))
		ch.Diffs, ch.Patches = &d, &p
	}
	if !u.Locations.IsZero() {
		ch.Paths = new(paths(u.Locations.Or(nil)))
	}
	switch u.Status.Or("") {
	case acp.ToolCallStatusCompleted, acp.ToolCallStatusFailed, acp.ToolCallStatusCancelled:
		ch.Done = true
	}
	return ch
}

// text returns nil for an absent text and an empty one for null.
func text[T ~string](o acp.Opt[T]) *string {
	if o.IsZero() {
		return nil
	}
	return new(string(o.Or("")))
}

// diffs returns the files that are changed, and the patches. Neither is nil.
func diffs(list []acp.ToolCallContent) ([]permission.Diff, []string) {
	all, patches := []permission.Diff{}, []string{}
	for _, c := range list {
		d, ok := c.(*acp.Diff)
		if !ok {
			continue
		}
		for _, change := range d.Changes {
			for _, p := range changed(change.Operation) {
				all = append(all, permission.Diff{Path: string(p)})
			}
		}
		if d.Patch != nil {
			patches = append(patches, d.Patch.Text)
		}
	}
	return all, patches
}

// changed returns the files that an operation creates, changes or removes.
func changed(o acp.DiffOperation) []acp.AbsolutePath {
	switch o := o.(type) {
	case *acp.DiffAdd:
		return []acp.AbsolutePath{o.Path}
	case *acp.DiffDelete:
		return []acp.AbsolutePath{o.Path}
	case *acp.DiffModify:
		return []acp.AbsolutePath{o.Path}
	case *acp.DiffMove:
		return []acp.AbsolutePath{o.OldPath, o.Path}
	case *acp.DiffCopy:
		return []acp.AbsolutePath{o.Path}
	case *acp.UnknownDiffOperation:
		return named(o)
	}
	return nil
}

func paths(list []acp.ToolCallLocation) []string {
	all := []string{}
	for _, l := range list {
		all = append(all, string(l.Path))
	}
	return all
}
