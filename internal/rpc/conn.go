package rpc

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/internal/reserve"
	"github.com/acpkit/go-sdk/internal/rpc/order"
	"github.com/acpkit/go-sdk/internal/rpc/outbox"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// Conn is one end of a connection. All methods may be called from any goroutine
// and from inside handlers.
type Conn struct {
	failures // with the log

	cfg    Config
	limits Limits
	lines  lines // of log

	send   Handler  // the middlewares around sendWrapped; nil without any
	stream *guarded // nil if the Config has none

	// Set by Start, before anything else runs.
	outer   context.Context // the ctx of Start
	life    context.Context // of all handlers
	endLife context.CancelCauseFunc
	up      *scope // the handler whose ctx started the connection

	out      *outbox.Box
	results  *reserve.Share
	calls    calls
	order    order.Order
	worker   worker
	handlers handlers
	end      ending
	ready    atomic.Bool // Configure was called, so its fields may be read
	started  atomic.Bool
	shutting atomic.Bool // Shutdown was called
	network  bool        // the stream routes messages
}

// Configure prepares a connection. It starts nothing and does not fail: errors in cfg are returned
// by Start and by every call. It must be called once. On a Conn that is not configured only Done
// works; every other method returns an error.
func (c *Conn) Configure(cfg Config) {
	c.cfg, c.limits = cfg, cfg.Limits.withDefaults()
	c.failures = failures{log: limited(cmp.Or(cfg.Logger, slog.Default()), &c.lines), onError: cfg.OnError, expose: cfg.ExposeErrors, ends: c.end.begins}
	if cfg.Role != "" {
		c.log = c.log.With("end", cfg.Role)
	}
	if c.cfg.Err == nil && cfg.Stream == nil {
		c.cfg.Err = errors.New("acp: no stream")
	}
	if c.cfg.Reopens == nil {
		c.cfg.Reopens = func(string) bool { return false }
	}
	c.send = wrap(cfg.Sending, c.sendWrapped)
	c.handlers.init(&c.cfg, c.log)
	if c.cfg.Results == nil {
		c.cfg.Results = new(reserve.Budget)
	}
	c.results = c.cfg.Results.Share(c.limits.Results, c.order.Resume)
	c.worker.c = c
	c.order.Init(order.Config{
		Handshake: cfg.Handshake, First: cfg.HandshakeFirst,
		Backlog: c.limits.Backlog, MaxBacklog: c.limits.MaxBacklog, MaxWaiting: c.limits.MaxWaiting, MaxOpen: c.limits.MaxOpen,
		MaxHandlers: c.limits.MaxHandlers, Exceeded: c.results.Exceeded, Work: c.worker.run,
		SlowAfter: c.limits.SlowHandler, Slow: c.slowHandler, Call: c.calls.first,
	})
	c.end.init()
	out := outbox.Config{
		Queue: c.limits.SendQueue, Reserve: c.limits.SendReserve, StallTimeout: c.limits.StallTimeout,
		Failed: c.outputFailed, Refused: c.frameRefused,
	}
	if cfg.Stream != nil {
		c.stream = guard(cfg.Stream, c.log)
		f := &c.stream.features
		out.Write, out.Features = c.stream.write, f
		c.network = f.WriteMessage != nil
	}
	c.out = outbox.New(out)
	c.calls.codec, c.calls.cause, c.calls.lift = &c.handlers.codec, c.end.cause, c.order.Lift
	c.calls.arrive = c.order.Arrive
	c.ready.Store(true)
}

// Start begins to read. The connection lives as long as ctx; handlers get
// contexts with its values.
func (c *Conn) Start(ctx context.Context) error {
	if err := c.wrong(); err != nil {
		return err
	}
	err := c.end.start(func() {
		c.outer, c.up = ctx, scopeOf(ctx)
		// The end of ctx must not reach handlers before Ending is closed: they tell by it whether
		// their request was cancelled or the connection ends.
		c.life, c.endLife = context.WithCancelCause(context.WithoutCancel(ctx))
	})
	if err != nil {
		return err
	}
	c.started.Store(true)
	c.end.onClose(context.AfterFunc(ctx, func() { c.finish(endCtx, panics.Sound(context.Cause(ctx))) }))
	r := &reader{c: c, stream: c.stream}
	r.stream.unchecked()
	go r.run() // ends with the stream
	if draining := r.stream.features.Draining; draining != nil {
		go func() { // ends with the connection
			select {
			case <-draining:
				_ = c.Shutdown(context.Background()) // ends with the connection at the latest
			case <-c.end.done:
			}
		}()
	}
	return nil
}

