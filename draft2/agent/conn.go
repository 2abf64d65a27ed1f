package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/internal/params"
	"github.com/acpkit/go-sdk/draft2/internal/replay"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/rules"
	"github.com/acpkit/go-sdk/internal/talk/serving"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// Conn is the agent's end of a connection. It passes the messages of the client to the
// methods of an [acp.Agent], and is itself an [acp.Client] with every optional interface,
// whose methods call the client.
//
// All methods are safe for concurrent use and may be called from handlers, with the ctx of the
// handler or one derived from it. Calls return the errors that those of version 1 return:
// *rpcerr.RequestError, *acp.CapabilityError, *acp.InvalidError, one that wraps
// [acp.ErrClosed], or that of ctx.
//
// Keep the *Conn in a field of the agent. New refuses an agent that embeds it.
type Conn struct {
	engine rpc.Conn
	out    endpoint.Sender
	opts   Options
	log    *slog.Logger

	agent  acp.Agent
	table  endpoint.Table
	remote bool           // the agent is a connection to another agent
	known  *serving.Known // nil if the agent is a connection
	states states         // of the sessions
	relays bool           // the agent of another connection marks its replays itself

	replays replay.Replays

	peer   atomic.Pointer[peer]
	told   atomic.Pointer[acp.AgentCapabilities] // what the latest initialize has advertised
	broken serving.Failure
	ends   endpoint.Ends
}

// New returns the agent's end of a connection over s, which the Conn then owns. It calls
// newAgent once with the new Conn, and does not start the connection. If its arguments are
// invalid, Start, Run and every call return an error, and nothing is sent.
func New(s stream.Stream, newAgent func(*Conn) acp.Agent, opts *Options) *Conn {
	c := &Conn{opts: opts.clone()}
	c.out = endpoint.Sender{Engine: &c.engine, Guard: c.guard}
	cfg := c.opts.config()
	cfg.OnEnd = c.ends.Ended
	if !endpoint.IsNil(s) {
		cfg.Stream = s
	}
	var inner acp.Agent
	c.agent, inner, cfg.Err = endpoint.Make(endpoint.AgentEnd, c, s, newAgent, func(v acp.Agent) bool {
		_, embeds := v.(interface{ addRows(*endpoint.Table) })
		return embeds
	})
	if cfg.Err == nil {
		_, c.remote = inner.(remoteAgent)
		c.relays = c.opts.Relay || c.remote
		cfg.Err = c.fill()
	}
	if cfg.Err == nil {
		cfg.Entries = c.table.Entries
		endpoint.Extensions(&cfg, c.agent)
	}
	cfg.Relay = c.relays || endpoint.IsRelay(endpoint.Innermost(c.agent))
	c.engine.Configure(cfg)
	c.log = c.engine.Logger()
	return c
}

// fill adds the rows of the agent to the table.
func (c *Conn) fill() error {
	t := &c.table
	t.Unstable = c.opts.Unstable || c.remote // a connection has all roles
	c.addRows(t)
	initialize := t.Entry(methodInitialize.Method)
	method, codec := *initialize.Method, *initialize.Params
	codec.Decode = decodeInitialize
	method.Params = &codec
	initialize.Method = &method
	c.respondToCloseLast(t.Entry(methodCloseSession.Method))
	if !c.relays {
		c.markReplays(t.Entry(methodResumeSession.Method))
	}
	// The methods always exist: whether something can be cancelled is a property of each tool
	// call and terminal, not of the agent.
	if t.Entry(methodCancelToolCall.Method) == nil {
		methodCancelToolCall.Handle(t, func(_ context.Context, req *acp.CancelToolCallRequest) (*acp.CancelToolCallResponse, error) {
			return nil, rpcerr.InvalidParams(map[string]any{"toolCallId": req.ToolCallID}).WithDetail("the tool call cannot be cancelled")
		})
	}
	if t.Entry(methodCancelTerminal.Method) == nil {
		methodCancelTerminal.Handle(t, func(_ context.Context, req *acp.CancelTerminalRequest) (*acp.CancelTerminalResponse, error) {
			return nil, rpcerr.InvalidParams(map[string]any{"terminalId": req.TerminalID}).WithDetail("the terminal cannot be cancelled")
		})
	}
	if !c.remote {
		c.leaveOutSkills(t)
		c.known = serving.Watch(t, c.opts.CheckIDs, named, told)
	}
	if applies, override := c.promptModes(); override && !applies {
		return fmt.Errorf("agent: AppliesSystemPrompt of %T returned true for override and false for append: an agent that applies system prompts must apply append", c.agent)
	}
	rules.Refuse(t, "", func(capability string) bool { return c.remote || c.told.Load().Has(capability) }, func(p any) *rpcerr.RequestError {
		return params.Rules.Agent(c.told.Load().Has, p, c.remote)
	})
	return t.Refused("agent", c.agent)
}

