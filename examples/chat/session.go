package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
)

// listed is the maximum number of listed sessions.
const listed = 20

func (c *chat) begin(ctx context.Context) error {
	system, err := c.system()
	if err != nil {
		return err
	}
	var session *client.Session
	err = c.host.SignIn(ctx, c.conn, func(ctx context.Context) (err error) {
		defer c.opens("a new session")()
		session, err = c.conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: c.dir, SystemPrompt: system})
		return err
	})
	if err != nil {
		return err
	}
	c.opened(session)
	c.view.Store(newView(c.screen, session.ID(), c.threads.Thread(session.ID()), c.dir))
	c.draw()
	return nil
}

// opens says that chat waits for the agent to open a session, until stop is called: it may start servers for it.
func (c *chat) opens(what string) (stop func()) {
	return waiting(c.notice, func() string { return c.agentTitle() + " to open " + what + "; Ctrl-C ends chat" })
}

// system returns the system prompt that the user has given, or nil. It is sent whenever a session is opened,
// because the agent need not have stored it.
func (c *chat) system() (*acp.SystemPrompt, error) {
	if c.settings.system == "" {
		return nil, nil
	}
	if !c.conn.AgentCapabilities().Has("sessionCapabilities.systemPrompt") {
		return nil, &explained{c.agentTitle() + " takes no instructions of its client\nStart chat without -system, and write them in the prompt.", nil}
	}
	return &acp.SystemPrompt{Mode: acp.SystemPromptModeAppend, Content: []acp.ContentBlock{acp.Text(c.settings.system)}}, nil
}

// opened makes a session the current one. Its thread gets every update, so none is kept for it.
func (c *chat) opened(session *client.Session) {
	session.OnUpdate(nil)
	c.session = session
}

// load continues a session. Its history is shown if the agent replays it.
func (c *chat) load(ctx context.Context, id acp.SessionID) error {
	caps := c.conn.AgentCapabilities()
	loads := caps.Has("loadSession")
	if !loads && !caps.Has("sessionCapabilities.resume") {
		return &explained{c.agentTitle() + " can neither load nor resume a session", nil}
	}
	system, err := c.system()
	if err != nil {
		return err
	}
	before := c.view.Load()
	v := newView(c.screen, id, c.threads.Thread(id), c.dir)
	v.load(true)
	c.view.Store(v)
	var session *client.Session
	err = c.host.SignIn(ctx, c.conn, func(ctx context.Context) (err error) {
		defer c.opens("the session")()
		if loads {
			shown := func(context.Context, acp.SessionUpdate) {} // by the thread
			session, err = c.conn.StartLoadedSession(ctx, &acp.LoadSessionRequest{SessionID: id, Cwd: c.dir, SystemPrompt: system}, shown)
		} else {
			session, err = c.conn.StartResumedSession(ctx, &acp.ResumeSessionRequest{SessionID: id, Cwd: c.dir, SystemPrompt: system})
		}
		return err
	})
	if err != nil {
		c.view.Store(before)
		return c.explain("the session cannot be opened", err)
	}
	c.opened(session)
	c.draw()
	c.screen.endTurn()
	v.load(false)
	return nil
}

// turn sends a prompt and shows the work on it. Ctrl-C cancels the turn; the agent then has a
// moment for its last updates.
func (c *chat) turn(ctx context.Context, prompt string) error {
	c.pending, c.signing = prompt, false
	program := ctx
	ctx, end := c.console.interrupts.turn(ctx)
	defer end()
	stop := waiting(c.notice, c.view.Load().working)
	var over *acp.PromptResponse
	err := c.host.SignIn(ctx, c.conn, func(ctx context.Context) (err error) {
		over, err = c.session.Prompt(ctx, acp.Text(prompt)).Wait()
		return err
	})
	stop()
	if err == nil && ctx.Err() != nil {
		ctx = program // the questions of a cancelled turn end by themselves
	}
	c.drawEnd(ctx)
	switch {
	case errors.Is(err, context.Canceled) && c.signing:
		c.screen.note("(not signed in)")
	case errors.Is(err, context.Canceled):
		c.screen.note("(the agent did not stop in time; the turn was left)")
	case err != nil:
		return c.explain("the turn failed", err)
	default:
		c.screen.line(dim, "(%s)", words(string(over.StopReason)))
		stop := &client.StopError{Reason: over.StopReason}
		switch {
		case over.StopReason == acp.StopReasonEndTurn:
		case c.settings.prompt != "":
			return stop // for the exit status, and for what to do
		case over.StopReason != acp.StopReasonCancelled:
			_, next, _ := strings.Cut(client.Explain(c.conn, stop), "\n")
			c.screen.note(next)
		}
	}
	c.pending = ""
	return nil
}

