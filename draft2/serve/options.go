// Package serve serves clients of version 1 and of version 2 of the protocol on one
// endpoint, over any stream. Experimental: it may change in any release.
//
//	err := serve.Serve(ctx, stream.Stdio(), newAgent, nil)
//
// newAgent makes an agent of version 1, which serves clients of version 2 through package adapter:
// the method Agent of an agent on agent/kit is one. [Route] serves them with an agent of their own version.
//
// # Which agent serves a connection
//
// The first successful initialize decides, and the choice is final: later messages,
// including a repeated initialize, reach the chosen agent unchanged.
//
//   - If there is only an agent of version 1, it serves every client. It responds with
//     version 1, and a client that needs another version disconnects.
//   - Otherwise a client that requests version 2 or later gets version 2, and a client that
//     requests version 1 gets version 1.
//   - If there is no agent for that version, initialize fails with -32022 and the supported
//     versions.
//
// Before that, a request other than initialize fails with -32600, and an initialize with a
// malformed version, or with malformed params in the version that it names, fails with
// -32602. Notifications and responses are ignored. The connection stays open in all of
// these cases, and the client may try again.
//
// # What the agent reads
//
// If the client requests the version of the agent, the agent reads its initialize
// unchanged. If the client requests a later version, the params are reduced to the members
// that the version of the agent defines, without malformed ones. For an agent of version 1
// the params of version 2 are translated: info becomes clientInfo, and the capabilities
// become those that every client of version 2 has, without files and terminals. A client
// that has them must connect again with version 1.
package serve

import (
	"cmp"
	"log/slog"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/internal/endpoint"
)

// Agents are the agents that [Route] chooses from. At least one of the functions must be
// set. The one that is chosen is called once, with the connection to the client.
type Agents struct {
	// V1 returns the agent for clients that speak version 1 of the protocol. If it is
	// nil, such clients get an error that lists the supported version.
	V1 func(*agent.Conn) acp.Agent

	// V2 returns the agent for clients that speak version 2. If it is nil, V1 serves all
	// clients, whatever version they request.
	V2 func(*agent2.Conn) acp2.Agent
}

// Options configure [Serve] and [Route]. The zero value selects the defaults, and a nil *Options is
// equivalent to it. Both copy the options.
type Options struct {
	// V1 and V2 are the options of the connection for the version that is chosen.
	V1 *agent.Options
	V2 *agent2.Options

	// Logger receives what cannot be returned to the client. It is also the Logger of V1 and
	// V2 if they have none. If it is nil, slog.Default() is used.
	Logger *slog.Logger
}

func (o *Options) clone() Options {
	c := endpoint.ValueOf(o)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	v1, v2 := endpoint.ValueOf(c.V1), endpoint.ValueOf(c.V2)
	v1.Logger, v2.Logger = cmp.Or(v1.Logger, c.Logger), cmp.Or(v2.Logger, c.Logger)
	c.V1, c.V2 = &v1, &v2
	return c
}
