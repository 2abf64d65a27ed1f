package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
)

// commandTimeout is how many seconds a command may take if the model does not say.
const commandTimeout = 120

type commandInput struct {
	Command string `json:"command" description:"a line for the shell" validate:"required"`
	Cwd     string `json:"cwd,omitempty" description:"the folder to run it in, absolute or relative to the working folder"`
	Timeout uint32 `json:"timeout,omitempty" description:"seconds until it is stopped, 120 if it is absent" validate:"max=3600"`
}

func (w *Workspace) commandTool() tools.Tool {
	return tool("run_command", "Run a command", acp.ToolKindExecute, tools.Executes,
		"Runs a command and returns the end of its output. It gets no input, and what it leaves running is stopped.",
		func(_ context.Context, in commandInput) tools.Summary {
			s := tools.Summary{Title: oneLine(in.Command)}
			cwd, argv, err := w.exact(Command{Line: in.Command, Cwd: in.Cwd})
			if err != nil {
				s.Err = err
				return s
			}
			s.Input, s.Err = json.Marshal(map[string]any{"command": argv[0], "args": argv[1:], "cwd": cwd})
			label := "`" + in.Command + "`"
			if cwd != w.roots[0] {
				label += " in " + w.short(cwd)
			}
			if plain(label) && !strings.Contains(in.Command, "`") { // else the label could mislead
				s.Rule = &tools.Rule{What: string(s.Input), Label: label + " in this session"}
			}
			return s
		}, w.runTool)
}

func (w *Workspace) runTool(ctx context.Context, c *tools.Call, in commandInput) (tools.Result, error) {
	atClient := w.offers().commands // whose terminal is shown
	timeout := time.Duration(cmp.Or(in.Timeout, commandTimeout)) * time.Second
	res, err := w.Run(ctx, Command{in.Command, in.Cwd, timeout}, c)
	if res == nil {
		return tools.Result{}, err
	}
	text := res.Output
	if res.Truncated {
		text = "[the beginning is left out]\n" + text
	}
	switch {
	case res.TimedOut:
		text += fmt.Sprintf("\n[it was stopped after %v]", timeout)
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
