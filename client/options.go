package client

import (
	"log/slog"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// Options change how a [Conn] behaves. The zero value, like nil, means the
// defaults. New copies them.
type Options struct {
	// Unstable allows the methods that the protocol marks as unstable: a client
	// may implement their interfaces, and the Conn may send them. They can change
	// with any release of the schema.
	Unstable bool

	// IgnoreCapabilities sends every call, whether the agent advertised what it
	// needs or not, and also before Initialize. It is meant for tests of agents.
	IgnoreCapabilities bool

	// CancelGrace is how long a prompt whose ctx has ended waits for the agent to
	// end the turn. Zero means 10 s, a negative value not to wait.
	CancelGrace time.Duration

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

const defaultCancelGrace = 10 * time.Second

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
	if c.CancelGrace == 0 {
		c.CancelGrace = defaultCancelGrace
	}
	return c
}

// config is the engine's configuration that follows from the options.
func (o *Options) config() rpc.Config {
	return rpc.Config{
		Role:         "client",
		Receiving:    endpoint.Middlewares(o.Receiving),
		Sending:      endpoint.Middlewares(o.Sending),
		Logger:       o.Logger,
		OnDropped:    o.OnDropped,
		ExposeErrors: o.ExposeErrors,
		Invalid:      endpoint.Invalid,
		Limits:       rpc.Limits(o.Limits),
	}
}
