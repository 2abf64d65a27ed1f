package client

import "time"

// Limits bound what a connection may use. Zero, everywhere, means the default.
// How long a message may be is a matter of the stream, see package stream.
type Limits struct {
	// Backlog is how many bytes of notifications may wait for their handler, or in
	// a Turn for its reader, before the connection stops reading, which slows the
	// agent down: 64 MiB.
	Backlog int64
	// MaxBacklog ends the connection with acp.ErrOverloaded. It counts where the
	// connection must not stop reading, because an answer is waited for: 1 GiB.
	MaxBacklog int64
	// MaxHandlers is how many request handlers run at once; more requests wait
	// their turn. Those inside a call of the Conn do not count, nor do requests for
	// permission, elicitations and waiting for terminals: 1024.
	MaxHandlers int
	// MaxWaiting is how many bytes of requests may wait for their turn before new
	// ones are answered with -32603 "Too many requests": 64 MiB.
	MaxWaiting int64
	// MaxOpen is how many bytes of requests may be open, waiting or running, before
	// new ones are answered in the same way: 1 GiB. One that runs counts 8 KiB on top,
	// so that is 130,000 short ones.
	MaxOpen int64
	// SendQueue is how many bytes may wait to be written before senders have to
	// wait: 8 MiB. SendReserve is room beyond it for the connection's own answers:
	// 1 MiB.
	SendQueue, SendReserve int64

	// StallTimeout ends the connection with acp.ErrStalled when the agent has read
	// nothing for so long while the queue was full: 60 s.
	StallTimeout time.Duration
	// DrainGrace is how long handlers may go on after the agent has closed its
	// side: 5 s.
	DrainGrace time.Duration
	// HandlerGrace is how long handlers may go on after their ctx has ended, before
	// Run returns acp.ErrHandlerStuck: 5 s.
	HandlerGrace time.Duration
	// FlushGrace is how long Close goes on writing what was accepted: 2 s.
	FlushGrace time.Duration
	// SlowHandler is how long a notification handler may keep others waiting before
	// a warning is logged: 10 s.
	SlowHandler time.Duration
}
