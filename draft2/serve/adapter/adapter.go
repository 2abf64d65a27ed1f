// Package adapter serves an agent of version 1 of the protocol to clients of version 2.
// Experimental: it may change in any release.
//
//	err := agent2.Serve(ctx, stream.Stdio(), adapter.FromV1(newV1, nil), nil)
//
// Serve of package draft2/serve uses it, and serves clients of version 1 as well.
//
// # What is translated
//
//   - A prompt becomes part of the conversation when the agent can begin to work on it: the
//     client gets its message, the state running, and the response. Later prompts of the
//     session wait until the agent has ended its turn, in the order in which they arrived.
//     If the client cancels or closes the session, waiting prompts fail with -32800. The end
//     of the turn becomes the state idle with the stop reason and the tokens that the turn has
//     used, or with the agent's error.
//   - Messages and thoughts keep the ids that the agent gives them, and get ids if it gives
//     none. Chunks that have no id belong to the message before them if that has the same
//     author. A prompt that the agent repeats is left out; [agent.MessageID] is its id.
//   - Tool calls and their updates become updates that create or change a call. A change of
//     a file becomes a patch.
//   - A permission request gets the title of its tool call. While it or an elicitation of
//     the session is in flight, the state of the session is requires_action.
//   - A plan becomes the plan with the id "plan". Modes become an option with the id
//     "mode", unless the agent has options: then only the options are passed on.
//   - session/resume becomes session/load if the client requests a replay, and
//     session/resume of version 1 otherwise. If the agent can only load, the history that the
//     client did not request is left out. In a replay, each message begins with a whole
//     message, which replaces what a client has under that id.
//   - If the agent lacks session/list, session/resume or session/close, the sessions that
//     this connection has opened can be listed, resumed without a replay, and closed. For
//     any other session these methods fail with -32002.
//   - Elicitations, authentication, content and extension methods are passed on unchanged.
//   - Where both connections allow unstable methods, session/options and session/fork become those of version
//     1, and values for the start of a session are passed on; the option "mode" of an agent that has only
//     modes is set after it. Suggestions and cursors are passed on.
//
// # What is not translated
//
// Clients of version 2 have neither files nor terminals, and the capabilities that the
// agent reads have none: a call of fs/read_text_file, fs/write_text_file or a method of
// terminal/* fails with an *acp.CapabilityError. An agent that serves both versions must
// itself read and write files and run commands for such clients. Also not translated are:
//
//   - MCP servers of kinds other than stdio and http, which fail with -32602;
//   - a replay of an agent that has no session/load, which fails with -32602;
//   - cancelling a single tool call or terminal, which fails with -32602;
//   - other unstable methods, which fail with -32601.
//
// # Why there is no adapter from version 2 to version 1
//
// An agent of version 2 reports background work, states, prompts that wait and its own
// terminals, at any time. Version 1 has no messages for most of this, and a turn of version
// 1 has exactly one prompt and one end. A client of version 1 would display a working agent
// as idle, and would not learn when the work ends. Existing agents that speak version 2
// also speak version 1 themselves.
package adapter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// Options configure [FromV1]. The zero value selects the defaults, and a nil *Options is
// equivalent to it. FromV1 copies the options.
type Options struct {
	// Agent are the options of the connection that newV1 is called with.
	Agent *agent.Options

	// CancelGrace is how long the agent may take to end a cancelled turn. After that the
	// client receives the state idle. Zero means 10 s; a negative value means no time.
	CancelGrace time.Duration

	// Logger receives what cannot be returned to the client. It is also the Logger of Agent if
	// that has none. If it is nil, slog.Default() is used.
	Logger *slog.Logger
}

func (o *Options) clone() Options {
	c := endpoint.ValueOf(o)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	own := endpoint.ValueOf(c.Agent)
	own.Logger = cmp.Or(own.Logger, c.Logger)
	c.Agent = &own
	return c
}

// FromV1 returns a function that makes an agent of version 2 from an agent of version 1.
// Pass it to Serve of package draft2/agent. newV1 is
// called once for each connection, with a connection of its own that ends with it.
func FromV1(newV1 func(*agent.Conn) acp.Agent, opts *Options) func(*agent2.Conn) acp2.Agent {
	o := opts.clone()
	return func(conn *agent2.Conn) acp2.Agent {
		if newV1 == nil {
			return nil // package draft2/agent reports the error
		}
		a := &adapter{above: conn, log: endpoint.LimitLines(o.Logger), sessions: map[acp.SessionID]*session{}, outside: map[acp2.RequestID]struct{}{}}
		near, far := stream.Pipe()
		own := *o.Agent
		own.Ending = conn.Ending()
		own.Receiving = append([]acp.Middleware{a.withMessageID}, own.Receiving...)
		plugIn := func(c *agent.Conn) acp.Agent {
			v := newV1(c)
			a.refuser, _ = endpoint.Innermost(v).(agent.PromptRefuser)
			return v
		}
		a.agent = agent.New(far, plugIn, &own)
		a.below = client.New(near, func(*client.Conn) acp.Client { return &lower{a} },
			&client.Options{CancelGrace: o.CancelGrace, Logger: o.Logger, Relay: true, Unstable: true, Sending: []acp.Middleware{refuseParams}})
		conn.OnEnd(a.end)
		return a
	}
}

