// Package permission answers the permission requests of version 2 of the protocol as a
// policy of package [github.com/acpkit/go-sdk/client/permission] decides. Version 2 is a
// draft: names may change in any release.
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
