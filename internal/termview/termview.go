// Package termview carries the output of commands from the package that runs them to the one
// that shows a session. The second puts a function into the ctx of terminal/create, and the
// first calls it. They do not import each other.
package termview

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
)

// Update is a change of a terminal. ID, Command, Cwd and Stop are the same in all Updates of it.
type Update struct {
	ID           acp.TerminalID
	Command, Cwd string
	// Output is what the command has printed since the last Update. It is valid during the call
	// only.
	Output []byte
	// Exit is set in the last Update.
	Exit *acp.TerminalExitStatus
	// Stop asks the command to end, and kills it if it does not. It returns at once, and may be
	// called at any time.
	Stop func()
}

type key struct{}

// With returns a ctx for terminal/create. View is called when the command has started, when it
// has printed something, and when it has ended, before the agent learns of it. The calls with
// output, and the last one, are in order.
func With(ctx context.Context, view func(Update)) context.Context {
	return context.WithValue(ctx, key{}, view)
}

// Of returns the function that With has put into the ctx, or one that does nothing.
func Of(ctx context.Context) func(Update) {
	if view, ok := ctx.Value(key{}).(func(Update)); ok {
		return view
	}
	return func(Update) {}
}