// refuseParams returns to the client what version 1 does not allow in its params. Version 2 accepts
// them, because a receiver is less strict than a sender.
func refuseParams(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		res, err := next(ctx, method, params)
		if bad, ok := errors.AsType[*acp.InvalidError](err); ok && bad.Where == method+" params" {
			err = rpcerr.InvalidParams(nil).WithDetail(bad.Fields[0].Error()).WithCause(err) //errlint:ignore it names a member of what the client has sent
		}
		return res, err
	}
}

// adapter is an agent of version 2 that passes requests on to an agent of version 1.
type adapter struct {
	above *agent2.Conn // connection to the client
	below *client.Conn // connection to the agent
	agent *agent.Conn  // the agent's end of below
	log   *slog.Logger

	refuser agent.PromptRefuser // nil if the agent is none

	starting sync.Once
	startErr error

	mu       sync.Mutex // guards the fields below
	caps     *acp.AgentCapabilities
	sessions map[acp.SessionID]*session
	opened   []acp.SessionID             // sessions that are open, oldest first
	resting  []*session                  // sessions that are not open, the least recently used first; see maxResting
	outside  map[acp2.RequestID]struct{} // requests in flight that belong to no session
}

var (
	_ acp2.Agent                        = (*adapter)(nil)
	_ acp2.SessionConfigOptionSetter    = (*adapter)(nil)
	_ acp2.SessionDeleter               = (*adapter)(nil)
	_ acp2.SessionOptionsReporter       = (*adapter)(nil)
	_ acp2.SessionForker                = (*adapter)(nil)
	_ acp2.Selective                    = (*adapter)(nil)
	_ acp2.Authenticator                = (*adapter)(nil)
	_ acp2.ExtensionHandler             = (*adapter)(nil)
	_ acp2.ExtensionNotificationHandler = (*adapter)(nil)
)

// Relays marks the connection to the client as a relay.
func (a *adapter) Relays(endpoint.Own) {}

// start starts the connection to the agent. Only the values of ctx are used.
func (a *adapter) start(ctx context.Context) error {
	a.starting.Do(func() {
		life := context.WithoutCancel(ctx) // end ends this connection
		if a.startErr = a.agent.Start(life); a.startErr != nil {
			return
		}
		if a.startErr = a.below.Start(life); a.startErr != nil {
			return
		}
		go func() { // ends with the connection to the agent
			<-a.below.Done()
			_ = a.above.Close()
		}()
	})
	return a.startErr
}

// end closes the connection to the agent after the connection to the client has ended.
func (a *adapter) end() {
	a.starting.Do(func() { a.startErr = acp.ErrClosed })
	_, _ = a.below.Close(), a.agent.Close()
	if a.startErr != nil {
		return
	}
	_ = a.below.Wait()
	if err := a.agent.Wait(); err != nil && !errors.Is(err, acp.ErrClosed) {
		a.log.Error("adapter: the connection of the agent of version 1 failed", "error", errs.LogText(err))
	}
}

// HandleExtension passes an extension request on to the agent. For a client of version 2, what only
// version 1 has is no method.
func (a *adapter) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	if wire.Defines(acp.ProtocolVersion, method) {
		return nil, rpcerr.MethodNotFound(method)
	}
	return a.below.HandleExtension(ctx, method, params)
}

// HandleExtensionNotification passes an extension notification on to the agent.
func (a *adapter) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	if wire.Defines(acp.ProtocolVersion, method) {
		return nil
	}
	return a.below.HandleExtensionNotification(ctx, method, params)
}

// lower is the client of the agent of version 1.
type lower struct{ a *adapter }

var (
	_ acp.Client                       = (*lower)(nil)
	_ acp.Elicitor                     = (*lower)(nil)
	_ acp.ElicitationCompleter         = (*lower)(nil)
	_ acp.ExtensionHandler             = (*lower)(nil)
	_ acp.ExtensionNotificationHandler = (*lower)(nil)
)

// HandleExtension passes an extension request on to the client.
func (l *lower) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return l.a.above.HandleExtension(ctx, method, params)
}

// HandleExtensionNotification passes an extension notification on to the client.
func (l *lower) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return l.a.above.HandleExtensionNotification(ctx, method, params)
}
