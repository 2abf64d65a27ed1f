// Package adapter serves an agent of version 1 of the protocol to clients of version 2:
//
//	agents := &router.Agents{V1: newV1, V2: adapter.FromV1(newV1, nil)}
//	err := router.Serve(ctx, stream.Stdio(), agents, nil)
//
// Version 2 of the protocol is a draft, so this package may change in any release.
//
// # What is translated
//
//   - A prompt becomes part of the conversation when the agent can begin to work on it: the
//     client gets its message, the state running, and the response. Later prompts of the
//     session wait until the agent has ended its turn, in the order in which they arrived.
//     If the client cancels or closes the session, waiting prompts fail with -32800. The end
//     of the turn becomes the state idle with the stop reason and the tokens that the turn has
//     used, or with the agent's error.
//   - Messages and thoughts keep the ids that the agent gives them, and get ids if it gives
//     none. Chunks that have no id belong to the message before them if that has the same
//     author. A prompt that the agent repeats is left out; [UserMessageID] is its id.
//   - Tool calls and their updates become updates that create or change a call. A change of
//     a file becomes a patch.
//   - A permission request gets the title of its tool call. While it or an elicitation of
//     the session is in flight, the state of the session is requires_action.
//   - A plan becomes the plan with the id "plan". Modes become an option with the id
//     "mode", unless the agent has options: then only the options are passed on.
//   - session/resume becomes session/load if the client requests a replay, and
//     session/resume of version 1 otherwise. If the agent can only load, the history that the
//     client did not request is left out. In a replay, each message begins with a whole
//     message, which replaces what a client has under that id.
//   - If the agent lacks session/list, session/resume or session/close, the sessions that
//     this connection has opened can be listed, resumed without a replay, and closed. For
//     any other session these methods fail with -32002.
//   - Elicitations, authentication, content and extension methods are passed on unchanged.
//
// # What is not translated
//
// Clients of version 2 have neither files nor terminals, and the capabilities that the
// agent reads have none: a call of fs/read_text_file, fs/write_text_file or a method of
// terminal/* fails with an *acp.CapabilityError. An agent that serves both versions must
// itself read and write files and run commands for such clients. Also not translated are:
//
//   - MCP servers of kinds other than stdio and http, which fail with -32602;
//   - a replay of an agent that has no session/load, which fails with -32602;
//   - cancelling a single tool call or terminal, which fails with -32602;
//   - unstable methods, which fail with -32601, and unstable system prompts, which fail with
//     -32602.
//
// # Why there is no adapter from version 2 to version 1
//
// An agent of version 2 reports background work, states, prompts that wait and its own
// terminals, at any time. Version 1 has no messages for most of this, and a turn of version
// 1 has exactly one prompt and one end. A client of version 1 would display a working agent
// as idle, and would not learn when the work ends. Existing agents that speak version 2
// also speak version 1 themselves.
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
