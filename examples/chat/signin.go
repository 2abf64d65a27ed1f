package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/signin"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// signIn returns how the user can sign in: by a call, by variables, and on the terminal if there is one.
func (c *chat) signIn() *signin.Options {
	o := &signin.Options{Choose: c.chooseWay, Show: c.showCommand, Variables: c.askVariables}
	if c.console.tty != nil {
		o.Command = func() *exec.Cmd { return c.command(context.Background()) }
	}
	return o
}

// chooseWay takes the way that -auth names, or asks the user.
func (c *chat) chooseWay(ctx context.Context, required error, ways []signin.Way) (acp.AuthMethodID, error) {
	defer c.hold()()
	c.signing = true
	reason := oneLine(rpcerr.Explain(required)) // so that it is no line of chat
	if id := acp.AuthMethodID(c.settings.auth); id != "" {
		i := slices.IndexFunc(ways, func(w signin.Way) bool { return w.ID == id })
		switch {
		case c.authUsed:
			return "", &explained{fmt.Sprintf("you signed in with -auth %s, and the agent still asks for it: %s\nTry another way:%s", id, reason, c.list(ways)), nil}
		case i < 0:
			return "", &explained{fmt.Sprintf("the agent offers no way %q to sign in that can be used here\nUse one of these:%s", id, c.list(ways)), nil}
		}
		c.authUsed = true
		if ways[i].Command == "" { // an id is no consent to a program that the agent names: it is shown first
			c.announce(&ways[i])
			return id, nil
		}
	}
	c.screen.note("The agent asks you to sign in: " + reason)
	for i, w := range ways {
		way := fmt.Sprintf("  %d %s", i+1, c.describe(&w)) // with the command that would run
		c.screen.whole(plain, len(way), way)
	}
	n, err := c.number(ctx, len(ways))
	if err != nil {
		return "", &explained{"the agent asks you to sign in: " + reason + "\nRun chat again in one of these ways:" + c.list(ways), err}
	}
	c.announce(&ways[n])
	return ways[n].ID, nil
}

func (c *chat) announce(w *signin.Way) {
	if w.Kind == signin.KindAgent {
		c.screen.note("Waiting for the agent to sign you in. It may have opened a page in your browser. Ctrl-C cancels.")
	}
}

func (c *chat) showCommand(_ context.Context, _ *signin.Way, line string) error {
	line = "Now: run " + line
	c.screen.whole(plain, len(line), line)
	return nil
}

func (c *chat) list(ways []signin.Way) string {
	var b strings.Builder
	for _, w := range ways {
		fmt.Fprintf(&b, "\n  -auth %s    %s", oneLine(string(w.ID)), c.describe(&w))
	}
	return b.String()
}

func (c *chat) describe(w *signin.Way) string {
	text := oneLine(w.Name)
	if w.Description != "" {
		text += " (" + oneLine(w.Description) + ")"
	}
	if how := w.Instruction(strings.Join(c.settings.argv(), " ")); how != "" {
		text += ": " + safetext.OneLine(how, len(how)) // never cut, so that a person sees all of a command
	}
	return text
}

func (c *chat) askVariables(ctx context.Context, w *signin.Way) (map[string]string, error) {
	defer c.hold()()
	if w.Link != "" {
		c.screen.note("You get the value at " + w.Link)
	}
	values := map[string]string{}
	for _, v := range w.Variables {
		prompt := v.Name
		if v.Label != "" {
			prompt = v.Label + " (" + v.Name + ")"
		}
		if v.Optional {
			prompt += ", may be empty"
		}
		value, err := c.lines.next(ctx, question{prompt: oneLine(prompt) + ": ", secret: v.Secret})
		if err != nil {
			return nil, &explained{"the agent needs variables: " + oneLine(w.Instruction("")) + ", and start chat again", err}
		}
		values[v.Name] = strings.TrimSpace(value)
	}
	return values, nil
}

func (c *chat) restarted(restart *host.RestartError) {
	if restart.Way.Kind == signin.KindAgent { // the call itself was not enough
		c.screen.note("Signed in, but the agent still asks for it: " + rpcerr.Explain(restart.Err) + ". It is started again.")
	} else {
		c.screen.note("Signed in. The agent is started again.")
	}
}

func oneLine(text string) string { return safetext.OneLine(text, shownOfLine) }
