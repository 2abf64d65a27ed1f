// Package kit implements what most agents have in common: sessions that are stored and loaded
// again, turns that wait for each other, the text of a model as messages, tools with permission,
// modes and settings, commands, and signing in. Experimental: it may change in any release. The
// author adds one function that makes a turn:
//
//	a := kit.New(&kit.Options{
//		Info: acp.Implementation{Name: "echo", Version: "1"},
//		Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
//			return acp.StopReasonEndTurn, s.Text(ctx, "You said: "+acp.PlainText(p.Blocks...))
//		},
//	})
//	err := a.Serve(context.Background(), stream.Stdio())
//
// # What it promises
//
//   - A session has one turn at a time. Later prompts wait for it in the order in which they
//     arrived, or are refused. A cancel ends the running turn and the waiting ones.
//   - The response to a prompt is sent when its text has been sent, its tool calls have ended, and
//     all of this is stored so that it survives a loss of power.
//   - session/load shows what the person has seen, with the same message ids. After a crash, at
//     most the last second of an unfinished message is missing.
//   - A tool call is stored before it runs. If a crash interrupts it, it counts as failed and does
//     not run again.
//   - A session is open on one connection at a time. It belongs to one owner if sessions have
//     owners.
//
// [Agent.Serve] serves clients of version 1 of the protocol. A program that also serves those of
// another version passes [Agent.Agent] to what serves them.
package kit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/stream"
)

// Options configure an Agent. Only Turn is required.
type Options struct {
	// Info is the name and version of the agent. Clients receive it if it has a name.
	Info acp.Implementation

	// Turn handles a prompt. Its ctx is done when the turn is cancelled, and when the connection
	// ends, up to 5 s after the client has closed its end; Turn must then return. An empty stop
	// reason means end_turn. An error is sent to the client like that of any handler; see package
	// agent. Turn is called for one prompt of a session at a time, and for several sessions at
	// once.
	Turn func(ctx context.Context, s *Session, p *Prompt) (acp.StopReason, error)

	// Store stores the sessions. Nil means a journal.Memory, whose sessions end with the program.
	Store journal.Store

	// Workspace configures Session.Workspace, which also reads the files that prompts link to. Nil
	// selects the defaults. The defaults refuse a session in a folder that contains the whole home
	// folder or disk.
	Workspace *workspace.Options

	// Tools returns the tools of a session. It is called once each time the session is opened.
	Tools func(s *Session) []tools.Tool

	// MCP connects to the MCP servers that clients name. If it is nil, no servers are used: a
	// client may still name servers over stdio, and a notice says that they were not started.
	MCP MCP

	// Gate decides about a tool call before the person is asked; see tools.Env.
	Gate func(s *Session, c *tools.Call) tools.Decision

	// Modes are offered to the client, as modes and as a config option. The first one is the
	// default. It must be the most careful one, because it also replaces a stored mode that is no
	// longer offered.
	Modes Modes

	// Settings are further config options. If Conn allows unstable methods, clients also learn of modes and
	// settings before they open a session, and may choose their values for its start, which Session.Setting
	// returns.
	Settings Settings

	// Commands are the slash commands of a session.
	Commands Commands

	// Auth configures how users sign in. Nil means that they need not sign in.
	Auth *Auth

	// Owner returns the user of the connection that ctx belongs to. For this user the sessions of
	// other owners do not exist. If Owner is set and Workspace is nil, the files and commands of
	// this machine are not used. MCP then starts no programs that a client names, and reaches no
	// private addresses, unless its own options allow that.
	Owner func(ctx context.Context) string

	// Queue is the number of prompts of a session that may wait for its turn; further prompts fail
	// with -32600. Zero means 16, and a negative number means none.
	Queue int

	// SystemPrompts lists the modes in which Turn applies the system prompt of the client, which it
	// gets from Session.SystemPrompt: append, or append and override. If it is empty, a request that
	// carries a system prompt fails with -32602.
	SystemPrompts []acp.SystemPromptMode

	// Images reports whether prompts may contain images, for what initialize advertises. Nil means that
	// they may. Set it from what the model takes; see chat.Model.Images.
	Images func(ctx context.Context) bool

	// Audio advertises that prompts may contain audio. Without it such prompts fail with -32602.
	Audio bool

	// Extension handles requests that the protocol does not define; see acp.ExtensionHandler.
	Extension func(ctx context.Context, conn *agent.Conn, method string, params json.RawMessage) (any, error)

	// Conn configures the connections that Serve makes. Its Logger is that of these options if it
	// has none.
	Conn *agent.Options

	// Logger receives what cannot be returned to a client. If it is nil, slog.Default() is used.
	Logger *slog.Logger
}

const defaultQueue = 16

// An Agent holds the sessions of all connections of a program. It is safe for concurrent use.
type Agent struct {
	opts Options
	err  error // the error of invalid options
	log  *slog.Logger

	mu       sync.Mutex
	sessions map[acp.SessionID]*Session
	closing  bool
}

// New returns an agent. If the options are invalid, Serve and initialize return the error.
func New(opts *Options) *Agent {
	a := &Agent{sessions: make(map[acp.SessionID]*Session)}
	if opts != nil {
		a.opts = *opts
	}
	o := &a.opts
	if o.Store == nil {
		o.Store = new(journal.Memory)
	}
	if o.Owner != nil && o.Workspace == nil {
		o.Workspace = &workspace.Options{NoLocal: true}
	}
	o.Queue, a.log = cmp.Or(o.Queue, defaultQueue), cmp.Or(o.Logger, slog.Default())
	if o.Turn == nil {
		a.err = errors.Join(a.err, errors.New("kit: Options.Turn is nil: set the function that answers a prompt"))
	}
	a.err = errors.Join(a.err, o.Modes.check(), o.Settings.check(len(o.Modes) > 0), o.Commands.check(), o.Auth.check(), checkModes(o.SystemPrompts))
	return a
}

// Serve serves one client until the connection ends or ctx is done. It takes ownership of s. It is
// safe for concurrent use, and can be passed to remote.NewHandler.
func (a *Agent) Serve(ctx context.Context, s stream.Stream) error {
	if a.err != nil {
		return errors.Join(a.err, s.Close())
	}
	var o agent.Options
	if a.opts.Conn != nil {
		o = *a.opts.Conn
	}
	o.Logger = cmp.Or(o.Logger, a.log)
	return agent.Serve(ctx, s, a.Agent, &o)
}

// Agent returns the agent of one connection. Programs that do not use Serve pass it to
// agent.Serve as newAgent.
func (a *Agent) Agent(c *agent.Conn) acp.Agent {
	c.OnEnd(func() { a.endAll(c, errLeft) })
	return &conn{a, c}
}

// errClosing is the cause of turns that Close ends.
var errClosing = errors.New("kit: the agent is closing")

// Close ends the running turns, waits until they are stored, and closes the sessions. New sessions
// and prompts are refused. If ctx is done first, Close returns its error, and each remaining turn
// closes its session when it ends.
func (a *Agent) Close(ctx context.Context) error {
	a.mu.Lock()
	a.closing = true
	a.mu.Unlock()
	for _, s := range a.endAll(nil, errClosing) {
		if err := s.end(ctx, errClosing); err != nil {
			return fmt.Errorf("kit: a turn of session %q has not ended: %w", s.id, err)
		}
	}
	return nil
}
