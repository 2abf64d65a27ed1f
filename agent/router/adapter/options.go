package adapter

import (
	"log/slog"
	"time"

	"github.com/acpkit/go-sdk/agent"
)

// Options configure [FromV1]. The zero value selects the defaults, and a nil *Options is
// equivalent to it. FromV1 copies the options.
type Options struct {
	// Agent are the options of the connection that the agent of version 1 is given.
	Agent *agent.Options

	// CancelGrace is how long the agent may take to end a turn that was cancelled, before
	// the client reads that the session is idle. Zero means 10 s. If it is negative, there
	// is no wait.
	CancelGrace time.Duration

	// Logger receives what cannot be returned to the client, and is the Logger of Agent if
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
