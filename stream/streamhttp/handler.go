package streamhttp

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/internal/webguard"
	"github.com/acpkit/go-sdk/stream"
)

// The headers of the protocol.
const (
	connectionHeader = "Acp-Connection-Id"
	sessionHeader    = "Acp-Session-Id"
	resumeHeader     = "Last-Event-ID"
)

// beforeFirst in resumeHeader requests all events. A client sends it if its GET was cut, because
// the server may have sent events that did not arrive.
const beforeFirst = "0"

const (
	maxHeaderID = 1024             // bytes of a connection or session id
	maxSessions = 1024             // streams of one connection, and those without a receiver
	closeLinger = 5 * time.Second  // how long Close waits for event streams to be opened
	maxBuffered = 64 << 20         // bytes of one connection that wait, each way
	bodyTimeout = 60 * time.Second // how long a body may take
	keepAlive   = 15 * time.Second // between two comments on an idle event stream

	// stallLimit is how long a client may read nothing while the queue of its connection is full,
	// and how long a POST waits for room.
	stallLimit = 60 * time.Second
	// idleLimit is how long a connection lives without event streams and requests, and how long
	// a client may read nothing of what is being sent on an event stream before that ends.
	idleLimit = 5 * time.Minute
	// idleResumable is idleLimit with HandlerOptions.Resume.
	idleResumable = 60 * time.Second
)

// HandlerOptions configure [NewHandler], which copies them. The zero value selects the
// defaults.
type HandlerOptions struct {
	// Owner returns the identity of the sender of a request. A connection belongs to the
	// sender of its initialize; for others it does not exist. Nil means that all senders
	// are the same.
	Owner func(*http.Request) string

	// Connect admits a connection when its initialize arrives. The ctx is passed to
	// serve; when it is done, the connection ends. done is called when serve has returned and
	// what it had written was sent.
	// An error refuses the connection with status 503, or with the status of a
	// *stream.StatusError. Nil admits all.
	Connect func(*http.Request) (ctx context.Context, done func(), err error)

	// AllowedOrigins are the origins whose pages may connect, each as scheme://host or
	// scheme://host:port. Requests without Origin, and those of the same host, are
	// always allowed.
	AllowedOrigins []string

	// MaxMessage is the longest body in bytes; 0 means stream.DefaultMaxMessage. A
	// longer one gets status 413.
	MaxMessage int

	// Resume numbers the events and keeps those that were sent, so that a client can continue
	// an interrupted event stream.
	Resume bool

	// Instance identifies this server in the ids of its connections, so that a load balancer can
	// find the server of a request: an id is Instance, a dot and a random part. Instance has at
	// most 253 letters, digits, '-', '_' and '.'. If it is invalid, initialize gets status 500.
	// Empty means no name.
	Instance string

	// Logger receives a record for each request that is refused because of its sender or a limit,
	// at most 20 in a minute, and for each panic. Nil means slog.Default().
	Logger *slog.Logger

	buffered int64 // how many bytes wait in each direction of a connection; set by tests
}

// Handler is the server's end. It is made by [NewHandler].
type Handler struct {
	serve  func(context.Context, stream.Stream) error
	opts   HandlerOptions
	idle   time.Duration
	bodies *bodies
	log    *slog.Logger

	refusals webguard.Refusals

	sessions       atomic.Int64 // those whose event stream is open
	received, sent atomic.Int64 // bytes

	mu    sync.Mutex // guards all below
	conns map[string]*Conn
	total int64 // connections, with those that have ended
}

