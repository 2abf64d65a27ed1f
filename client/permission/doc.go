// Package permission decides what an agent may do. It responds to the permission requests
// of the agent, and it decides about writes and commands for which the agent did not ask.
//
// An agent need not ask before it writes a file or starts a command, and what it says in
// a question is only a claim. So one [Policy] serves both: [Scope.Decide] answers a
// question, and [Scope.Authorize] judges a write or a command with its resolved path and
// the arguments that will run. Package host calls both.
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
// A rule that denies comes first, then a rule that asks, then what a person has decided
// for always, then a rule that allows. Whatever none of them decides is asked. If there is
// no one to ask, if the person does not choose within Options.Timeout, or if the function
// that asks fails or panics, the operation is denied.
//
// An allow of a person holds for one operation: the one that was asked about, or the
// identical one that the question has named, in the same turn.
//
// # What a question may be answered with
//
// Options are chosen by their kind and sent by their id. A rule answers with allow_once
// or reject_once and never with an "always" option, which is for a person to pick. If a
// rule allows and no allow_once is offered, the person is asked. If no reject_once is
// offered, a denial is the outcome "cancelled". So is each question whose turn was
// cancelled or whose connection has ended.
//
// # What rules do not promise
//
// Rules are no sandbox. A command that is allowed can do all that its user can, and a rule
// that denies a command does not stop a script that runs it.
package permission
