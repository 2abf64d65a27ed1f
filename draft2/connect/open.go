package connect

import (
	"context"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/internal/endpoint"
)

// SessionParams are the params for starting or opening a session.
type SessionParams struct {
	// Cwd is the folder of the session, an absolute path at the agent.
	Cwd string
	// AdditionalDirectories are further folders.
	AdditionalDirectories []string
	MCPServers            []MCPServer
	// SystemPrompt extends or replaces that of the agent, if the agent advertises that. Send it
	// again when you open the session again.
	SystemPrompt *acp.SystemPrompt
	// Options are values of options for the start of the session; see Features.SessionOptions. An agent
	// ignores options and values that it does not have: [Session.Options] tells what holds.
	Options []InitialOption
	// Cursor is the position at which [Conn.ForkSession] copies the other session: the ID of a
	// [thread.Cursor] that allows it. Empty means the end.
	Cursor string
	// Replayed is called once by [Conn.LoadSession], before it returns. With nil the thread has the whole
	// history. In version 2 that is usually before the session can be used, and the next message of the
	// connection waits until Replayed returns; in version 1 it is after the response. Otherwise
	// the history was cut off: the error is that of LoadSession, which gives the thread back what it
	// had before.
	Replayed func(err error)
}

// InitialOption is the value of an option for the start of a session: Value that of a select option, or On
// that of a boolean one.
type InitialOption struct {
	ID    string
	Value string
	On    *bool
}

// MCPServer is an MCP server that the agent uses: a child process if Command is set,
// otherwise the server at URL.
type MCPServer struct {
	Name string

	Command string // an absolute path
	Args    []string
	Env     map[string]string // may be secret

	URL     string
	Headers map[string]string // may be secret
	// SSE selects the transport with server-sent events, which exists only in version 1.
	SSE bool
}

// StartSession starts an empty session.
func (c *Conn) StartSession(ctx context.Context, p *SessionParams) (*Session, error) {
	if p == nil {
		p = &SessionParams{}
	}
	s, err := c.back.start(ctx, p)
	return c.opened(s, p, err)
}

// LoadSession opens a stored session. When it returns, the thread of the session contains
// the history.
func (c *Conn) LoadSession(ctx context.Context, id string, p *SessionParams) (*Session, error) {
	params := endpoint.ValueOf(p)
	var once sync.Once
	params.Replayed = func(err error) {
		once.Do(func() {
			if p != nil && p.Replayed != nil {
				p.Replayed(err)
			}
		})
	}
	s, err := c.reopen(ctx, id, &params, c.back.load)
	params.Replayed(err)
	return s, err
}

// ResumeSession opens a stored session without a replay of its history.
func (c *Conn) ResumeSession(ctx context.Context, id string, p *SessionParams) (*Session, error) {
	return c.reopen(ctx, id, p, c.back.resume)
}

// ForkSession starts a session from the context of the session with that id, which does not change. The thread
// of the new session is empty, because the agent does not replay what was copied.
//
// Unstable: the Unstable of Options.ConnV1 and Options.ConnV2 allow it.
func (c *Conn) ForkSession(ctx context.Context, id string, p *SessionParams) (*Session, error) {
	if p == nil {
		p = &SessionParams{}
	}
	s, err := c.back.fork(ctx, id, p)
	return c.opened(s, p, err)
}

// SessionOptions returns the options and the commands that a session would start with, without starting one: a
// new session in the folders of p, or the stored one if id is not empty. What the session has when it is open
// may differ, and decides. Version 1 tells no commands.
//
// Unstable: the Unstable of Options.ConnV1 and Options.ConnV2 allow it.
func (c *Conn) SessionOptions(ctx context.Context, id string, p *SessionParams) ([]thread.Option, []thread.Command, error) {
	if p == nil {
		p = &SessionParams{}
	}
	would, err := c.back.options(ctx, id, p)
	if err != nil {
		return nil, nil, err
	}
	return optionsOf(would), would.Commands, nil
}

func (c *Conn) reopen(ctx context.Context, id string, p *SessionParams,
	open func(context.Context, string, *SessionParams) (session, error),
) (*Session, error) {
	if p == nil {
		p = &SessionParams{}
	}
	before := c.setFolder(id, p.Cwd) // questions may arrive before the response
	s, err := open(ctx, id, p)
	if err != nil {
		c.setFolder(id, before)
	}
	return c.opened(s, p, err)
}

// opened returns the Session of an opened session. It is the same for the same id.
func (c *Conn) opened(back session, p *SessionParams, err error) (*Session, error) {
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.folders[back.id()] = p.Cwd
	s := c.sessions[back.id()]
	if s == nil || s.back != back {
		s = &Session{conn: c, back: back, thread: c.back.thread(back.id())}
		c.sessions[back.id()] = s
	}
	return s, nil
}
