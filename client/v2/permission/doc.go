// Package permission lets a policy of package
// [github.com/acpkit/go-sdk/client/permission], which names no version of the protocol,
// answer the questions of version 2. Version 2 is a draft: names may change in any release.
//
// A client embeds [Requests] and passes each update to [Apply]:
//
//	type editor struct {
//		permission.Requests
//	}
//
//	func (e *editor) UpdateSession(ctx context.Context, n *acp.UpdateSessionNotification) error {
//		permission.Apply(e.Scope, n.SessionID, n.Update)
//		return nil
//	}
//
// # Subjects
//
// A question about a tool call is judged as in version 1, with what was said of the call
// before. A question about a command is judged as a line that a shell reads: rules may deny
// it, and no rule allows it, unless Options.Extract has found the same command in the tool
// call. A question without a subject, or with one of an unknown kind, is for a person,
// unless a rule denies everything.
//
// In version 2 the agent runs its commands and writes its files itself, so the answer is
// all that a client decides; there is nothing to authorize later.
package permission
