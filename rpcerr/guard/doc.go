// Package guard is a middleware for the errors that leave a program: it finds out
// what they are, writes each to the log once, and keeps what nobody meant for the peer
// inside.
//
//	agent.Serve(ctx, stream.Stdio(), newAgent, &agent.Options{
//		Receiving: []acp.Middleware{guard.Middleware(nil)},
//	})
//
// Without it, an unexpected error leaves as -32603 "Internal error". With it, a
// missing file leaves as -32002 and a refused connection as "Service unavailable,
// retryable", still without a word of the error's text. Errors that say themselves
// what they are leave as they are.
//
// Options add adapters for foreign errors and a function that enriches or replaces
// errors. Develop lets the texts out, for the developer's own machine.
package guard
