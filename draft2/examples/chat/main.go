// Command chat talks to an agent in the newest version of the protocol that the agent speaks; version 2
// is a draft. It sends each line of its input as a prompt, and denies what the agent asks permission for, unless
// -yes is given: a line that was typed before a question is no answer to it. The chat of version 1 asks.
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
	"strings"

	acp1 "github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/connect"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// The number of bytes that are printed of a message, of a line, and of what a tool call reports.
const (
	shownAtMost   = 1 << 20
	shownOfLine   = 2000
	shownOfOutput = 4000
)

// suggestedAtMost is how many suggestions of prompts are printed.
const suggestedAtMost = 5

type chat struct {
	in  *bufio.Reader
	out io.Writer
	yes bool // allow everything once
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
	policy := permission.New(&permission.Options{Ask: c.ask})
	conn, err := connect.Connect(ctx, agent, &connect.Options{
		Permission: policy, Only: only,
		InitializeV1: &acp1.InitializeRequest{ClientCapabilities: &acp1.ClientCapabilities{
			Session: &acp1.ClientSessionCapabilities{PromptSuggestions: &acp1.PromptSuggestionsCapabilities{}},
		}},
		InitializeV2: &acp.InitializeRequest{Capabilities: &acp.ClientCapabilities{
			Session: &acp.ClientSessionCapabilities{PromptSuggestions: &acp.PromptSuggestionsCapabilities{}},
		}},
	})
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
		c.suggest(session.Thread().Snapshot().Suggestions)
		fmt.Fprint(c.out, "> ")
		line, err := c.in.ReadString('\n')
		line = strings.TrimSpace(line)
		switch {
		case line == "" && errors.Is(err, io.EOF):
			return nil
		case line == "" && err != nil:
			return err
		case line == "":
			continue
		}
		turn, err := session.Prompt(ctx, connect.Text(line)).Wait()
		if err != nil {
			return err
		}
		now := session.Thread().Snapshot()
		for ; shown < now.Items.Len(); shown++ {
			c.show(now, now.Items.At(shown))
		}
		fmt.Fprintf(c.out, "(%s)\n", safetext.OneLine(turn.StopReason, shownOfLine))
		if stop := acp.StopReason(turn.StopReason); stop != "" && stop != acp.StopReasonEndTurn {
			_, next, _ := strings.Cut(client.Explain(nil, &client.StopError{Reason: stop}), "\n")
			fmt.Fprintln(c.out, next)
		}
	}
}

// suggest prints the prompts that the agent suggests, if they are one text.
func (c *chat) suggest(list []thread.Suggestion) {
	for _, s := range list[:min(len(list), suggestedAtMost)] {
		if len(s.Prompt) == 1 && s.Prompt[0].Type == thread.BlockText {
			fmt.Fprintln(c.out, "suggested:", safetext.OneLine(s.Prompt[0].Text, shownOfLine))
		}
	}
}

func (c *chat) show(s *thread.Snapshot, item thread.Item) {
	switch item := item.(type) {
	case *thread.Message:
		if item.Role == thread.RoleAgent {
			fmt.Fprintln(c.out, safetext.Lines(item.Text(), shownAtMost))
		}
	case *thread.ToolCall:
		fmt.Fprintf(c.out, "* %s: %s\n", safetext.OneLine(item.Title, shownOfLine), safetext.OneLine(item.Status, shownOfLine))
		output := ""
		for _, content := range item.Content.All() {
			if t := s.Terminal(content.TerminalID); t != nil {
				output += string(t.Output)
			}
		}
		if text := item.Text(); !strings.Contains(output, text) {
			output += text
		}
		for line := range strings.Lines(safetext.Lines(output, shownOfOutput)) {
			fmt.Fprintln(c.out, "  |", strings.TrimSuffix(line, "\n"))
		}
	}
}

func (c *chat) ask(_ context.Context, q *permission.Question) (string, error) {
	for _, line := range q.Lines() {
		fmt.Fprintln(c.out, "?", line) // made to be printed
	}
	if c.yes {
		return q.Pick(permission.AllowOnce), nil
	}
	fmt.Fprintln(c.out, "  denied, because -yes was not given")
	return "", nil
}
