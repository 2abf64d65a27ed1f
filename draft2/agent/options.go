package agent

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
// those of version 1, see [github.com/acpkit/go-sdk/agent.Options].
type Options struct {
	Unstable           bool // allows the methods that the protocol marks as unstable
	IgnoreCapabilities bool // sends every call, even before initialize; for tests of clients
	LenientPaths       bool // allows relative paths and empty ids in requests that open a session
	CheckIDs           bool // refuses sessions and config options that the agent has not sent
	Relay              bool // handlers pass requests on over another connection
	RawParams          bool // keeps the params for the function [RawParams]
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

	// Limits bound the memory, the handlers and the waiting times of the Conn.
	Limits Limits
}

// Limits bound the memory, the handlers and the waiting times of a connection. The zero value of a
// field means its default; see [github.com/acpkit/go-sdk/agent.Limits].
type Limits struct {
	Backlog     int64 // bytes of waiting notifications before the connection stops reading; 64 MiB
	MaxBacklog  int64 // the same before it ends with acp.ErrOverloaded; 1 GiB
	MaxHandlers int   // request handlers that may run at once; 1024
	MaxOpen     int64 // bytes of requests that may wait or run; 1 GiB
	Results     int64 // bytes of results until they are written; 64 MiB
	SendQueue   int64 // bytes that may wait to be written before senders must wait; 8 MiB

	StallTimeout time.Duration // how long the client may read nothing while the send queue is full; 60 s
	DrainGrace   time.Duration // how long handlers may run after the client has closed its end; 5 s
	HandlerGrace time.Duration // how long handlers may run after their ctx is done; 5 s
}

func (o *Options) clone() Options {
	c := endpoint.ValueOf(o)
	c.Receiving, c.Sending = slices.Clone(c.Receiving), slices.Clone(c.Sending)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

func (o *Options) config() rpc.Config {
	l := &o.Limits
	return rpc.Config{
		Role: "agent", Invalid: invalid, StrictIDs: true, LenientPaths: o.LenientPaths,
		Handshake: acp.MethodInitialize, HandshakeFirst: true,
		Defined:   func(method string) bool { return wire.Defines(acp.ProtocolVersion, method) },
		Reopens:   func(method string) bool { return method == acp.MethodSessionResume },
		Receiving: endpoint.Middlewares(o.Receiving), Sending: endpoint.Middlewares(o.Sending),
		Logger: o.Logger, OnDropped: o.OnDropped, OnError: o.OnError,
		ExposeErrors: o.ExposeErrors, RawParams: o.RawParams,
		Limits: rpc.Limits{
			Backlog: l.Backlog, MaxBacklog: l.MaxBacklog, MaxHandlers: l.MaxHandlers, MaxOpen: l.MaxOpen, Results: l.Results,
			SendQueue: l.SendQueue, StallTimeout: l.StallTimeout, DrainGrace: l.DrainGrace, HandlerGrace: l.HandlerGrace,
		},
	}
}
