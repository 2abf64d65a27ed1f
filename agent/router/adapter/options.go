package adapter

import (
	"log/slog"
	"time"

	"github.com/acpkit/go-sdk/agent"
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
	var c Options
	if o != nil {
		c = *o
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	var own agent.Options
	if c.Agent != nil {
		own = *c.Agent
	}
	if own.Logger == nil {
		own.Logger = c.Logger
	}
	c.Agent = &own
	return c
}
