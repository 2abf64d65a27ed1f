package agent

import (
	"log/slog"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// Options change how a [Conn] behaves. The zero value, like nil, means the
// defaults. New copies them.
type Options struct {
	// Unstable allows the methods that the protocol marks as unstable: an agent
	// may implement their interfaces, and the Conn may send them. They can change
	// with any release of the schema.
	Unstable bool

	// IgnoreCapabilities sends every call, whether the client advertised what it
	// needs or not, and also before the client has initialized the connection.
	// It is meant for tests of clients.
	IgnoreCapabilities bool

	// LenientPaths takes relative paths and empty ids in the params of
	// session/new, session/load, session/resume and session/fork, which are
	// answered with -32602 otherwise.
	LenientPaths bool

	// ExposeErrors puts the text of unexpected errors into the answer, where it
	// is "Internal error" otherwise. Not for production: such texts hold paths,
	// host names, and what other libraries think fit to print.
	ExposeErrors bool

	// Logger gets what cannot be returned to anybody: messages that were dropped,
	// errors of notification handlers, panics. It never gets params, content or
	// environment. Nil means slog.Default().
	Logger *slog.Logger

	// OnDropped is called for a notification that could not be decoded and so
	// reaches no handler. It is called in the order of arrival and must not block.
	OnDropped func(method string, err error)

	// Receiving wraps the handling of every message that arrives, Sending that of
	// every message that leaves. The first in a list is the outermost.
	Receiving, Sending []acp.Middleware

	// Limits bound memory, handlers and waiting.
	Limits Limits
}

func (o *Options) clone() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Receiving = slices.Clone(c.Receiving)
	c.Sending = slices.Clone(c.Sending)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// config is the engine's configuration that follows from the options.
func (o *Options) config() rpc.Config {
	return rpc.Config{
		Role:         "agent",
		Handshake:    acp.MethodInitialize,
		Receiving:    endpoint.Middlewares(o.Receiving),
		Sending:      endpoint.Middlewares(o.Sending),
		Logger:       o.Logger,
		OnDropped:    o.OnDropped,
		ExposeErrors: o.ExposeErrors,
		LenientPaths: o.LenientPaths,
		Invalid:      endpoint.Invalid,
		Limits:       rpc.Limits(o.Limits),
	}
}