// NewHandler returns an http.Handler that calls serve for each connection, on a
// goroutine of its own. serve must return when its stream or its ctx ends. The stream
// is a *[Conn]. A panic of serve is logged and ends the connection.
func NewHandler(serve func(context.Context, stream.Stream) error, opts *HandlerOptions) *Handler {
	h := &Handler{serve: serve, conns: map[string]*Conn{}, opts: *cmp.Or(opts, new(HandlerOptions))}
	o := &h.opts
	if o.MaxMessage <= 0 {
		o.MaxMessage = stream.DefaultMaxMessage
	}
	if o.buffered == 0 {
		o.buffered = maxBuffered
	}
	if h.idle = idleLimit; o.Resume {
		h.idle = idleResumable
	}
	if o.Owner == nil {
		o.Owner = func(*http.Request) string { return "" }
	}
	if o.Connect == nil {
		o.Connect = func(r *http.Request) (context.Context, func(), error) {
			ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
			return ctx, cancel, nil
		}
	}
	if h.log = o.Logger; h.log == nil {
		h.log = slog.Default()
	}
	h.bodies = newBodies(o)
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	webguard.LimitBody(w, r)
	defer h.recovered(w, r)
	if err := webguard.CheckOrigin(r, h.opts.AllowedOrigins, nil); err != nil {
		h.refused(http.StatusForbidden, err)
		webguard.Refuse(w, r, http.StatusForbidden)
		return
	}
	if !webguard.CanFlush(w) {
		h.refusals.Log(h.log, slog.LevelError, "streamhttp: refused a request: its ResponseWriter cannot flush; a middleware that wraps it needs a method Unwrap, and http.TimeoutHandler cannot be used", "type", fmt.Sprintf("%T", w))
		webguard.Refuse(w, r, http.StatusInternalServerError)
		return
	}
	if len(r.Header.Get(connectionHeader)) > maxHeaderID || len(r.Header.Get(sessionHeader)) > maxHeaderID {
		refuse(w, r, http.StatusBadRequest, "An id is too long")
		return
	}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r)
	case http.MethodGet:
		h.get(w, r)
	case http.MethodDelete:
		if c := h.find(w, r); c != nil {
			c.end(io.EOF)
			accept(w, r)
		}
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		refuse(w, r, http.StatusMethodNotAllowed, "Method not allowed")
	}
}

// find returns the connection that a request names. If there is none, it refuses the request and
// returns nil.
func (h *Handler) find(w http.ResponseWriter, r *http.Request) *Conn {
	if r.Header.Get(connectionHeader) == "" {
		refuse(w, r, http.StatusBadRequest, "Missing "+connectionHeader)
		return nil
	}
	c := h.lookup(r)
	if c == nil {
		refuse(w, r, http.StatusNotFound, "Unknown "+connectionHeader)
	}
	return c
}

// lookup returns the connection that a request names, or nil if its sender has none of that
// name.
func (h *Handler) lookup(r *http.Request) *Conn {
	h.mu.Lock()
	c := h.conns[r.Header.Get(connectionHeader)]
	h.mu.Unlock()
	if c != nil && c.owner != h.opts.Owner(r) {
		return nil
	}
	return c
}

func (h *Handler) remove(c *Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.conns, c.id)
}

// Every response here has a deadline, because its peer may not take it.

// recovered answers a request during which Owner or Connect has panicked.
func (h *Handler) recovered(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == http.ErrAbortHandler {
		panic(p)
	}
	if p != nil {
		h.refusals.Log(h.log, slog.LevelError, "streamhttp: panic while a request was checked", "panic", panics.Text(p), "stack", string(debug.Stack()))
		webguard.Refuse(w, r, http.StatusInternalServerError)
	}
}

func accept(w http.ResponseWriter, r *http.Request) {
	webguard.LimitResponse(w, r)
	w.WriteHeader(http.StatusAccepted)
}

func refuse(w http.ResponseWriter, r *http.Request, code int, text string) {
	webguard.LimitResponse(w, r)
	http.Error(w, text, code)
}

// refused counts and logs that a request was refused because of its sender or a limit.
func (h *Handler) refused(code int, reason error) {
	h.refusals.Log(h.log, slog.LevelWarn, "streamhttp: refused a request", "status", code, "reason", reason)
}

// refuseJSON refuses with the body that a JSON-RPC client understands.
func refuseJSON(w http.ResponseWriter, r *http.Request, code int, body string) {
	webguard.LimitResponse(w, r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, body)
}
