package client

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/asked"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/talk"
	"github.com/acpkit/go-sdk/stream"
)

// Conn is the client's end of a connection. It passes the messages of the agent to the
// methods of an [acp.Client], and is itself an [acp.Agent] with every optional interface,
// whose methods call the agent. [Conn.StartSession] and similar methods return a [Session],
// which is easier to use for a conversation.
//
// All methods are safe for concurrent use and may be called from handlers, with the ctx of the
// handler or one derived from it. Calls return the errors that those of version 1 return:
// *rpcerr.RequestError, *acp.CapabilityError, *acp.InvalidError, one that wraps
// [acp.ErrClosed], or that of ctx.
//
// Keep the *Conn in a field of the client. New refuses a client that embeds it.
type Conn struct {
	engine rpc.Conn
	out    endpoint.Sender
	opts   Options
	log    *slog.Logger

	client acp.Client
	table  endpoint.Table
	remote bool // the client is a connection to another client

	peer     atomic.Pointer[peer]
	told     atomic.Pointer[acp.ClientCapabilities] // what the latest initialize has advertised
	sessions talk.Sessions[update]
	turns    turns
	replays  replays
	ends     endpoint.Ends
	effects  talk.Effects
	idle     talk.Idle
}

// New returns the client's end of a connection over s, which the Conn then owns. It calls
// newClient once with the new Conn, and does not start the connection. If its arguments are
// invalid, Start, Run and every call return an error, and nothing is sent.
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
	var inner acp.Client
	c.client, inner, cfg.Err = endpoint.Make(endpoint.ClientEnd, c, s, newClient, func(v acp.Client) bool {
		_, embeds := v.(interface{ addRows(*endpoint.Table) })
		return embeds
	})
	if cfg.Err == nil {
		_, c.remote = inner.(remoteClient)
		c.table.Unstable = c.opts.Unstable || c.remote // a connection has all roles
		c.addRows(&c.table)
		c.refuse(&c.table)
		cfg.Err = c.table.Refused("client", c.client)
	}
	if cfg.Err == nil {
		cfg.Entries = c.table.Entries
		endpoint.Extensions(&cfg, c.client)
		c.effects.Watch(&cfg)
		c.idle.Watch(&cfg)
	}
	cfg.Relay = c.opts.Relay || c.remote || endpoint.IsRelay(endpoint.Innermost(c.client))
	c.engine.Configure(cfg)
	c.log = c.engine.Logger()
	return c
}

// Connect returns a connection that is ready for sessions: it calls [New], [Conn.Start] and
// [Conn.Initialize]. ctx bounds the handshake only, as Options.Handshake does: once Connect has
// returned, the connection lives until [Conn.Close] is called or the agent ends it. If the agent
// cannot be initialized, Connect closes the connection and s.
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

// Start begins to read and to handle messages; call Initialize after it. The connection is
// closed when ctx is done. Start must not be called more than once.
func (c *Conn) Start(ctx context.Context) error {
	return c.engine.Start(asked.With(ctx, known{c}))
}

// Wait waits until the connection and all its goroutines have ended. It returns nil after a
// clean end, and otherwise why the connection failed.
func (c *Conn) Wait() error { return c.engine.Wait() }

// Run calls Start and then Wait.
func (c *Conn) Run(ctx context.Context) error {
	if err := c.Start(ctx); err != nil {
		return err
	}
	return c.Wait()
}

// Close ends the connection: it stops reading, cancels the contexts of handlers, and fails
// pending calls and turns with [acp.ErrClosed]. Accepted messages are still written, for at
// most 2 s. It does not wait for handlers, and may be called from one.
func (c *Conn) Close() error { return c.engine.Close() }

// Shutdown refuses new requests and calls, waits until the handlers and calls in flight have
// ended or ctx is done, and then closes the connection. A handler must call it on a goroutine of
// its own.
func (c *Conn) Shutdown(ctx context.Context) error { return c.engine.Shutdown(ctx) }

// Ending returns a channel that is closed when the connection begins to end. Calls that are
// made from then on fail.
func (c *Conn) Ending() <-chan struct{} { return c.engine.Ending() }

// Done returns a channel that is closed when the connection has ended. [Conn.Err] then
// returns the reason.
func (c *Conn) Done() <-chan struct{} { return c.engine.Done() }

// Err returns nil until the connection has ended, and after that the reason.
func (c *Conn) Err() error { return c.engine.Err() }

// OnEnd arranges for f to be called once when the connection has ended, after the functions of
// earlier calls. [Conn.Wait] waits for f. If the connection has already ended, OnEnd calls f
// itself.
func (c *Conn) OnEnd(f func()) { c.ends.On(f) }

// OnSessionEnd arranges for f to be called each time a session has been closed or deleted,
// before the call that did so returns. It is not called at the end of the connection.
func (c *Conn) OnSessionEnd(f func(acp.SessionID)) {
	c.sessions.OnEnd(func(id string) { f(acp.SessionID(id)) })
}

// Call sends a request with the named method and waits for the response, which it stores in the
// value that result points to. Use it for extension methods, whose names begin with an
// underscore. Params may be a pointer to the params type of the method, a json.RawMessage, or any
// value that encoding/json can encode.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	return byName.Call(c, ctx, method, params, result, c.engine.CallExtension)
}

// Notify sends a notification with the named method. Params are as for [Conn.Call].
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	return byName.Notify(c, ctx, method, params, c.engine.NotifyExtension)
}

// HandleExtension forwards a request of another connection to the agent and returns the raw
// result, so that a Conn can be the [acp.Agent] of a proxy.
func (c *Conn) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return endpoint.Forward(ctx, &c.engine, method, params)
}

// HandleExtensionNotification forwards a notification of another connection to the agent.
func (c *Conn) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return c.engine.NotifyExtension(ctx, method, endpoint.OrAbsent(params))
}
