package agent

import (
	"cmp"
	"context"
	"log/slog"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Options configure a [Conn]. The zero value selects the defaults, and a nil *Options is
// equivalent to it. New copies the options.
type Options struct {
	// Unstable allows the methods that the protocol marks as unstable: an agent
	// may implement their interfaces, and the Conn may send them. They can change
	// with any release of the schema.
	Unstable bool

	// IgnoreCapabilities disables the checks of what the client advertised: every call
	// is sent, even before the client has initialized the connection. It is meant for
	// tests of clients.
	IgnoreCapabilities bool

	// LenientPaths allows relative paths and empty ids in the params of the requests that
	// start or open a session. Without it, such requests fail with -32602.
	LenientPaths bool

	// CheckIDs makes the Conn refuse ids that the agent has not sent: prompts and settings
	// of a session that no response has opened fail with -32002, and modes and config options
	// that the agent has not listed for the session with -32602, as does a fork at a cursor that
	// the agent has not sent since it opened the session, or at which it allows none. A session
	// is open until it is closed or deleted. An update of a session that the agent has not
	// opened is not sent, and the error names its id. By default the agent checks them itself;
	// an update of a session that neither a request nor a response has named is sent, and logged
	// once for each session.
	CheckIDs bool

	// OnError, if not nil, is called once with each error that is about to be sent to the
	// client, before the error is converted: the error of a request, and the error that ends
	// a tool call (ToolCall.Fail in version 1 of the protocol) or the work on a prompt
	// (Session.Accept in version 2). The argument where names the method, or "tool call" and
	// the id. The error that OnError returns is converted in place of err; if it returns
	// nil, err is converted. ctx is the ctx of the handler, of Fail or of the work. OnError
	// must be safe for concurrent use.
	// The function OnError of package rpcerr/classify returns a function for this option
	// that classifies and logs errors.
	OnError func(ctx context.Context, where string, err error) error

	// Relay tells that handlers pass requests on over another connection; see package relay. New sets it
	// for an agent that is a *client.Conn or embeds or wraps one. Set it for one that keeps the Conn in a field.
	Relay bool

	// Ending, if not nil, is what [Conn.Ending] returns. Set it for a connection that serves the client of
	// another one, to the channel that is closed when that one begins to end.
	Ending <-chan struct{}

	// RawParams keeps the params of each message in memory while its handler runs, for relay.RawParams.
	RawParams bool

	// ExposeErrors sends the details of errors to the peer: the text of an unexpected
	// error, of which the peer otherwise reads only "Internal error", and what
	// other errors wrap, what is wrapped around them or joined with them, and their texts for
	// developers. Set it for development only: such texts contain paths, host names and other
	// text of other packages.
	ExposeErrors bool

	// Logger receives what cannot be returned to a caller: dropped messages, errors of
	// notification handlers, and panics. Params, content and the environment are never
	// logged. If Logger is nil, slog.Default() is used.
	Logger *slog.Logger

	// OnDropped, if not nil, is called for each notification that reaches no handler
	// because it could not be decoded or arrived before initialize. It is called in the
	// order of arrival and must not block.
	OnDropped func(method string, err error)

	// Receiving wraps the handling of every message that arrives, and Sending the
	// sending of every message. The first middleware of a list is the outermost.
	Receiving, Sending []acp.Middleware

	// Limits bound the memory and the handlers of the Conn.
	Limits acp.Limits
}

func (o *Options) clone() Options {
	c := endpoint.ValueOf(o)
	c.Receiving = slices.Clone(c.Receiving)
	c.Sending = slices.Clone(c.Sending)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

// config returns the configuration of the engine for the options.
func (o *Options) config() rpc.Config {
	return rpc.Config{
		Role:         "agent",
		Defined:      func(method string) bool { return wire.Defines(acp.ProtocolVersion, method) },
		Handshake:    acp.MethodInitialize,
		Reopens:      reopens,
		Receiving:    endpoint.Middlewares(o.Receiving),
		Sending:      endpoint.Middlewares(o.Sending),
		Logger:       o.Logger,
		OnDropped:    o.OnDropped,
		OnError:      o.OnError,
		ExposeErrors: o.ExposeErrors,
		RawParams:    o.RawParams,
		LenientPaths: o.LenientPaths,
		Invalid:      invalid,
		Limits:       rpc.Limits{Backlog: o.Limits.Backlog, MaxBacklog: o.Limits.MaxBacklog, MaxHandlers: o.Limits.MaxHandlers, SendQueue: o.Limits.SendQueue},
	}
}

// reopens reports whether a request of the method opens a session again that the stream has
// lost.
func reopens(method string) bool {
	return method == acp.MethodSessionLoad || method == acp.MethodSessionResume
}
