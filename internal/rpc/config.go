package rpc

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// Handler handles one message. For methods of the table params is a pointer to
// the params type and the result a pointer to the result type; for extensions
// params is a json.RawMessage. Notifications have no result.
type Handler func(ctx context.Context, method string, params any) (any, error)

// Middleware wraps a Handler.
type Middleware func(Handler) Handler

// Entry is one method that this end handles.
type Entry struct {
	*wire.Method

	// Handle gets *Params and returns *Result. (nil, nil) answers an empty object,
	// if the result type allows it.
	Handle func(ctx context.Context, params any) (any, error)

	// Group: the handler's ctx belongs to the group that params.sessionId names.
	Group bool
	// EndsGroup: when the message is read, the ctx of all members of its group
	// that were read before it ends, with wire.ErrTurnCancelled as the cause.
	EndsGroup bool
	// Ended makes the result that is answered in place of any error, a middleware's
	// included, once the group of the request was ended. Nil: the error is answered.
	Ended func() any
}

// Config is what New needs to know.
type Config struct {
	Stream  stream.Stream
	Role    string // "agent" or "client", for logs and error texts
	Entries []*Entry

	// Extension handles requests that the protocol does not define; nil answers
	// -32601. ExtensionNotification likewise; nil ignores them. Methods of the
	// protocol, and names that begin with "$/", are never given to either.
	Extension             func(ctx context.Context, method string, params json.RawMessage) (any, error)
	ExtensionNotification func(ctx context.Context, method string, params json.RawMessage) error

	// Handshake is the request that opens the connection. Requests before it are
	// answered -32600 and notifications before it ignored; what is read behind it
	// waits for its answer. Empty: open from the start.
	Handshake string

	// Receiving and Sending wrap what arrives and what leaves. The first one is the
	// outermost. A sending middleware must pass on a ctx that descends from the one
	// it was given.
	Receiving, Sending []Middleware

	Logger *slog.Logger // nil means slog.Default()
	// OnDropped is told of notifications that could not be decoded, in their order.
	OnDropped func(method string, err error)

	ExposeErrors bool // texts of unexpected errors are sent to the peer
	LenientPaths bool // no rules of the prose for arriving params

	// Invalid builds the error for values that break the schema; where is like
	// "session/new params".
	Invalid func(where string, fields *wire.FieldErrors) error

	// Done is closed when the connection has ended; nil makes such a channel.
	Done chan struct{}

	// Err says that the connection was put together wrongly. Start and every call
	// return it, and nothing is sent.
	Err error

	Limits Limits
}

// Limits bound memory, handlers and waiting. Zero means the default.
type Limits struct {
	// Backlog is how many bytes of notifications may wait, for their handler or in
	// a Turn, before the reader pauses: 64 MiB.
	Backlog int64
	// MaxBacklog ends the connection with ErrOverloaded when the reader must not
	// pause: 1 GiB.
	MaxBacklog int64
	// MaxHandlers is how many request handlers run at once: 1024. Those that wait
	// for people, for processes or for the peer do not count.
	MaxHandlers int
	// MaxWaiting is how many bytes of requests may wait for their handler before
	// new ones are refused: 64 MiB.
	MaxWaiting int64
	// MaxOpen is how many bytes of requests may be open, waiting or running, before
	// new ones are refused: 1 GiB. One that runs counts 8 KiB on top.
	MaxOpen int64
	// SendQueue is how many bytes may wait to be written before senders wait:
	// 8 MiB. SendReserve is room beyond it for the connection's own answers: 1 MiB.
	SendQueue, SendReserve int64

	// StallTimeout ends the connection with ErrStalled when the queue was full and
	// nothing could be written for so long: 60 s.
	StallTimeout time.Duration
	// DrainGrace is how long handlers may go on after the peer has ended its side:
	// 5 s.
	DrainGrace time.Duration
	// HandlerGrace is how long handlers may go on after their ctx has ended: 5 s.
	HandlerGrace time.Duration
	// FlushGrace is how long Close goes on writing what was accepted: 2 s.
	FlushGrace time.Duration
	// SlowHandler is how long a notification handler may keep a call or a request
	// waiting before a warning names both: 10 s.
	SlowHandler time.Duration
}

func (l Limits) withDefaults() Limits {
	size := func(v *int64, def int64) {
		if *v <= 0 {
			*v = def
		}
	}
	grace := func(v *time.Duration, def time.Duration) {
		if *v <= 0 {
			*v = def
		}
	}
	size(&l.Backlog, 64<<20)
	size(&l.MaxBacklog, 1<<30)
	size(&l.MaxWaiting, 64<<20)
	size(&l.MaxOpen, 1<<30)
	size(&l.SendQueue, 8<<20)
	size(&l.SendReserve, 1<<20)
	if l.MaxHandlers <= 0 {
		l.MaxHandlers = 1024
	}
	l.MaxBacklog = max(l.MaxBacklog, l.Backlog)
	grace(&l.StallTimeout, 60*time.Second)
	grace(&l.DrainGrace, 5*time.Second)
	grace(&l.HandlerGrace, 5*time.Second)
	grace(&l.FlushGrace, 2*time.Second)
	grace(&l.SlowHandler, 10*time.Second)
	return l
}