// Logger returns the logger of the connection, whose lines have a budget: a peer can cause
// most of them.
func (c *Conn) Logger() *slog.Logger { return c.log }

// Peer returns what the stream tells of an agent that does not respond: whether it is reached over a
// network, and what it has sent that is not a message.
func (c *Conn) Peer() (network bool, noise string) {
	if c.stream == nil {
		return false, ""
	}
	if p, ok := c.stream.s.(interface{ Noise() string }); ok {
		noise = p.Noise()
	}
	return c.stream.features.SingleInitialize, noise
}

// Started reports whether Start has succeeded.
func (c *Conn) Started() bool { return c.started.Load() }

// wrong returns an error if the connection can never be used.
func (c *Conn) wrong() error {
	if !c.ready.Load() {
		return errNotReady
	}
	return c.cfg.Err
}

// usable returns an error if nothing can be sent now.
func (c *Conn) usable() error {
	if err := c.wrong(); err != nil {
		return err
	}
	if !c.started.Load() {
		if err := c.Err(); err != nil {
			return err
		}
		return errNotStarted
	}
	return nil
}

// respondOwn queues a response of the connection itself, with the id null if the version
// does not allow the one that the peer wrote. It never waits: the reader calls it.
func (c *Conn) respondOwn(id []byte, e *rpcerr.RequestError) {
	if !c.handlers.allows(envelope.IDKey(string(id))) {
		id = nil
	}
	f := outbox.NewFrame()
	f.Data = appendFault(f.Data, id, e)
	f = f.Own()
	c.describe(f, stream.Message{Kind: stream.KindErrorResponse, ID: id}, 0)
	c.out.PushOwn(f)
}

// Hold counts the bytes of updates that were handled but not delivered yet as back-pressure. It
// never blocks.
func (c *Conn) Hold(n int64) { c.order.Press(n) }

// Release reverses Hold.
func (c *Conn) Release(n int64) { c.order.Press(-n) }

// slowHandler names a handler of a notification or of the handshake that keeps something waiting for long.
func (c *Conn) slowHandler(handler, waiting string) {
	c.log.Warn("acp: a handler keeps a call or request waiting; if the handler waits for it, pass it the handler's ctx",
		"handler", shown(handler), "waiting", shown(waiting), "for", c.limits.SlowHandler)
}

// outputFailed is called when nothing more can be written.
func (c *Conn) outputFailed(err error) {
	kind := endWrite
	if errors.Is(err, wire.ErrStalled) {
		kind = endBroken
	}
	c.finish(kind, err)
	c.out.Close(closed(c.end.cause()))
}

// refuse responds to requests that were held and are not handled.
func (c *Conn) refuse(refused []order.Refused) {
	for _, it := range refused {
		r, _ := it.Handler.(*request)
		c.respondOwn([]byte(r.ID), Refusal(it.Why, r.Method))
	}
}

// Refusal is the response to a request that is not handled.
func Refusal(why order.Reason, method string) *rpcerr.RequestError {
	invalid := rpcerr.InvalidRequest(nil)
	switch why {
	case order.InUse:
		return invalid.WithDetail("id is in use")
	case order.NotOpen:
		return invalid.WithDetail("ACP connection must be initialized before '" + shown(method) + "'")
	case order.TooLate:
		return invalid.WithDetail("a repeated initialize must come before every other request")
	case order.BadID:
		return invalid.WithDetail("id must be a string or an integer")
	case order.Refusing:
		return rpcerr.InternalError(nil).WithDetail(errShutdown.Error())
	}
	return rpcerr.New(rpcerr.CodeInternalError, "Too many requests", nil) //errlint:ignore order.TooMany has the text of the protocol
}

// hold makes messages that are read wait until the call of a handshake has its response. It returns
// the options for the call.
func (c *Conn) hold(opts *CallOptions) *CallOptions {
	c.order.Hold()
	o := *opts
	o.AtResponse = func(err error) {
		defer func() { c.refuse(c.order.Open(true)) }() // deferred, so that held messages are handled after the response
		if opts.AtResponse != nil {
			opts.AtResponse(err)
		}
	}
	return &o
}
