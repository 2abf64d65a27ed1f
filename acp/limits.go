package acp

// Limits bound the memory of a connection and how many handlers it runs at once. The zero value of a field means its
// default. SECURITY.md has a table of all limits, also of those that are fixed until somebody needs another value; the maximum
// length of a message is one of the stream.
type Limits struct {
	// Backlog is the number of bytes of notifications that may wait, for their handlers or at a client in a turn
	// that is not read, before the connection stops reading, which slows the peer down. The default is 64 MiB.
	Backlog int64
	// MaxBacklog is the number of bytes of waiting notifications at which the connection ends with
	// [ErrOverloaded]. It applies while a response is awaited, when the connection must not stop reading. If it is
	// less than Backlog, it also replaces Backlog. The default is 1 GiB.
	MaxBacklog int64
	// MaxHandlers is the number of request handlers that may run at once; further requests wait. Handlers of
	// prompts, handlers that load a session, handlers that wait for the user or for the end of a command, and
	// handlers that wait in a call of the connection do not count. The default is 1024.
	MaxHandlers int
	// SendQueue is the number of bytes that may wait to be written before senders must wait. The default is 8 MiB.
	SendQueue int64
}