// Unstable reports whether Options.Unstable is set. The agent may ask in newAgent, and serve unstable
// methods only where they are allowed; see [acp.Selective].
func (c *Conn) Unstable() bool { return c.opts.Unstable }

// prompt handles session/prompt. A prompt fails with -32800 if its session is cancelled
// or closed before the prompt is inserted.
func (c *Conn) prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	res, err := c.agent.Prompt(ctx, req)
	switch {
	case errors.Is(err, rpcerr.ErrRequestCancelled): // such as that of another agent, with its data
		return nil, err
	case err != nil && errors.Is(context.Cause(ctx), acp.ErrTurnCancelled):
		return nil, rpcerr.RequestCancelled(nil).WithCause(err)
	case err == nil && res == nil:
		return nil, errors.New("agent: Prompt returned neither a response nor an error") //errlint:ignore a mistake in the agent
	}
	return res, err
}

// Serve runs an agent over s until the connection ends or ctx is done. It calls [New]
// and then [Conn.Run].
func Serve(ctx context.Context, s stream.Stream, newAgent func(*Conn) acp.Agent, opts *Options) error {
	return New(s, newAgent, opts).Run(ctx)
}

// Start begins to read and to handle messages. The connection is closed when ctx is done.
// Start must not be called more than once.
func (c *Conn) Start(ctx context.Context) error { return c.engine.Start(ctx) }

// Wait waits until the connection and all its goroutines have ended. It returns nil after a
// clean end, and otherwise why the connection failed.
func (c *Conn) Wait() error { return c.broken.Or(c.engine.Wait()) }

// Run calls Start and then Wait.
func (c *Conn) Run(ctx context.Context) error {
	if err := c.Start(ctx); err != nil {
		return err
	}
	return c.Wait()
}

// Close ends the connection: it stops reading, cancels the contexts of handlers, and fails
// pending calls with [acp.ErrClosed]. Accepted messages are still written, for at most 2 s. It
// does not wait for handlers, and may be called from one.
func (c *Conn) Close() error { return c.engine.Close() }

// Shutdown refuses new requests and calls, waits until the handlers and calls in flight have
// ended or ctx is done, and then closes the connection. A handler must call it on a goroutine of
// its own.
func (c *Conn) Shutdown(ctx context.Context) error { return c.engine.Shutdown(ctx) }

// Ending returns a channel that is closed when the connection begins to end. Handlers may run
// on for a while.
func (c *Conn) Ending() <-chan struct{} { return c.engine.Ending() }

// Done returns a channel that is closed when the connection has ended. [Conn.Err] then
// returns the reason.
func (c *Conn) Done() <-chan struct{} { return c.engine.Done() }

// Err returns nil until the connection has ended, and after that the reason.
func (c *Conn) Err() error { return c.broken.Or(c.engine.Err()) }

// OnEnd arranges for f to be called once when the connection has ended, after the functions of
// earlier calls. [Conn.Wait] waits for f. If the connection has already ended, OnEnd calls f
// itself.
func (c *Conn) OnEnd(f func()) { c.ends.On(f) }

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

// HandleExtension forwards a request of another connection to the client and returns the raw
// result, so that a Conn can be the [acp.Client] of a proxy.
func (c *Conn) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return endpoint.Forward(ctx, &c.engine, method, params)
}

// HandleExtensionNotification forwards a notification of another connection to the client.
func (c *Conn) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return c.engine.NotifyExtension(ctx, method, endpoint.OrAbsent(params))
}

// AfterResponse arranges for f to be called after the response to the request that is being
// handled has been queued for sending, for messages that must follow it. ctx must be that of the
// handler or derived from it; the ctx that f is given is done when the connection ends. It returns
// false, and f is never called, if ctx belongs to no request or the response has been queued.
func AfterResponse(ctx context.Context, f func(ctx context.Context)) bool {
	return rpc.AfterResponse(ctx, func() { f(rpc.Detach(ctx)) })
}

// RequestID returns the id of the request that is being handled, for use in an
// [acp.ElicitationRequestScope]. It reports false if ctx belongs to no request.
func RequestID(ctx context.Context) (id acp.RequestID, ok bool) {
	raw, ok := rpc.RequestID(ctx)
	if !ok || json.Unmarshal(raw, &id) != nil {
		return acp.RequestID{}, false
	}
	return id, true
}
