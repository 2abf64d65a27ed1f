package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/acpkit/go-sdk/client/host"
)

var errAgentEnded = errors.New("the agent has ended")

// loop sends what the user types, a line a turn, until the end of input.
func (c *chat) loop(ctx context.Context) error {
	c.screen.note("Talking to " + c.agentTitle() + ". :help lists commands. Ctrl-C ends the turn, Ctrl-D the program.")
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c.conn.OnEnd(func() { end(errAgentEnded) })
	for {
		line, err := c.lines.next(ctx, question{prompt: "> ", complete: c.complete})
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

// agentTitle returns the name that the agent gives itself.
func (c *chat) agentTitle() string {
	info, ok := c.conn.Info()
	switch {
	case !ok:
		return "an agent that gives no name"
	case info.Title != "":
		return strings.TrimSpace(info.Title + " " + info.Version)
	}
	return strings.TrimSpace(info.Name + " " + info.Version)
}
