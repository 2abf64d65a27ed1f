package router

import (
	"log/slog"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent"
	agent2 "github.com/acpkit/go-sdk/agent/v2"
)

// Agents are the agents that [Serve] chooses from. At least one of the functions must be
// set. The one that is chosen is called once, with the connection to the client.
type Agents struct {
	// V1 returns the agent for clients that speak version 1 of the protocol. If it is
	// nil, such clients get an error that lists the supported version.
	V1 func(*agent.Conn) acp.Agent

	// V2 returns the agent for clients that speak version 2. If it is nil, V1 serves all
	// clients, whatever version they request. The function FromV1 of package adapter makes one
	// from V1.
	V2 func(*agent2.Conn) acp2.Agent
}

// Options configure [Serve]. The zero value selects the defaults, and a nil *Options is
// equivalent to it. Serve copies the options.
type Options struct {
	// V1 and V2 are the options of the connection for the version that is chosen.
	V1 *agent.Options
	V2 *agent2.Options

	// Logger receives what cannot be returned to the client. It is also the Logger of V1 and
	// V2 if they have none. If it is nil, slog.Default() is used.
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
	var v1 agent.Options
	if c.V1 != nil {
		v1 = *c.V1
	}
	if v1.Logger == nil {
		v1.Logger = c.Logger
	}
	var v2 agent2.Options
	if c.V2 != nil {
		v2 = *c.V2
	}
	if v2.Logger == nil {
		v2.Logger = c.Logger
	}
	c.V1, c.V2 = &v1, &v2
	return c
}
