package client

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Options configure a [Conn]. The zero value selects the defaults, and a nil *Options is
// equivalent to it. New copies the options.
type Options struct {
	// Unstable allows the methods that the protocol marks as unstable: a client
	// may implement their interfaces, and the Conn may send them. They can change
	// with any release of the schema.
	Unstable bool

	// IgnoreCapabilities disables the checks of what the agent advertised: every call
	// is sent, even before Initialize. It is meant for tests of agents.
	IgnoreCapabilities bool

	// Handshake is how long [Conn.Initialize], and so [Connect], waits for the agent's response;
	// the error then names the time. Zero means that only the ctx bounds it.
	Handshake time.Duration

	// CancelGrace is how long a prompt whose ctx is done waits for the agent to end the
	// turn. Zero means 10 s. If it is negative, the prompt does not wait.
	CancelGrace time.Duration

	// IdleLimit is how long the agent may send nothing about the session of a prompt, before
	// the turn is cancelled and fails with an *acp.IdleError. Every update and request of the
	// session, or of a subagent, counts, and the time during which this end handles one does not: while the
	// person is asked, or the agent waits for the exit of a terminal, the agent is not silent. A
	// terminal for which the agent does not wait does not count. Zero means no limit.
	IdleLimit time.Duration

	// OnError, if not nil, is called once with each error of a request of the agent,
	// before the error is converted for the peer. The argument where names the method. The error that
	// OnError returns is converted in place of err; if it returns nil, err is converted.
	// ctx is the ctx of the handler. OnError must be safe for concurrent use. The function
	// OnError of package rpcerr/classify returns a function for this option that
	// classifies and logs errors.
	OnError func(ctx context.Context, where string, err error) error

	// Relay tells that handlers pass requests on over another connection; see package agent/relay. New sets
	// it for a client that is an *agent.Conn or embeds or wraps one. Set it for one that keeps the Conn in a field.
	Relay bool

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
	// because it could not be decoded. It is called in the order of arrival and must not
	// block.
	OnDropped func(method string, err error)

	// Receiving wraps the handling of every message that arrives, and Sending the
	// sending of every message. The first middleware of a list is the outermost.
	Receiving, Sending []acp.Middleware

	// Limits bound the memory and the handlers of the Conn.
	Limits acp.Limits
}

const defaultCancelGrace = 10 * time.Second

func (o *Options) clone() Options {
	c := endpoint.ValueOf(o)
	c.Receiving = slices.Clone(c.Receiving)
	c.Sending = slices.Clone(c.Sending)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	c.CancelGrace = cmp.Or(c.CancelGrace, defaultCancelGrace)
	return c
}

func (o *Options) config() rpc.Config {
	return rpc.Config{
		Role:         "client",
		Defined:      func(method string) bool { return wire.Defines(acp.ProtocolVersion, method) },
		Reopens:      reopens,
		Receiving:    endpoint.Middlewares(o.Receiving),
		Sending:      endpoint.Middlewares(o.Sending),
		Logger:       o.Logger,
		OnDropped:    o.OnDropped,
		OnError:      o.OnError,
		ExposeErrors: o.ExposeErrors,
		RawParams:    o.RawParams,
		Invalid:      invalid,
		Limits:       rpc.Limits{Backlog: o.Limits.Backlog, MaxBacklog: o.Limits.MaxBacklog, MaxHandlers: o.Limits.MaxHandlers, SendQueue: o.Limits.SendQueue},
	}
}

// reopens reports whether a call of the method opens a session again that the stream has
// lost.
func reopens(method string) bool {
	return method == acp.MethodSessionLoad || method == acp.MethodSessionResume
}
