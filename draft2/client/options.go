package client

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Options configure a [Conn]. The zero value selects the defaults, and a nil *Options is
// equivalent to it. New copies the options. They have the names, the meaning and the defaults of
// those of version 1, see [github.com/acpkit/go-sdk/client.Options].
type Options struct {
	Unstable           bool          // allows the methods that the protocol marks as unstable
	IgnoreCapabilities bool          // sends every call, even before Initialize; for tests of agents
	Handshake          time.Duration // how long [Conn.Initialize] waits for the response; zero: as its ctx
	CancelGrace        time.Duration // how long a cancelled turn may take to end; zero means 10 s
	IdleLimit          time.Duration // how long the agent may be silent in a turn; zero: no limit
	Relay              bool          // handlers pass requests on over another connection
	RawParams          bool          // keeps the params for relay.RawParams
	ExposeErrors       bool          // sends the details of errors to the peer; for development

	// OnError, if not nil, may replace each error of a request of the agent before it is converted
	// for the peer. It must be safe for concurrent use.
	OnError func(ctx context.Context, where string, err error) error

	// Logger receives what cannot be returned to a caller; nil means slog.Default().
	Logger *slog.Logger

	// OnDropped, if not nil, is called for each notification that could not be decoded, in the
	// order of arrival. It must not block.
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
	c.CancelGrace = cmp.Or(c.CancelGrace, 10*time.Second)
	return c
}

func (o *Options) config() rpc.Config {
	return rpc.Config{
		Role: "client", Invalid: invalid, StrictIDs: true,
		Defined:   func(method string) bool { return wire.Defines(acp.ProtocolVersion, method) },
		Reopens:   func(method string) bool { return method == acp.MethodSessionResume },
		Receiving: endpoint.Middlewares(o.Receiving), Sending: endpoint.Middlewares(o.Sending),
		Logger: o.Logger, OnDropped: o.OnDropped, OnError: o.OnError,
		ExposeErrors: o.ExposeErrors, RawParams: o.RawParams,
		Limits: rpc.Limits{Backlog: o.Limits.Backlog, MaxBacklog: o.Limits.MaxBacklog, MaxHandlers: o.Limits.MaxHandlers, SendQueue: o.Limits.SendQueue},
	}
}
