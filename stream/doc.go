// Package stream carries whole JSON-RPC messages between the two ends of a
// connection. A [Stream] is handed to agent.New or client.New, which read, write
// and close it; nobody else does.
//
//	Stdio()          an agent that a client started: standard input and output
//	Command(cmd, …)  a client that starts an agent: a child process
//	Pipe()           both ends in one process: tests, built-in agents
//	Lines(r, w, …)   any reader and writer: sockets, files, transports of your own
//
// An agent's main is this, with the first line first, because it keeps what the
// program prints by mistake out of the conversation:
//
//	s := stream.Stdio()
//	err := agent.Serve(ctx, s, newAgent, nil)
//
// # What users see
//
// Messages longer than 32 MiB (MaxMessage) are skipped without being held in
// memory; whoever waits for such an answer gets an error, and the connection lives
// on. A client skips lines that are not JSON objects and reports them to OnNoise,
// since many agents print something else as well.
//
// A peer that went away is an error or the end of input, never a signal that ends
// the program. An agent process that dies takes its exit status and the last part
// of its standard error along: the calls that wait for it fail with an error that
// wraps *[ExitError].
//
// Closing a [Process] closes the agent's input, waits 5 s (Grace), asks its
// process group to end, waits 5 s (TermGrace) and kills the group. When Close has
// returned nil, nothing of the group runs any more. A process that left the
// group (setsid) is on its own.
//
// # Limits
//
//	one message read        32 MiB    MaxMessage
//	a line given to OnNoise  4 KiB
//	waiting in a Pipe      256 KiB or 256 messages, each way
//	standard error kept     64 KiB    StderrTail
//
// To carry messages in another way, implement [Stream] and check it with package
// streamtest.
package stream
