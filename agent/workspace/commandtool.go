package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
)

// commandTimeout is how long a command may take if the model does not say.
const commandTimeout = 2 * time.Minute

type commandInput struct {
	Command string   `json:"command" description:"a line for the shell, or a program if there are args" validate:"required"`
	Args    []string `json:"args,omitempty" description:"the arguments of the program, which no shell reads"`
	Cwd     string   `json:"cwd,omitempty" description:"the folder to run it in, absolute or relative to the working folder"`
	Timeout uint32   `json:"timeout,omitempty" description:"seconds until it is stopped, 120 if it is absent" validate:"max=3600"`
}

func (in commandInput) command() Command {
	c := Command{Command: in.Command, Args: in.Args, Cwd: in.Cwd, Timeout: time.Duration(in.Timeout) * time.Second}
	if in.Timeout == 0 {
		c.Timeout = commandTimeout
	}
	return c
}

func (w *Workspace) commandTool() tools.Tool {
	t := tools.Typed("run_command", "Runs a command and returns the end of its output. It gets no input, and what it leaves running is stopped.",
		func(ctx context.Context, c *tools.Call, in commandInput) (tools.Result, error) {
			return w.runTool(ctx, c, in.command())
		})
	t.Title, t.Kind, t.Effect = "Run a command", acp.ToolKindExecute, tools.Executes
	t.Describe = describe(func(_ context.Context, in commandInput) tools.Summary {
		c := in.command()
		line := strings.Join(append([]string{in.Command}, in.Args...), " ")
		s := tools.Summary{Title: oneLine(line)}
		cwd, argv, err := w.exact(&c)
		if err != nil {
			s.Err = err
			return s
		}
		if s.Input, err = json.Marshal(map[string]any{"command": argv[0], "args": argv[1:], "cwd": cwd}); err != nil {
			s.Err = err // not possible with strings
		}
		label := "`" + line + "` in this session"
		if cwd != w.roots[0] {
			label = "`" + line + "` in " + w.short(cwd) + " in this session"
		}
		if plain(line) && plain(label) {
			s.Rule = &tools.Rule{What: string(s.Input), Label: label}
		}
		return s
	})
	return t
}

func (w *Workspace) runTool(ctx context.Context, c *tools.Call, cmd Command) (tools.Result, error) {
	atClient := w.offers().commands // whose terminal is shown
	res, err := w.Run(ctx, cmd, c)
	if res == nil {
		return tools.Result{}, err
	}
	text := res.Output
	if res.Truncated {
		text = "[the beginning is left out]\n" + text
	}
	switch {
	case res.TimedOut:
		text += fmt.Sprintf("\n[it was stopped after %v]", cmd.Timeout)
	case err != nil:
		text += "\n[it was stopped]"
	case res.ExitCode != nil:
		text += fmt.Sprintf("\n[exit code %d]", *res.ExitCode)
	case res.Signal != "":
		text += "\n[ended by " + res.Signal + "]"
	}
	text = strings.TrimPrefix(text, "\n")
	if err != nil {
		if !atClient {
			_ = c.Show(ctx, acp.ToolText(text)) // err is the reason
		}
		return tools.Result{}, err
	}
	r := tools.Text(text)
	if atClient {
		r.Content = []acp.ToolCallContent{}
	}
	r.Raw = map[string]any{"exitCode": res.ExitCode, "signal": res.Signal, "truncated": res.Truncated, "timedOut": res.TimedOut}
	return r, nil
}