// drawEnd draws the rest of a turn. A question that another client has answered leaves the screen beside it, and
// what the agent said meanwhile would stand below the end of the turn: drawEnd waits for it, or until ctx is done.
func (c *chat) drawEnd(ctx context.Context) {
	v := c.view.Load()
	select {
	case <-v.answered():
	case <-ctx.Done():
	}
	v.draw()
	c.screen.endTurn()
}

func (c *chat) listSessions(ctx context.Context) error {
	if !c.conn.AgentCapabilities().Has("sessionCapabilities.list") {
		return &explained{c.agentTitle() + " cannot list its sessions", nil}
	}
	var found []*acp.SessionInfo
	err := c.host.SignIn(ctx, c.conn, func(ctx context.Context) error {
		found = nil
		for s, err := range c.conn.Sessions(ctx, &acp.ListSessionsRequest{Cwd: c.dir}) {
			if err != nil {
				return err
			}
			if found = append(found, s); len(found) == listed {
				break
			}
		}
		return nil
	})
	if err != nil {
		return c.explain("listing sessions", err)
	}
	c.sessions = found
	if len(found) == 0 {
		c.screen.note("no sessions for " + c.dir)
	}
	for i, s := range found {
		title, _, _ := strings.Cut(strings.TrimSpace(s.Title), "\n")
		line := fmt.Sprintf("%s%3d  %s  %s  ", marked(c.session != nil && s.SessionID == c.session.ID()), i+1, s.SessionID, day(s.UpdatedAt))
		c.screen.line(plain, "%s%s", line, short(title, max(20, c.console.tty.width()-len(line)-len("..."))))
	}
	return nil
}

// day formats a time of RFC 3339. It returns other texts unchanged.
func day(at string) string {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return at
	}
	return t.Local().Format("2006-01-02 15:04")
}

var errAgentEnded = errors.New("the agent has ended")

// loop sends each line that the user types as a prompt, until the end of input.
func (c *chat) loop(ctx context.Context) error {
	c.screen.note("Talking to " + c.agentTitle() + ". :help lists commands. Ctrl-C ends the turn, Ctrl-D the program.")
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c.conn.OnEnd(func() { end(errAgentEnded) })
	for {
		line, err := c.lines.next(ctx, question{prompt: "> ", ahead: true, complete: c.complete})
		switch {
		case errors.Is(err, io.EOF):
			c.screen.note("")
			return nil
		case errors.Is(err, errAgentEnded):
			c.screen.note("")
			return fmt.Errorf("%w: %w", err, c.conn.Err())
		case err != nil:
			return err
		}
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			continue
		case line == ":quit":
			return nil
		case strings.HasPrefix(line, ":"):
			err = c.do(ctx, line)
			c.draw()
		default:
			err = c.turn(ctx, line)
		}
		if _, restart := errors.AsType[*host.RestartError](err); restart || c.conn.Err() != nil {
			return err
		}
		if err != nil { // the session goes on
			c.pending = ""
			c.screen.lines(red, text(c.explain("", err)))
		}
	}
}

func (c *chat) agentTitle() string {
	info := c.conn.PeerInfo()
	if info == nil {
		return "an agent that gives no name"
	}
	return strings.TrimSpace(cmp.Or(info.Title, info.Name) + " " + info.Version)
}
