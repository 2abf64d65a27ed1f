// Package stream carries whole JSON-RPC messages between the two ends of a
// connection. Pass a [Stream] to agent.New or client.New: from then on only the
// connection reads, writes and closes it.
//
//	Stdio()          an agent that a client started: standard input and output
//	Command(cmd, …)  a client that starts an agent: a child process
//	Pipe()           both ends in one process: tests, built-in agents
//	Lines(r, w, …)   any reader and writer: sockets, files, transports of your own
//
// The main function of an agent calls Stdio first, so that nothing the program prints by
// mistake gets between two messages:
//
//	s := stream.Stdio()
//	err := agent.Serve(ctx, s, newAgent, nil)
//
// # Behavior
//
// A message longer than 32 MiB (MaxMessage) is skipped without being held in memory. If
// it is a response, its call fails. The connection continues. A client skips lines that
// are not JSON objects and passes them to OnNoise, since many agents also print banners
// and warnings.
//
// If the peer is gone, reading and writing return an error or the end of input; no
// signal ends the program. If an agent process dies, pending calls fail with an error
// that wraps *[ExitError], which has the exit status and the last part of standard
// error.
//
// Closing a [Process] closes the agent's input, waits 5 s (Grace), asks its
// process group to end, waits 5 s again and kills the group. When Close has
// returned nil, no process of the group is running. A process that left the group
// (setsid) is not ended.
//
// # Limits
//
//	one message read        32 MiB    MaxMessage
//	a line given to OnNoise  4 KiB
//	waiting in a Pipe      256 KiB or 256 messages, each way
//	standard error kept     64 KiB    StderrTail
//
// # Other transports
//
// To carry messages in another way, implement [Stream] and check it with package streamtest. A
// transport that can do more, such as sending several messages in one write, has a method that
// returns [Features].
//
// A network transport must keep three promises:
//
//   - Messages of one session arrive in the order in which they were written, and the
//     response to a call arrives after the notifications that were written before it.
//   - A message that was accepted is delivered, or reading returns a *[LostError] that
//     names the call or the session that fails.
//   - The loss of one message or one session does not end the connection; a final
//     error does.
//
// Errors that a caller sees should have a method Failure() (kind string, retryable bool), as
// LostError has. It returns the name of a kind of package rpcerr/kind. Package rpcerr/retry uses
// it, so as not to repeat a request that the peer may have processed.
//
// [Tap] shows the messages of any stream. [Forward] connects two streams directly.
package stream
