// Command chat talks to an agent in the newest version of the protocol that the agent speaks; version 2
// is a draft. It sends each line of its input as a prompt:
//
//	go -C draft2 run ./examples/chat go run ./examples/agent
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/draft2/connect"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// shownAtMost is the number of bytes of a text that is printed.
const shownAtMost = 1 << 20

type chat struct {
	out io.Writer
	yes bool // allow everything once

	mu sync.Mutex // guards in: an agent may ask while the next prompt is typed
	in *bufio.Reader
}

func main() {
	stream.EndOnSignal(nil) // a signal ends the agent too
	c := &chat{in: bufio.NewReader(os.Stdin), out: os.Stdout}
	flag.BoolVar(&c.yes, "yes", false, "allow what the agent asks permission for, once each time")
	only := flag.Int("only", 0, "speak this `version` alone, 1 or 2")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: chat [FLAG ...] AGENT [ARG ...]")
		flag.PrintDefaults()
	}
	if flag.Parse(); flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	agent := stream.CommandDial(func() *exec.Cmd { return exec.Command(flag.Arg(0), flag.Args()[1:]...) }, nil)
	if err := c.talk(context.Background(), agent, *only); err != nil {
		fmt.Fprintln(os.Stderr, "chat:", safetext.Lines(client.Explain(nil, err), shownAtMost))
		os.Exit(1)
	}
}

func (c *chat) talk(ctx context.Context, agent connect.Dial, only int) error {
	policy, err := permission.New(&permission.Options{Ask: c.ask})
	if err != nil {
		return err
	}
	conn, err := connect.Connect(ctx, agent, &connect.Options{Permission: policy, Only: only})
	if err != nil {
		return err
	}
	defer conn.Close()
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	session, err := conn.StartSession(ctx, &connect.SessionParams{Cwd: cwd})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "The agent speaks version %d.\n", conn.ProtocolVersion())
	for shown := 0; ; {
		line, err := c.line("> ")
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if line == "" {
			continue
		}
		turn, err := session.Prompt(ctx, connect.Text(line)).Wait()
		if err != nil {
			return err
		}
		items := session.Thread().Snapshot().Items
		for ; shown < items.Len(); shown++ {
			c.show(items.At(shown))
		}
		fmt.Fprintf(c.out, "(%s)\n", safetext.OneLine(turn.StopReason, shownAtMost))
	}
}

func (c *chat) show(item thread.Item) {
	switch item := item.(type) {
	case *thread.Message:
		if item.Role == thread.RoleAgent {
			fmt.Fprintln(c.out, safetext.Lines(item.Text(), shownAtMost))
		}
	case *thread.ToolCall:
		fmt.Fprintf(c.out, "* %s: %s\n", safetext.OneLine(item.Title, shownAtMost), safetext.OneLine(item.Status, shownAtMost))
	}
}

// line returns a line of the input, without its end.
func (c *chat) line(prompt string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprint(c.out, prompt)
	line, err := c.in.ReadString('\n')
	if line != "" {
		err = nil
	}
	return strings.TrimSpace(line), err
}

// ask asks the person, who answers with the number of an option.
func (c *chat) ask(_ context.Context, q *permission.Question) (string, error) {
	for _, line := range q.Lines() {
		fmt.Fprintln(c.out, "?", line) // made to be printed
	}
	if c.yes {
		return q.Pick(permission.AllowOnce), nil
	}
	for i, o := range q.Options {
		fmt.Fprintf(c.out, "  %d %s\n", i+1, o.Label)
	}
	line, err := c.line("choose a number: ")
	if n, _ := strconv.Atoi(line); n >= 1 && n <= len(q.Options) {
		return q.Options[n-1].ID, nil
	}
	return "", err // which denies it
}
