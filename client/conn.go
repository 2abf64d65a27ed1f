package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/stream"
)

// Conn is the client's end of a connection. It calls the methods of an
// [acp.Client] with what the agent sends, and it is an [acp.Agent] itself, with
// every optional interface: its methods call the agent. [Conn.StartSession] and its
// kin give a [Session], which is the easier way to hold a conversation.
//
// All methods may be called from any goroutine and from inside handlers. Inside a
// handler pass the ctx that it was given, or one that descends from it: by that the
// connection knows who waits for whom. A call returns
//
//   - an *rpcerr.RequestError when the agent answered with an error,
//   - an *acp.CapabilityError when the agent did not advertise what the call needs,
//     and an *acp.InvalidError for params that break a rule of the protocol; nothing
//     was sent then,
//   - an error that wraps [acp.ErrClosed] when the connection has ended,
//   - the ctx's error when ctx ended first; the agent is told to stop.
//
// Do not embed a *Conn in your client: the Conn's methods are the agent's, and
// embedding would promote them. Keep it in a field.
type Conn struct {
	engine endpoint.Engine
	out    endpoint.Sender
	opts   Options
	log    *slog.Logger

	client acp.Client
	table  endpoint.Table
	remote bool // client is itself a connection to a client

	peer     atomic.Pointer[peer]
	sessions sessions
	turns    turns
}

var (
	_ acp.Agent                        = (*Conn)(nil)
	_ acp.Authenticator                = (*Conn)(nil)
	_ acp.LogoutHandler                = (*Conn)(nil)
	_ acp.SessionLoader                = (*Conn)(nil)
	_ acp.SessionResumer               = (*Conn)(nil)
	_ acp.SessionLister                = (*Conn)(nil)
	_ acp.SessionDeleter               = (*Conn)(nil)
	_ acp.SessionCloser                = (*Conn)(nil)
	_ acp.SessionModeSetter            = (*Conn)(nil)
	_ acp.SessionConfigOptionSetter    = (*Conn)(nil)
	_ acp.ProviderManager              = (*Conn)(nil)
	_ acp.SessionForker                = (*Conn)(nil)
	_ acp.SessionArchiver              = (*Conn)(nil)
	_ acp.SessionStatusReporter        = (*Conn)(nil)
	_ acp.SessionTitleSetter           = (*Conn)(nil)
	_ acp.AuthStatusReporter           = (*Conn)(nil)
	_ acp.MCPNotificationHandler       = (*Conn)(nil)
	_ acp.ExtensionHandler             = (*Conn)(nil)
	_ acp.ExtensionNotificationHandler = (*Conn)(nil)
)

// New prepares the client's end of a connection over s, which the Conn owns from
// then on. It calls newClient once, at once, with the Conn that it returns, so that
// the client can keep it for calling the agent.
//
// New starts nothing. What is wrong with its arguments (no stream, no client, an
// unstable interface without the option) is returned by Start, Run and every call,
// and nothing is sent.
func New(s stream.Stream, newClient func(*Conn) acp.Client, opts *Options) *Conn {
	c := &Conn{opts: opts.clone()}
	c.out = endpoint.Sender{Engine: &c.engine, Guard: c.guard}
	c.log = c.opts.Logger
	c.sessions.init(c)
	cfg := c.opts.config()
	if !endpoint.IsNil(s) {
		cfg.Stream = s
	}
	cfg.Err = c.build(s, newClient)
	if cfg.Err == nil {
		cfg.Entries = c.table.Entries
		endpoint.Extensions(&cfg, c, c.client)
	}
	c.engine.Make(cfg)
	return c
}

// build makes the client and its table, or tells what is wrong.
func (c *Conn) build(s stream.Stream, newClient func(*Conn) acp.Client) error {
	if newClient == nil {
		return errors.New("client: New was given no newClient: pass a func that returns your client")
	}
	c.client = newClient(c)
	if endpoint.IsNil(s) {
		return errors.New("client: New was given a nil stream: pass the result of stream.Command or another stream")
	}
	if endpoint.IsNil(c.client) {
		return fmt.Errorf("client: newClient returned nil (%T): return your client", c.client)
	}
	_, c.remote = c.client.(remoteClient)
	return c.methods()
}

// Start begins to read from the stream and to handle what arrives. The connection
// lives as long as ctx: when ctx ends, the connection is closed. Start may be called
// once. The next step is Initialize.
func (c *Conn) Start(ctx context.Context) error { return c.engine.Start(ctx) }

// Wait returns when the connection has ended and so has all that it started. It
// returns nil after a clean end: the agent closed its side, or Close was called.
// Otherwise it returns why the connection broke (wrapping [acp.ErrClosed],
// [acp.ErrOverloaded] or [acp.ErrStalled]), context.Cause when the ctx of Start
// ended, or [acp.ErrHandlerStuck] when a handler did not return after its ctx had
// ended.
func (c *Conn) Wait() error { return c.engine.Get().Wait() }

// Run is Start and Wait.
func (c *Conn) Run(ctx context.Context) error {
	if err := c.Start(ctx); err != nil {
		return err
	}
	return c.Wait()
}

// Close ends the connection: reading stops, the contexts of handlers end, what was
// accepted for sending is still written within a short grace, and pending calls and
// turns fail with [acp.ErrClosed]. It does not wait for handlers, may be called from
// one, and any number of times. A child process behind the stream is ended as
// package stream says.
func (c *Conn) Close() error { return c.engine.Get().Close() }

// Shutdown ends the connection gently: what is under way comes to its end first, the
// handlers that run and the calls that wait for their answer, while new ones are
// refused. When ctx ends first it closes at once and returns ctx's error. Called from
// a handler it would wait for that one too: give it a goroutine of its own there.
func (c *Conn) Shutdown(ctx context.Context) error { return c.engine.Get().Shutdown(ctx) }

// Done is closed when the connection has ended. Err tells why.
func (c *Conn) Done() <-chan struct{} { return c.engine.Done() }

// Err returns nil while the connection lives, and then what ended it.
func (c *Conn) Err() error { return c.engine.Get().Err() }
