package client

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/asked"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/reserve"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/talk"
	"github.com/acpkit/go-sdk/stream"
)

// Conn is the client's end of a connection. It passes the messages of the agent to the
// methods of an [acp.Client]. A Conn is itself an [acp.Agent] that implements every
// optional interface: its methods call the agent. [Conn.StartSession] and similar methods
// return a [Session], which is easier to use for a conversation.
//
// All methods are safe for concurrent use and may be called from handlers. A handler
// must pass them its own ctx or one derived from it, so that the connection knows which
// request a call belongs to. A call returns
//
//   - an *rpcerr.RequestError if the agent responds with an error,
//   - an *acp.CapabilityError if the agent did not advertise a capability that the call
//     needs, and an *acp.InvalidError if the params break a rule of the protocol; in
//     both cases nothing is sent,
//   - an error that wraps [acp.ErrClosed] if the connection has ended,
//   - the error of ctx if ctx is done first; the call is then cancelled at the agent.
//
// Keep the *Conn in a field of the client. New refuses a client that embeds it: embedding
// promotes the methods of the Conn, which are those of an agent.
type Conn struct {
	engine rpc.Conn
	out    endpoint.Sender
	opts   Options
	log    *slog.Logger

	//lint:ignore U1000 package reserve calls its method
	budgeted

	client acp.Client
	table  endpoint.Table
	remote bool // the client is a connection to another client

	peer     atomic.Pointer[peer]
	told     atomic.Pointer[acp.ClientCapabilities] // what the latest initialize has advertised
	sessions talk.Sessions[update]
	turns    talk.Turns
	ends     endpoint.Ends
	effects  talk.Effects
	idle     talk.Idle
	roots    roots
}

// budgeted lets a host count the results of all its connections together.
//
//lint:ignore U1000 it is embedded, with a name that is not exported
type budgeted = reserve.Member

// New returns the client's end of a connection over s. The Conn takes ownership of s.
// Before it returns, New calls newClient once with the new Conn, which the client can
// keep to call the agent.
//
// New does not start the connection. If its arguments are invalid (no stream, no client,
// an unstable interface without Options.Unstable), Start, Run and every call return an
// error, and nothing is sent.
func New(s stream.Stream, newClient func(*Conn) acp.Client, opts *Options) *Conn {
	c := &Conn{opts: opts.clone()}
	c.out = endpoint.Sender{Engine: &c.engine, Guard: c.guard}
	c.effects.SessionOf = sessionOf
	c.idle.Limit, c.idle.SessionOf = c.opts.IdleLimit, c.sessions.WithSubagents(sessionOf)
	c.idle.Error = func(limit time.Duration, last time.Time) error { return &acp.IdleError{Limit: limit, Last: last} }
	cfg := c.opts.config()
	cfg.OnEnd = c.ends.Ended
	if !endpoint.IsNil(s) {
		cfg.Stream = s
	}
	cfg.Err = c.build(s, newClient)
	if cfg.Err == nil {
		cfg.Entries, cfg.Results = c.table.Entries, reserve.BudgetOf(&c.budgeted)
		endpoint.Extensions(&cfg, c.client)
		c.effects.Watch(&cfg)
		c.idle.Watch(&cfg)
	}
	cfg.Relay = c.opts.Relay || c.remote || endpoint.IsRelay(endpoint.Innermost(c.client))
	c.engine.Configure(cfg)
	c.log = c.engine.Logger()
	return c
}

// build creates the client and its table. It returns an error for an invalid argument of New.
func (c *Conn) build(s stream.Stream, newClient func(*Conn) acp.Client) (err error) {
	var inner acp.Client
	c.client, inner, err = endpoint.Make(endpoint.ClientEnd, c, s, newClient, func(v acp.Client) bool {
		_, embeds := v.(interface{ addRows(*endpoint.Table) })
		return embeds
	})
	if err != nil {
		return err
	}
	_, c.remote = inner.(remoteClient)
	// A connection has all roles, and its own options decide what is sent.
	c.table.Unstable = c.opts.Unstable || c.remote
	c.addRows(&c.table)
	c.refuse(&c.table)
	return c.table.Refused("client", c.client)
}

