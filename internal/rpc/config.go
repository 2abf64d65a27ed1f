package rpc

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/acpkit/go-sdk/internal/reserve"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
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

	// Handle gets *Params and returns *Result. (nil, nil) stands for an empty object,
	// if the result type allows it.
	Handle func(ctx context.Context, params any) (any, error)

	// Refuse returns the error for decoded params that the protocol obliges this end to refuse,
	// whatever its handler does; nil: none. It is called before the middlewares.
	Refuse func(params any) *rpcerr.RequestError

	// Group reports whether the handler's ctx belongs to the group that params.sessionId names.
	Group bool
	// Ends: when the message is read, the ctx of the members of its group that were
	// read before it ends, with wire.ErrTurnCancelled as the cause.
	Ends Ending
	// Ended makes the result that is sent in place of any error, a middleware's
	// included, once the group of the request was ended. Nil: the error is sent.
	Ended func() any
}

// Ending tells which members of a group a message ends: the requests, and the work that outlives
// them (see [Outlive]).
type Ending uint8

const (
	EndsNothing    Ending = iota
	EndsForeground        // background work continues
	EndsAll
)

// Config configures a connection.
type Config struct {
	Stream  stream.Stream
	Role    string // "agent" or "client", for logs and error texts
	Entries []*Entry

	// Extension handles requests that the protocol does not define; nil responds
	// -32601. ExtensionNotification likewise; nil ignores them. Methods of the
	// protocol, and names that begin with "$/", are never given to either.
	Extension             func(ctx context.Context, method string, params json.RawMessage) (any, error)
	ExtensionNotification func(ctx context.Context, method string, params json.RawMessage) error

	// Defined reports whether a version of the protocol defines the method, for
	// whichever end; nil: it defines none.
	Defined func(method string) bool

	// Relay reports whether the handlers pass requests on over other connections and return the
	// responses of those. Messages that such a connection reads after a response wait for the
	// response of the handler.
	Relay bool

	// Handshake is the request that opens the connection. Before it requests are refused
	// with -32600 and notifications are dropped; what is read after it waits for its
	// response. Empty: the connection is open from the start.
	Handshake string
	// HandshakeFirst means that a repeated handshake is refused with -32600 if another request was
	// read since the connection was opened.
	HandshakeFirst bool

	// StrictIDs means that the id of a request must be a string or an integer.
	StrictIDs bool

	// Reopens reports whether a request of the method opens a lost session again, see
	// stream.LostError: one of this end when it has succeeded, one of the peer when it is
	// read, because its handler may call the peer. Nil: none does.
	Reopens func(method string) bool

	// Receiving and Sending wrap what arrives and what leaves; the first is the outermost. A
	// sending middleware must pass on a ctx that descends from the one it was given.
	Receiving, Sending []Middleware

	Logger *slog.Logger // nil means slog.Default()
	// OnDropped is called for notifications that could not be decoded, or that arrived before
	// the handshake, in their order.
	OnDropped func(method string, err error)
	// OnRefused is called for requests that no handler gets: nothing handles the method, or the
	// params break the schema or are refused by the row. Nil does nothing.
	OnRefused func(method string)
	// OnError is called with the error of a request, or of the operation that where names, before
	// the error is converted for the peer. Its result replaces the error unless it is nil.
	OnError func(ctx context.Context, where string, err error) error

	ExposeErrors bool // the texts that errors keep inside are sent to the peer
	RawParams    bool // handlers may ask for RawParams, which are kept for them
	LenientPaths bool // no rules of the prose for arriving params

	// Invalid builds the error for values that break the schema; where is like
	// "session/new params".
	Invalid func(where string, fields *wire.FieldErrors) error

	// OnEnd runs once, after Conn.Done is closed and before Wait returns; nil does nothing.
	OnEnd func()

	// Err is the error of an invalid configuration. Start and every call return it, and nothing is
	// sent.
	Err error

	Limits Limits
	// Results counts the results of this connection with those of others; nil: they count
	// alone.
	Results *reserve.Budget
}

// Limits bound memory, handlers and waiting. Zero means the default, which withDefaults sets.
type Limits struct {
	Backlog     int64 // bytes of notifications that wait, for their handler or in a Turn, before the reader pauses
	MaxBacklog  int64 // the same before the connection ends with ErrOverloaded, when the reader must not pause
	MaxHandlers int   // request handlers that run at once; those that wait for people, for processes or for the peer do not count
	MaxWaiting  int64 // bytes of requests that wait for their handler before new ones are refused
	MaxOpen     int64 // bytes of requests that wait or run before new ones are refused; one that runs counts 8 KiB on top
	Results     int64 // bytes of results whose responses are not written, in memory and encoded, before reservations wait; see package reserve
	SendQueue   int64 // bytes that wait to be written before senders wait
	SendReserve int64 // room beyond it for the responses of the connection itself, before the reader pauses

	StallTimeout time.Duration // how long the queue or the reserve may be full with nothing written before ErrStalled ends the connection
	DrainGrace   time.Duration // how long handlers may continue after the peer has closed its end
	HandlerGrace time.Duration // how long handlers may continue after their ctx is done
	FlushGrace   time.Duration // how long Close continues to write accepted messages
	SlowHandler  time.Duration // how long a notification handler may keep a call or a request waiting before a warning names both
}

func (l Limits) withDefaults() Limits {
	hard := l.MaxBacklog
	positive(&l.Backlog, 64<<20)
	positive(&l.MaxBacklog, 1<<30)
	if hard > 0 { // the reader must pause before the connection ends with ErrOverloaded
		l.Backlog = min(l.Backlog, hard)
	}
	l.MaxBacklog = max(l.MaxBacklog, l.Backlog)
	positive(&l.MaxWaiting, 64<<20)
	positive(&l.MaxOpen, 1<<30)
	positive(&l.Results, 64<<20)
	positive(&l.SendQueue, 8<<20)
	positive(&l.SendReserve, 1<<20)
	positive(&l.MaxHandlers, 1024)
	positive(&l.StallTimeout, 60*time.Second)
	positive(&l.DrainGrace, 5*time.Second)
	positive(&l.HandlerGrace, 5*time.Second)
	positive(&l.FlushGrace, 2*time.Second)
	positive(&l.SlowHandler, 10*time.Second)
	return l
}

// positive sets a limit that is not positive to its default.
func positive[T int | int64 | time.Duration](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}
