package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// Conn is one end of a connection. All methods may be called from any goroutine
// and from inside handlers.
type Conn struct {
	cfg    Config
	limits Limits
	log    *slog.Logger

	requests      map[string]*Entry
	notifications map[string]*Entry

	// receive and send are the middlewares around what they wrap; nil without any.
	receive, send Handler

	// Set by Start, before anything else runs.
	life    context.Context // of all handlers
	endLife context.CancelCauseFunc
	up      *scope             // the handler whose ctx started the connection
	noise   func([]byte) error // takes what is not JSON, in place of an answer; nil: it is answered
	lib     *jsonrpc2.Conn
	objects *objectStream

	out      *outbox
	calls    callTable
	in       inbound
	end      ending
	started  atomic.Bool
	shutting atomic.Bool // Shutdown was called
}

// New prepares a connection. It starts nothing and does not fail; what is wrong
// with cfg is returned by Start and by every call.
func New(cfg Config) *Conn {
	c := &Conn{cfg: cfg, limits: cfg.Limits.withDefaults(), log: cfg.Logger}
	if c.log == nil {
		c.log = slog.Default()
	}
	if cfg.Role != "" {
		c.log = c.log.With("end", cfg.Role)
	}
	if c.cfg.Err == nil && cfg.Stream == nil {
		c.cfg.Err = errors.New("acp: no stream")
	}
	c.requests = make(map[string]*Entry)
	c.notifications = make(map[string]*Entry)
	for _, e := range cfg.Entries {
		if e.Notification {
			c.notifications[e.Name] = e
		} else {
			c.requests[e.Name] = e
		}
	}
	c.receive = wrap(cfg.Receiving, c.handleWrapped)
	c.send = wrap(cfg.Sending, c.sendWrapped)
	c.calls.pending = make(map[uint64]*call)
	c.in.init(c)
	c.end.init(cfg.Done)
	c.out = &outbox{limits: c.limits, failed: c.outputFailed, refused: c.frameRefused}
	if cfg.Stream != nil {
		g := &guarded{s: cfg.Stream, log: c.log}
		c.cfg.Stream, c.out.stream = g, g
		if batch, ok := cfg.Stream.(stream.BatchWriter); ok {
			g.batch, c.out.batch = batch, g
		}
		if meter, ok := cfg.Stream.(stream.ProgressWriter); ok {
			g.meter, c.out.meter = meter, g
		}
	}
	c.objects = newObjectStream(c.out)
	return c
}

func wrap(list []Middleware, h Handler) Handler {
	if len(list) == 0 {
		return nil
	}
	for i := len(list) - 1; i >= 0; i-- {
		h = list[i](h)
	}
	return h
}

// Start begins to read. The connection lives as long as ctx; handlers get
// contexts that descend from it.
func (c *Conn) Start(ctx context.Context) error {
	if c.cfg.Err != nil {
		return c.cfg.Err
	}
	if err := c.begin(ctx); err != nil {
		return err
	}
	c.started.Store(true)
	c.end.onClose(context.AfterFunc(ctx, func() { c.finish(endCtx, context.Cause(ctx)) }))
	go c.read() // ends with the stream
	return nil
}

// begin builds what lives as long as the connection.
func (c *Conn) begin(ctx context.Context) error {
	e := &c.end
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.over:
		return closed(e.why)
	case e.begun:
		return errStarted
	}
	e.begun = true
	if g, ok := c.cfg.Stream.(*guarded); ok {
		c.noise = g.unchecked()
	}
	c.up = scopeOf(ctx)
	c.life, c.endLife = context.WithCancelCause(ctx)
	// The library gets no ctx of ours: how the connection ends is decided here.
	c.lib = jsonrpc2.NewConn(context.Background(), c.objects, noHandler{},
		jsonrpc2.OnSend(c.objects.onSend), jsonrpc2.SetLogger(quiet{}))
	return nil
}

// Run is Start and Wait.
func (c *Conn) Run(ctx context.Context) error {
	if err := c.Start(ctx); err != nil {
		return err
	}
	return c.Wait()
}

// usable tells why nothing can be sent, or returns nil.
func (c *Conn) usable() error {
	if c.cfg.Err != nil {
		return c.cfg.Err
	}
	if !c.started.Load() {
		if err := c.Err(); err != nil {
			return err
		}
		return errNotStarted
	}
	return nil
}

// noHandler: the library never sees a request.
type noHandler struct{}

func (noHandler) Handle(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) {}

// frameRefused is told of a message that the stream cannot carry.
func (c *Conn) frameRefused(err error) {
	c.log.Error("acp: message could not be sent", "error", err)
}

// isProtocol tells whether the protocol defines the method, for whichever end.
func isProtocol(method string) bool { return wire.Defines(1, method) }

// shown is a method's name as it may stand in an error or a log.
func shown(method string) string {
	const most = 128
	if len(method) <= most {
		return method
	}
	return string([]rune(method[:most])) + "..."
}

var emptyObject = json.RawMessage("{}")
