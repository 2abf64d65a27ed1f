package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/stream"
)

// chat is one run of the program. It has one connection after the other: some ways to sign
// in need the agent to be started again.
type chat struct {
	settings settings
	console  *console
	screen   *screen
	lines    *lines
	host     *host.Host
	dir      string
	env      []string // variables of the agent that the user has given
	pending  string   // the prompt to send, on this connection or the next
	authUsed bool     // -auth was tried
	signing  bool     // the user was asked to sign in during this turn

	// The fields below belong to the connection.
	start    *start
	process  *stream.Process
	conn     *client.Conn // nil until the agent has responded
	threads  *thread.Set
	session  *client.Session
	sessions []*acp.SessionInfo   // the last list
	view     atomic.Pointer[view] // of the session; nil before there is one
}

func run(ctx context.Context, s settings, console *console) error {
	dir, err := folder(s.dir)
	if err != nil {
		return err
	}
	c := &chat{settings: s, console: console, screen: newScreen(console.out, console.color), dir: dir, pending: s.prompt}
	if console.edit {
		c.screen.width = console.tty.width
	}
	c.lines = &lines{reader: newReader(console, c.screen)}
	defer console.tty.restore()
	var file io.Writer
	if s.record != "" {
		f, err := os.OpenFile(s.record, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err == nil {
			defer f.Close()
			err = f.Chmod(0o600) // others may be able to read one that existed
		}
		if err != nil {
			return fmt.Errorf("-record: %w", err)
		}
		file = f
	}
	c.host, err = host.Open(&host.Options{
		Roots: []string{dir}, Ask: c.askUser, SignIn: c.signIn(), Update: c.updated, Permission: &permission.Options{Audit: c.decided},
		Terminals: &terminals.Options{OnOutput: func(terminals.Output) { c.draw() }}, // the thread has it
	})
	if err != nil {
		return err
	}
	defer c.host.Close()
	for {
		err := c.converse(ctx, file)
		restart, ok := errors.AsType[*host.RestartError](err)
		if !ok {
			return err
		}
		c.env = append(c.env, restart.Env...)
		c.restarted(restart)
	}
}

func newReader(console *console, s *screen) lineReader {
	switch {
	case console.typed == nil:
		return &pipeReader{screen: s, in: bufio.NewReader(console.in), tty: console.tty}
	case !console.edit:
		return &lineTerminal{screen: s, tty: console.tty, typing: typing{in: console.typed}}
	}
	e := &editor{screen: s, tty: console.tty, typing: typing{in: console.typed}}
	console.tty.follow(e.again)
	return e
}

// converse holds one connection, from the start of the agent to its end.
func (c *chat) converse(ctx context.Context, file io.Writer) error {
	alive, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	c.start, c.conn, c.threads, c.session = &start{say: c.notice, fail: kill}, nil, new(thread.Set), nil
	c.view.Store(nil)
	if err := c.initialize(alive, file); err != nil {
		return c.explain("", err)
	}
	err := c.explain("", c.talk(ctx))
	stop := waiting(c.notice, func() string { return "the agent to end; after a while it is ended" })
	lived := c.conn.Err() == nil
	c.conn.Close()
	err = errors.Join(err, ignoreEnd(c.conn.Wait()))
	stop()
	if lived {
		if exit, ok := errors.AsType[*stream.ExitError](c.process.Wait()); ok && exit.Signal != "" {
			c.notice("the agent did not end by itself and was ended (signal: " + exit.Signal + ")")
		}
	}
	return err
}

// ignoreEnd drops the error of an agent that fails at the end of its input.
func ignoreEnd(err error) error {
	if _, ok := errors.AsType[*stream.ExitError](err); ok || errors.Is(err, acp.ErrClosed) {
		return nil
	}
	return err
}

func (c *chat) talk(ctx context.Context) error {
	if c.settings.list {
		return c.listSessions(ctx)
	}
	open := c.begin
	if id := acp.SessionID(c.settings.load); id != "" {
		open = func(ctx context.Context) error { return c.load(ctx, id) }
	}
	if err := open(ctx); err != nil {
		return err
	}
	if c.pending != "" {
		if err := c.turn(ctx, c.pending); err != nil || c.settings.prompt != "" {
			return err
		}
	}
	return c.loop(ctx)
}

// notice prints a message of chat itself.
func (c *chat) notice(text string) { c.print("chat: " + text) }

// print prints a line beside the conversation.
func (c *chat) print(line string) {
	c.screen.lock()
	defer c.screen.unlock()
	c.screen.endLine()
	fmt.Fprintln(c.console.err, c.screen.rows(line, shownOfLine))
}

// hold keeps texts of the agent off the screen while a question is on it.
func (c *chat) hold() (release func()) {
	if v := c.view.Load(); v != nil {
		return v.hold()
	}
	return func() {}
}

func (c *chat) draw() {
	if v := c.view.Load(); v != nil {
		v.draw()
	}
}
