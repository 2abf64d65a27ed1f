package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
)

// loop sends what the user types, a line a turn, until the end of input.
func (c *chat) loop(ctx context.Context, session *client.Session) error {
	c.ui.screen.note("Talking to " + c.agentName() + ". A line is a turn, Ctrl-C ends it, Ctrl-D ends the program.")
	for {
		c.ui.screen.prompt("> ")
		select {
		case line, ok := <-c.ui.lines:
			if !ok {
				c.ui.screen.note("")
				return nil
			}
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			if err := c.turn(ctx, session, line); err != nil {
				return err
			}
		case <-c.conn.Done():
			return c.conn.Err()
		}
	}
}

func (c *chat) agentName() string {
	info := c.conn.PeerInfo()
	switch {
	case info == nil:
		return "an agent that gives no name"
	case info.Title != "":
		return info.Title + " " + info.Version
	}
	return info.Name + " " + info.Version
}

// turn sends a prompt and shows what comes of it. Ctrl-C cancels the turn: the
// agent is told, and has a moment to say how far it came.
func (c *chat) turn(ctx context.Context, session *client.Session, prompt string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	response, err := session.Prompt(ctx, acp.Text(prompt)).Wait()
	c.ui.screen.endLine()
	switch {
	case errors.Is(err, context.Canceled):
		c.ui.screen.note("(the agent did not stop in time; the turn was left)")
		return nil
	case err != nil:
		return fmt.Errorf("the turn failed: %w", err)
	}
	c.ui.screen.note("(" + strings.ReplaceAll(string(response.StopReason), "_", " ") + ")")
	return nil
}

// readLines gives the lines of r to whoever asks first: the prompt or a question.
func readLines(r io.Reader) <-chan string {
	lines := make(chan string)
	go func() { // ends with the input; a read of a terminal cannot be ended otherwise
		defer close(lines)
		in := bufio.NewScanner(r)
		in.Buffer(nil, 1<<20) // people paste
		for in.Scan() {
			lines <- in.Text()
		}
	}()
	return lines
}
