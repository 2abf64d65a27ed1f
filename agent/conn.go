package agent

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/talk/serving"
	"github.com/acpkit/go-sdk/stream"
)

// Conn is the agent's end of a connection. It passes the messages of the client to
// the methods of an [acp.Agent]. A Conn is itself an [acp.Client] that implements
// every optional interface: its methods call the client.
//
// All methods are safe for concurrent use and may be called from handlers. A handler
// must pass them its own ctx or one derived from it, so that the connection knows which
// request a call belongs to. A call returns
//
//   - an *rpcerr.RequestError if the client responds with an error,
//   - an *acp.CapabilityError if the client did not advertise a capability that the
//     call needs, and an *acp.InvalidError if the params break a rule of the protocol;
//     in both cases nothing is sent,
//   - an error that wraps [acp.ErrClosed] if the connection has ended,
//   - the error of ctx if ctx is done first; the call is then cancelled at the client.
//
// Keep the *Conn in a field of the agent. New refuses an agent that embeds it: embedding
// promotes the methods of the Conn, which are those of a client.
type Conn struct {
	engine rpc.Conn
	out    endpoint.Sender
	opts   Options
	log    *slog.Logger

	agent  acp.Agent
	table  endpoint.Table
	remote bool           // the agent is a connection to another agent
	known  *serving.Known // nil if the agent is a connection

	peer   atomic.Pointer[peer]
	told   atomic.Pointer[acp.AgentCapabilities] // what the latest initialize has advertised
	broken serving.Failure
	ends   endpoint.Ends
}

// New returns the agent's end of a connection over s. The Conn takes ownership of s.
// Before it returns, New calls newAgent once with the new Conn, which the agent can
// keep to call the client.
//
// New does not start the connection. If its arguments are invalid (no stream, no agent,
// an unstable interface without Options.Unstable), Start, Run and every call return an
// error, and nothing is sent.
func New(s stream.Stream, newAgent func(*Conn) acp.Agent, opts *Options) *Conn {
	c := &Conn{opts: opts.clone()}
	c.out = endpoint.Sender{Engine: &c.engine, Guard: c.guard}
	cfg := c.opts.config()
	cfg.OnEnd = c.ends.Ended
	if !endpoint.IsNil(s) {
		cfg.Stream = s
	}
	cfg.Err = c.build(s, newAgent)
	if cfg.Err == nil {
		cfg.Entries = c.table.Entries
		endpoint.Extensions(&cfg, c.agent)
	}
	cfg.Relay = c.opts.Relay || c.remote || endpoint.IsRelay(endpoint.Innermost(c.agent))
	c.engine.Configure(cfg)
	c.log = c.engine.Logger()
	return c
}

// build creates the agent and its table. It returns an error for an invalid argument of New.
func (c *Conn) build(s stream.Stream, newAgent func(*Conn) acp.Agent) (err error) {
	var inner acp.Agent
	c.agent, inner, err = endpoint.Make(endpoint.AgentEnd, c, s, newAgent, func(v acp.Agent) bool {
		_, embeds := v.(interface{ addRows(*endpoint.Table) })
		return embeds
	})
	if err != nil {
		return err
	}
	_, c.remote = inner.(remoteAgent)
	// A connection has all roles, and its own options decide what is sent.
	c.table.Unstable = c.opts.Unstable || c.remote
	c.addRows(&c.table)
	c.table.Entry(methodPrompt.Method).Ended = cancelledTurn
	if !c.remote {
		c.leaveOutSwitches(&c.table)
		c.known = serving.Watch(&c.table, c.opts.CheckIDs, named, told)
	}
	if err := c.refuse(&c.table); err != nil {
		return err
	}
	return c.table.Refused("agent", c.agent)
}

// Unstable reports whether Options.Unstable is set. The agent may ask in newAgent, and serve unstable
// methods only where they are allowed; see [acp.Selective].
func (c *Conn) Unstable() bool { return c.opts.Unstable }

// prompt handles session/prompt.
func (c *Conn) prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	res, err := c.agent.Prompt(ctx, req)
	if err == nil && res == nil {
		return nil, errors.New("agent: Prompt returned neither a response nor an error") //errlint:ignore a mistake in the agent
	}
	if errors.Is(err, acp.ErrTurnCancelled) {
		// A client may answer a permission request with "cancelled" before it cancels the turn. The
		// stop reason is cancelled in this case too.
		return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	}
	return res, err
}

// cancelledTurn returns the response to the prompt of a cancelled turn. It replaces any error of
// the agent, because clients would show the error to the user, who has only cancelled the turn.
func cancelledTurn() any {
	return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}
}

// Serve runs an agent over s until the connection ends or ctx is done. It calls [New]
// and then [Conn.Run].
func Serve(ctx context.Context, s stream.Stream, newAgent func(*Conn) acp.Agent, opts *Options) error {
	return New(s, newAgent, opts).Run(ctx)
}

// Start begins to read messages from the stream and to handle them. The connection is
// closed when ctx is done. Start must not be called more than once.
func (c *Conn) Start(ctx context.Context) error { return c.engine.Start(ctx) }

