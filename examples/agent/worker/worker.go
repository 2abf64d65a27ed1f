// Package worker is a coding agent without a language model, for the command agent. It
// understands the requests of package plain, and carries them out with the tools of package workspace, in
// sessions of package kit. Put a model where plain.Parse is called.
package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/examples/agent/plain"
)

// auto is the mode that needs no permission, and detail the setting for how much of a result is
// shown.
const auto, detail = "auto", "detail"

// Open returns the agent. It stores its sessions in the folder state. local means that it may use
// the files and commands of this machine if the client has none.
func Open(state string, local bool) (*kit.Agent, error) {
	store, err := journal.OpenFiles(state, nil)
	if err != nil {
		return nil, err
	}
	return kit.New(&kit.Options{
		Info:      acp.Implementation{Name: "acpkit-example-agent", Title: "Example agent", Version: "1.0.0"},
		Store:     store,
		Workspace: &workspace.Options{NoLocal: !local},
		Modes: kit.Modes{
			{ID: "ask", Name: "Ask", Description: "Asks before it changes a file or runs a command."},
			{ID: auto, Name: "Auto", Description: "Changes files and runs commands without asking."},
		},
		Settings: kit.Settings{{
			ID: detail, Name: "Detail", Description: "How much of what it read the agent repeats.",
			Values: []acp.SessionConfigSelectOption{{Value: "brief", Name: "Brief"}, {Value: "full", Name: "Full"}},
		}},
		Commands: kit.Commands{
			{Name: "help", Description: "Lists what the agent understands.", Run: help},
			{Name: "plan", Description: "Carries out several requests by a plan.", Hint: "requests, joined by then", Run: plan},
		},
		Tools: func(s *kit.Session) []tools.Tool { return workspace.Tools(s.Workspace()) },
		Gate: func(s *kit.Session, c *tools.Call) tools.Decision {
			if s.Mode() == auto || c.Effect() == tools.Reads {
				return tools.Allow
			}
			return tools.Ask
		},
		Turn:   turn,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)), // standard output belongs to the protocol
	}), nil
}

// DefaultState returns the folder for the sessions of this user. Files that end in .json in it were
// written by earlier versions of this program; nothing reads or deletes them.
func DefaultState() string {
	if u, err := user.Current(); err == nil && os.Getenv("HOME") == "" { // some editors pass on PATH alone
		os.Setenv("HOME", u.HomeDir)
	}
	dir, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		dir = filepath.Join(os.TempDir(), fmt.Sprint("acpkit-", os.Getuid()))
		log.Printf("There is no folder for sessions (%v), so they are in %s.", err, dir)
	}
	return filepath.Join(dir, "acpkit-example-agent")
}

func help(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
	return "", s.Text(ctx, plain.Usage)
}

func plan(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
	return "", work(ctx, s, "plan: "+p.Args)
}

// turn carries out one prompt: what the user has typed. Attached files are left out, because this
// agent reads files when it is asked to.
func turn(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
	var typed []string
	for _, b := range p.Blocks {
		if text, ok := b.(*acp.TextContent); ok {
			typed = append(typed, text.Text)
		}
	}
	return "", work(ctx, s, strings.Join(typed, "\n"))
}

func work(ctx context.Context, s *kit.Session, prompt string) error {
	prompt = strings.TrimPrefix(strings.TrimSpace(prompt), "/") // commands read like requests
	requests, planned, err := plain.Parse(prompt)
	switch {
	case strings.EqualFold(prompt, "help"), err == nil && len(requests) == 0:
		return s.Text(ctx, plain.Usage)
	case err != nil:
		return s.Text(ctx, "That was "+err.Error()+".\n\n"+plain.Usage)
	case len(requests) == 1 && !planned:
		_, err = carryOut(ctx, s, requests[0])
		return err
	}
	if err := s.Thought(ctx, "That is more than one thing to do, so I make a plan."); err != nil {
		return err
	}
	end, err := plain.Follow(requests,
		func(plan []acp.PlanEntry) error { return s.SendPlan(ctx, plan...) },
		func(r plain.Request) (bool, error) { return carryOut(ctx, s, r) })
	if err != nil {
		return err
	}
	return s.Text(ctx, end)
}

// carryOut runs one request as a tool call, and tells the user the result. An error ends the turn;
// a failed call is not an error.
func carryOut(ctx context.Context, s *kit.Session, r plain.Request) (done bool, err error) {
	call := toolCall(r)
	if !slices.ContainsFunc(s.Tools(), func(t tools.Tool) bool { return t.Name == call.Name }) {
		return false, s.Text(ctx, r.Title()+" did not work: this client does not offer it.\n")
	}
	if r.Verb == plain.Append {
		file, err := s.Workspace().Read(ctx, r.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, s.Text(ctx, r.Title()+" did not work: "+err.Error()+".\n")
		} else if err == nil {
			r.Text = file.Text + r.Text
		}
		call = toolCall(r)
	}
	results, err := s.Run(ctx, call)
	if err != nil {
		return false, err
	}
	said, done := told(r, results[0], s.Setting(detail) == "full")
	return done, s.Text(ctx, said)
}