// Start begins to read messages from the stream and to handle them. The connection is
// closed when ctx is done. Start must not be called more than once. After Start, call
// Initialize.
func (c *Conn) Start(ctx context.Context) error {
	return c.engine.Start(asked.With(ctx, known{c}))
}

// Wait waits until the connection and all goroutines that it started have ended. It returns
// nil after a clean end: the agent closed its end, or Close was called. Otherwise it
// returns why the connection failed (an error that wraps [acp.ErrClosed],
// [acp.ErrOverloaded] or [acp.ErrStalled]), context.Cause if the ctx of Start is done, or
// [acp.ErrHandlerStuck] if a handler does not return after its ctx is done.
func (c *Conn) Wait() error { return c.engine.Wait() }

// Run calls Start and then Wait.
func (c *Conn) Run(ctx context.Context) error {
	if err := c.Start(ctx); err != nil {
		return err
	}
	return c.Wait()
}

// Close ends the connection. It stops reading, cancels the contexts of handlers, and
// fails pending calls and turns with [acp.ErrClosed]. Messages that were already accepted
// for sending are still written, for at most 2 s. Close does not wait for
// handlers. It may be called from a handler, and more than once. If the stream is a child
// process, the process is ended as described in package stream.
func (c *Conn) Close() error { return c.engine.Close() }

// Shutdown ends the connection gracefully. It refuses new requests and calls, waits
// until the running handlers and the calls in flight have ended, and then closes the
// connection. If ctx is done first, Shutdown closes the connection at once and returns
// the error of ctx. Shutdown also waits for a handler that calls it, which is a deadlock
// until ctx is done: a handler must call it on a goroutine of its own.
func (c *Conn) Shutdown(ctx context.Context) error { return c.engine.Shutdown(ctx) }

// Ending returns a channel that is closed when the connection begins to end, for example
// because the agent has closed its output. Calls that are made from then on fail.
func (c *Conn) Ending() <-chan struct{} { return c.engine.Ending() }

// Done returns a channel that is closed when the connection has ended. [Conn.Err] then
// returns the reason.
func (c *Conn) Done() <-chan struct{} { return c.engine.Done() }

// Err returns nil until the connection has ended, and after that the reason why it
// ended.
func (c *Conn) Err() error { return c.engine.Err() }

// Connect returns a connection that is ready for sessions. It calls [New], [Conn.Start]
// and [Conn.Initialize]. ctx bounds the handshake only: once Connect has returned, the
// connection lives until [Conn.Close] is called or the agent ends it, and keeps only the values
// of ctx. If the agent cannot be initialized, Connect closes the connection and s.
//
// Connect waits for the agent's response until ctx is done, or for Options.Handshake. To send
// an initialize request of your own, call the three functions separately.
func Connect(ctx context.Context, s stream.Stream, newClient func(*Conn) acp.Client, opts *Options) (*Conn, error) {
	c := New(s, newClient, opts)
	err := c.Start(context.WithoutCancel(ctx))
	if err == nil {
		_, err = c.Initialize(ctx, nil)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// OnEnd arranges for f to be called once when the connection has ended: after the channel
// of [Conn.Done] is closed, and after the functions of earlier calls of OnEnd.
// [Conn.Wait] waits for f. If the connection has already ended, OnEnd calls f itself.
// OnEnd may be called before the Conn is started, also by the function given to [New]. If
// the Conn is neither started nor closed, f is never called.
func (c *Conn) OnEnd(f func()) { c.ends.On(f) }

// OnSessionEnd arranges for f to be called each time a session has been closed or deleted,
// before the call that did so returns, on the goroutine of that call. When the connection
// ends, f is not called for the sessions that are still open; see [Conn.OnEnd].
func (c *Conn) OnSessionEnd(f func(acp.SessionID)) {
	c.sessions.OnEnd(func(id string) { f(acp.SessionID(id)) })
}