// Wait waits until the connection and all goroutines that it started have ended. It returns
// nil after a clean end: the client closed its end, or Close was called. Otherwise it
// returns why the connection failed (an error that wraps [acp.ErrClosed],
// [acp.ErrOverloaded] or [acp.ErrStalled]), context.Cause if the ctx of Start is done, or
// [acp.ErrHandlerStuck] if a handler does not return after its ctx is done.
func (c *Conn) Wait() error { return c.broken.Or(c.engine.Wait()) }

// Run calls Start and then Wait.
func (c *Conn) Run(ctx context.Context) error {
	if err := c.Start(ctx); err != nil {
		return err
	}
	return c.Wait()
}

// Close ends the connection. It stops reading, cancels the contexts of handlers, and
// fails pending calls with [acp.ErrClosed]. Messages that were already accepted for
// sending are still written, for at most 2 s. Close does not wait for
// handlers. It may be called from a handler, and more than once.
func (c *Conn) Close() error { return c.engine.Close() }

// Shutdown ends the connection gracefully. It refuses new requests and calls, waits
// until the running handlers and the calls in flight have ended, and then closes the
// connection. If ctx is done first, Shutdown closes the connection at once and returns
// the error of ctx. Shutdown also waits for a handler that calls it, which is a deadlock
// until ctx is done: a handler must call it on a goroutine of its own.
func (c *Conn) Shutdown(ctx context.Context) error { return c.engine.Shutdown(ctx) }

// Ending returns a channel that is closed when the connection begins to end, for example
// because the client has closed its output. Handlers may run on for a while. It is that of
// Options.Ending if that is set.
func (c *Conn) Ending() <-chan struct{} {
	if c.opts.Ending != nil {
		return c.opts.Ending
	}
	return c.engine.Ending()
}

// Done returns a channel that is closed when the connection has ended. [Conn.Err] then
// returns the reason.
func (c *Conn) Done() <-chan struct{} { return c.engine.Done() }

// Err returns nil until the connection has ended, and after that the reason why it
// ended.
func (c *Conn) Err() error { return c.broken.Or(c.engine.Err()) }

// OnEnd arranges for f to be called once when the connection has ended: after the channel
// of [Conn.Done] is closed, and after the functions of earlier calls of OnEnd.
// [Conn.Wait] waits for f. If the connection has already ended, OnEnd calls f itself.
// OnEnd may be called before the Conn is started, also by the function given to [New]. If
// the Conn is neither started nor closed, f is never called.
func (c *Conn) OnEnd(f func()) { c.ends.On(f) }

// Call sends a request with the named method and waits for the response. Use it to call
// extension methods, whose names begin with an underscore. For a method of the protocol,
// Call does the same as the Conn's own method.
//
// Params may be a pointer to the params type of the method, a json.RawMessage, or any
// value that encoding/json can encode; if params is nil, the request has none. Call
// stores the result in the value that result points to: unchanged in a json.RawMessage,
// typed in a value of the result type of the method, and with encoding/json in any other
// value. If result is nil, Call discards the result.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	return byName.Call(c, ctx, method, params, result, c.engine.CallExtension)
}

// Notify sends a notification with the named method. Params are as for [Conn.Call].
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	return byName.Notify(c, ctx, method, params, c.engine.NotifyExtension)
}

// HandleExtension forwards a request of another connection to the client, with any
// method name, and returns the raw result. It lets a Conn serve as the [acp.Client] of a
// proxy. To call an extension of the client, use [Conn.Call].
func (c *Conn) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return endpoint.Forward(ctx, &c.engine, method, params)
}

// HandleExtensionNotification forwards a notification of another connection to the
// client. It lets a Conn serve as the [acp.Client] of a proxy. To send an extension
// notification to the client, use [Conn.Notify].
func (c *Conn) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return c.engine.NotifyExtension(ctx, method, endpoint.OrAbsent(params))
}

// AfterResponse arranges for f to be called after the response to the request that is
// being handled has been queued for sending. Use it for messages that must follow a
// response, such as the list of commands: the client learns the session's id from the
// response to session/new.
//
//	func (a *myAgent) NewSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
//		id := a.open(req)
//		agent.AfterResponse(ctx, func(ctx context.Context) {
//			a.conn.Session(id).SetCommands(ctx, a.commands...)
//		})
//		return &acp.NewSessionResponse{SessionID: id}, nil
//	}
//
// ctx must be the ctx of the handler or one derived from it. The ctx that f is given is
// done when the connection ends. If there are several functions, they are called in the
// order in which they were passed, also if the response is an error. AfterResponse
// returns false, and f is never called, if ctx belongs to no request or if the response
// has already been queued.
func AfterResponse(ctx context.Context, f func(ctx context.Context)) bool {
	return rpc.AfterResponse(ctx, func() { f(rpc.Detach(ctx)) })
}

// RequestID returns the id of the request that is being handled, for use in an
// [acp.ElicitationRequestScope]. It reports false if ctx belongs to no request.
func RequestID(ctx context.Context) (acp.RequestID, bool) {
	var id acp.RequestID
	raw, ok := rpc.RequestID(ctx)
	if !ok || json.Unmarshal(raw, &id) != nil {
		return acp.RequestID{}, false
	}
	return id, true
}
