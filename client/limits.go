// Copied to client/v2 by go generate.

package client

import (
	"time"

	"github.com/acpkit/go-sdk/internal/reserve"
)

// Limits bound the memory, the handlers and the waiting times of a connection. The zero
// value of a field means its default. The maximum length of a message is a limit of the
// stream; see package stream.
type Limits struct {
	// Backlog is the number of bytes of notifications that may wait, for their handlers
	// or in a Turn that is not read, before the connection stops reading, which slows the
	// agent down. The default is 64 MiB.
	Backlog int64
	// MaxBacklog is the number of bytes of waiting notifications at which the connection
	// ends with acp.ErrOverloaded. It applies while a response is awaited, when the
	// connection must not stop reading. If it is less than Backlog, it also replaces
	// Backlog. The default is 1 GiB.
	MaxBacklog int64
	// MaxHandlers is the number of request handlers that may run at once; further
	// requests wait. Handlers that wait for the user or for the end of a command, and
	// handlers that wait in a call of the Conn, do not count. The default is 1024.
	MaxHandlers int
	// MaxWaiting is the number of bytes of requests that may wait for a handler before
	// new ones fail with -32603 "Too many requests". The default is 64 MiB.
	MaxWaiting int64
	// MaxOpen is the number of bytes of requests that may wait or run before new ones
	// fail in the same way. A running request counts 8 KiB more than its length, so the
	// default of 1 GiB allows about 130,000 short requests.
	MaxOpen int64
	// Results is the number of bytes that results may occupy, in memory and encoded, until
	// they are written. Handlers that reserve room, as those of packages client/files and
	// client/terminals do, wait before they load a result of 64 KiB or more; one of any size
	// is always admitted if the connection has no other in flight. While results of other
	// handlers exceed it, requests that count for MaxHandlers are not started. The default
	// is 64 MiB.
	Results int64
	// SendQueue is the number of bytes that may wait to be written before senders must
	// wait. The default is 8 MiB. SendReserve is additional room for responses that the
	// connection itself sends. The default is 1 MiB. While these responses exceed it,
	// reading pauses, unless nothing is written for 100 ms.
	SendQueue, SendReserve int64

	// StallTimeout is how long the agent may read nothing while the send queue or the
	// reserve is full, before the connection ends with acp.ErrStalled. The default is 60 s.
	StallTimeout time.Duration
	// DrainGrace is how long handlers may run after the agent has closed its end. The default
	// is 5 s.
	DrainGrace time.Duration
	// HandlerGrace is how long handlers may run after their ctx is done, before Run
	// returns acp.ErrHandlerStuck. The default is 5 s.
	HandlerGrace time.Duration
	// FlushGrace is how long Close continues to write messages that were accepted for
	// sending. The default is 2 s.
	FlushGrace time.Duration
	// SlowHandler is how long a notification handler may delay other messages before a
	// warning is logged. The default is 10 s.
	SlowHandler time.Duration
}

// ResultBudget counts the results of several connections together; see [Conn.ShareResults].
// The zero value is ready for use.
type ResultBudget struct{ budget reserve.Budget }

// ShareResults makes the results of c count together with those of all connections that
// share b: those of c wait while all of them exceed the Limits.Results of c. Each of the
// connections can still load one result at a time, whether or not the other agents read.
// ShareResults must be called by the function given to [New]; later it has no effect.
func (c *Conn) ShareResults(b *ResultBudget) { c.results = &b.budget }
