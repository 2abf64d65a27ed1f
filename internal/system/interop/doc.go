// Package interop holds tests against programs that other people wrote: the
// TypeScript SDK in both roles, Gemini CLI, acpx, the examples of another Go SDK,
// and recordings of conversations on the wire. It has no code of its own.
//
// The programs come from npm and from the Go module proxy, at pinned versions. Where
// npm is missing the tests that need it say so and are skipped; with the environment
// variable CI set they fail instead.
package interop
