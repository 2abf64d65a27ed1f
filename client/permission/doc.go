// Package permission decides what an agent may do: it answers the permission requests of
// the agent, and it authorizes reads, writes and commands that the agent did not ask about.
//
// An agent need not ask before it writes a file or starts a command, and the content of a
// question is only a claim. One [Policy] therefore serves both: [Scope.Decide] answers a
// question, and [Scope.Authorize] decides about a read or a write with its resolved path, or
// about a command with the arguments that will run. Package client/host calls both.
//
//	policy, err := permission.New(&permission.Options{
//		Rules: []permission.Rule{
//			{Decision: permission.Allow, Commands: []string{"go test *", "go vet *"}},
//			{Decision: permission.Deny, Paths: []string{"/work/secrets/**"}},
//		},
//		Ask: askOnTerminal,
//	})
//
// # Who decides
//
// The first of these decides: a rule that denies, a rule that asks, an "always" decision of
// a person, a rule that allows. If there is none, a read is allowed and a person is asked
// about anything else. The operation is denied if there is no one to ask, if the person does
// not choose within Options.Timeout, or if Options.Ask fails or panics.
//
// A person's permission is valid for one operation. If the agent asked, it is valid for one
// operation of the same turn that is identical to one in the question.
//
// # Options
//
// A rule selects an option by its kind: allow_once or reject_once. Only a person can select
// an "always" option. If a rule allows and there is no option allow_once, a person is
// asked. If a question is denied and there is no option reject_once, the outcome is
// "cancelled". The outcome is also "cancelled" if the turn was cancelled or the connection
// has ended.
//
// # Limits of rules
//
// Rules are no sandbox. An allowed command can do everything that its user can do, and a
// rule that denies a command does not prevent a script from running it.
package permission
