package agent

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

// Conn is the agent's end of a connection. It calls the methods of an [acp.Agent]
// with what the client sends, and it is an [acp.Client] itself, with every
// optional interface: its methods call the client.
//
// All methods may be called from any goroutine and from inside handlers. Pass the
// ctx that the handler was given, or one that descends from it: by that the
// connection knows who waits for whom. A call returns
//
//   - an *rpcerr.RequestError when the client answered with an error,
//   - an *acp.CapabilityError when the client did not advertise what the call
//     needs, and an *acp.InvalidError for params that break a rule of the protocol;
//     nothing was sent then,
//   - an error that wraps [acp.ErrClosed] when the connection has ended,
//   - the ctx's error when ctx ended first; the client is told to stop.
//
// Do not embed a *Conn in your agent: the Conn's methods are the client's, and
// embedding would promote them. Keep it in a field.
type Conn struct {
	engine endpoint.Engine
	out    endpoint.Sender
	opts   Options
	log    *slog.Logger

	agent  acp.Agent
	table  endpoint.Table
	remote bool // agent is itself a connection to an agent

	peer   atomic.Pointer[peer]
	broken atomic.Pointer[error] // why the agent itself made the connection fail
}

var (
	_ acp.Client                       = (*Conn)(nil)
	_ acp.TextFileReader               = (*Conn)(nil)
	_ acp.TextFileWriter               = (*Conn)(nil)
	_ acp.TerminalHost                 = (*Conn)(nil)
	_ acp.Elicitor                     = (*Conn)(nil)
	_ acp.ElicitationCompleter         = (*Conn)(nil)
	_ acp.AuthStatusUpdater            = (*Conn)(nil)
	_ acp.MCPMessageHandler            = (*Conn)(nil)
	_ acp.ExtensionHandler             = (*Conn)(nil)
	_ acp.ExtensionNotificationHandler = (*Conn)(nil)
)

// New prepares the agent's end of a connection over s, which the Conn owns from
// then on. It calls newAgent once, at once, with the Conn that it returns, so
// that the agent can keep it for calling the client.
//
// New starts nothing. What is wrong with its arguments (no stream, no agent, an
// unstable interface without the option) is returned by Start, Run and every
// call, and nothing is sent.
func New(s stream.Stream, newAgent func(*Conn) acp.Agent, opts *Options) *Conn {
	c := &Conn{opts: opts.clone()}
	c.out = endpoint.Sender{Engine: &c.engine, Guard: c.guard}
	c.log = c.opts.Logger
	cfg := c.opts.config()
	if !endpoint.IsNil(s) {
		cfg.Stream = s
	}
	cfg.Err = c.build(s, newAgent)
	if cfg.Err == nil {
		cfg.Entries = c.table.Entries
		endpoint.Extensions(&cfg, c, c.agent)
	}
	c.engine.Make(cfg)
	return c
}

// build makes the agent and its table, or tells what is wrong.
func (c *Conn) build(s stream.Stream, newAgent func(*Conn) acp.Agent) error {
	if newAgent == nil {
		return errors.New("agent: New was given no newAgent: pass a func that returns your agent")
	}
	c.agent = newAgent(c)
	if endpoint.IsNil(s) {
		return errors.New("agent: New was given a nil stream: pass stream.Stdio() or another stream")
	}
	if endpoint.IsNil(c.agent) {
		return fmt.Errorf("agent: newAgent returned nil (%T): return your agent", c.agent)
	}
	_, c.remote = c.agent.(remoteAgent)
	return c.methods()
}

// Serve runs an agent over s until the connection ends or ctx does. It is New and
// Run in one; see both.
func Serve(ctx context.Context, s stream.Stream, newAgent func(*Conn) acp.Agent, opts *Options) error {
	return New(s, newAgent, opts).Run(ctx)
}

// Start begins to read from the stream and to handle what arrives. The connection
// lives as long as ctx: when ctx ends, the connection is closed. Start may be
// called once.
func (c *Conn) Start(ctx context.Context) error { return c.engine.Start(ctx) }

// Wait returns when the connection has ended and so has all that it started. It
// returns nil after a clean end: the client closed its side, or Close was called.
// Otherwise it returns why the connection broke (wrapping [acp.ErrClosed],
// [acp.ErrOverloaded] or [acp.ErrStalled]), context.Cause when the ctx of Start
// ended, or [acp.ErrHandlerStuck] when a handler did not return after its ctx had
// ended.
func (c *Conn) Wait() error { return c.verdict(c.engine.Get().Wait()) }

// Run is Start and Wait.
func (c *Conn) Run(ctx context.Context) error {
	if err := c.Start(ctx); err != nil {
		return err
	}
	return c.Wait()
}

// Close ends the connection: reading stops, the contexts of handlers end, what was
// accepted for sending is still written within a short grace, and pending calls
// fail with [acp.ErrClosed]. It does not wait for handlers, may be called from one,
// and any number of times.
func (c *Conn) Close() error { return c.engine.Get().Close() }

// Shutdown ends the connection gently: what is under way comes to its end first, the
// handlers that run and the calls that wait for their answer, while new ones are
// refused. When ctx ends first it closes at once and returns ctx's error. Called from
// a handler it would wait for that one too: give it a goroutine of its own there.
func (c *Conn) Shutdown(ctx context.Context) error { return c.engine.Get().Shutdown(ctx) }

// Done is closed when the connection has ended. Err tells why.
func (c *Conn) Done() <-chan struct{} { return c.engine.Done() }

// Err returns nil while the connection lives, and then what ended it.
func (c *Conn) Err() error { return c.verdict(c.engine.Get().Err()) }

// fail ends the connection because of a mistake in the agent itself. Run returns
// err.
func (c *Conn) fail(err error) {
	c.broken.CompareAndSwap(nil, &err)
	c.engine.Get().Close()
}

// verdict prefers the agent's own failure to what the engine saw of it.
func (c *Conn) verdict(err error) error {
	if broken := c.broken.Load(); broken != nil {
		return *broken
	}
	return err
}
