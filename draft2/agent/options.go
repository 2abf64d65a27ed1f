package agent

import (
	"cmp"
	"context"
	"log/slog"
	"slices"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Options configure a [Conn]. The zero value selects the defaults, and a nil *Options is
// equivalent to it. New copies the options. They have the names, the meaning and the defaults of
// those of version 1, see [github.com/acpkit/go-sdk/agent.Options].
type Options struct {
	Unstable           bool // allows the methods that the protocol marks as unstable
	IgnoreCapabilities bool // sends every call, even before initialize; for tests of clients
	LenientPaths       bool // allows relative paths and empty ids in requests that open a session
	CheckIDs           bool // refuses sessions, config options and cursors that the agent has not sent
	Relay              bool // handlers pass requests on over another connection, whose agent marks its replays
	RawParams          bool // keeps the params for relay.RawParams
	ExposeErrors       bool // sends the details of errors to the peer; for development

	// OnError, if not nil, may replace each error that is about to be sent to the client, before it
	// is converted: that of a request, of a tool call, or of the work of [Session.Accept]. It must
	// be safe for concurrent use.
	OnError func(ctx context.Context, where string, err error) error

	// Logger receives what cannot be returned to a caller; nil means slog.Default().
	Logger *slog.Logger

	// OnDropped, if not nil, is called for each notification that could not be decoded or arrived
	// before initialize, in the order of arrival. It must not block.
	OnDropped func(method string, err error)

	// Receiving and Sending wrap the handling and the sending of every message. The first
	// middleware of a list is the outermost.
	Receiving, Sending []acp.Middleware

	// Limits bound the memory and the handlers of the Conn.
	Limits acp.Limits
}

func (o *Options) clone() Options {
	c := endpoint.ValueOf(o)
	c.Receiving, c.Sending = slices.Clone(c.Receiving), slices.Clone(c.Sending)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

func (o *Options) config() rpc.Config {
	return rpc.Config{
		Role: "agent", Invalid: invalid, StrictIDs: true, LenientPaths: o.LenientPaths,
		Handshake: acp.MethodInitialize, HandshakeFirst: true,
		Defined:   func(method string) bool { return wire.Defines(acp.ProtocolVersion, method) },
		Reopens:   func(method string) bool { return method == acp.MethodSessionResume },
		Receiving: endpoint.Middlewares(o.Receiving), Sending: endpoint.Middlewares(o.Sending),
		Logger: o.Logger, OnDropped: o.OnDropped, OnError: o.OnError,
		ExposeErrors: o.ExposeErrors, RawParams: o.RawParams,
		Limits: rpc.Limits{Backlog: o.Limits.Backlog, MaxBacklog: o.Limits.MaxBacklog, MaxHandlers: o.Limits.MaxHandlers, SendQueue: o.Limits.SendQueue},
	}
}
