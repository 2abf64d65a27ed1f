// Package reference has an agent and a client that pass all checks. They are built from the parts
// of this module that users build theirs from.
package reference

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/stream"
)

// Prompts are what the agent understands, by the names of prompts of the checks.
var Prompts = map[string]string{
	"text": "#text", "stream": "#stream", "slow": "#slow", "tool": "#tool",
	"ask": "#ask", "read": "#read", "write": "#write", "run": "#run",
}

var noInput = json.RawMessage(`{"type":"object"}`)

// NewAgent returns what serves a connection of the agent, in either version. Its text for #stream
// has a number of lines. It keeps its sessions in memory.
func NewAgent(lines int) func(context.Context, stream.Stream) error {
	silent := slog.New(slog.DiscardHandler) // what the checks send is wrong on purpose
	a := kit.New(&kit.Options{
		Info:  acp.Implementation{Name: "reference", Version: "1"},
		Audio: true, SystemPrompts: []acp.SystemPromptMode{acp.SystemPromptModeAppend},
		Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
			word, _, _ := strings.Cut(acp.PlainText(p.Blocks...), " ")
			do := turns[word]
			if do == nil {
				do = func(ctx context.Context, s *kit.Session) error { return s.Text(ctx, "Done.") }
			}
			if word == "#stream" {
				do = func(ctx context.Context, s *kit.Session) error { return count(ctx, s, lines) }
			}
			return "", do(ctx, s)
		},
		Tools: func(*kit.Session) []tools.Tool {
			done := func(ctx context.Context, c *tools.Call) (tools.Result, error) { return tools.Text("Done."), nil }
			return []tools.Tool{
				{Name: "look", Title: "Look", Kind: acp.ToolKindRead, Effect: tools.Reads, Schema: noInput, Run: done},
				{Name: "change", Title: "Change", Kind: acp.ToolKindEdit, Effect: tools.Writes, Schema: noInput, Run: done},
			}
		},
		Modes:    kit.Modes{{ID: "ask", Name: "Ask"}, {ID: "auto", Name: "Auto"}},
		Settings: kit.Settings{{ID: "model", Name: "Model", Values: []acp.SessionConfigSelectOption{{Value: "small", Name: "Small"}, {Value: "large", Name: "Large"}}}},
		Commands: kit.Commands{
			{Name: "help", Description: "Says what it can do", Run: func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
				return "", s.Text(ctx, "I am checked.")
			}},
		},
		Auth: &kit.Auth{
			Methods: []acp.AuthMethod{
				&acp.AuthMethodAgent{ID: "key", Name: "Key"},
				&acp.AuthMethodTerminal{ID: "login", Name: "Login", Args: []string{"login"}, Env: map[string]string{"MODE": "login"}},
			},
			Ready: func(context.Context) error { return nil },
		},
		Logger: silent,
	})
	return func(ctx context.Context, s stream.Stream) error {
		return serve.Serve(ctx, s, a.Agent, &serve.Options{Logger: silent})
	}
}

// turns are the turns of all prompts except #stream. A turn goes on when the client refuses a
// request.
var turns = map[string]func(ctx context.Context, s *kit.Session) error{
	"#slow": func(ctx context.Context, s *kit.Session) error {
		if err := s.Thought(ctx, "This takes a while."); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	},
	"#tool": func(ctx context.Context, s *kit.Session) error { return call(ctx, s, "look") },
	"#ask":  func(ctx context.Context, s *kit.Session) error { return call(ctx, s, "change") },
	"#read": func(ctx context.Context, s *kit.Session) error {
		return attempt(ctx, s, "fs.readTextFile", func(c *agent.Session) error { _, err := c.ReadFile(ctx, file(s)); return err })
	},
	"#write": func(ctx context.Context, s *kit.Session) error {
		return attempt(ctx, s, "fs.writeTextFile", func(c *agent.Session) error { return c.WriteFile(ctx, file(s), "hello\n") })
	},
	"#run": func(ctx context.Context, s *kit.Session) error {
		return attempt(ctx, s, "terminal", func(c *agent.Session) error {
			_, err := c.RunTerminal(ctx, &acp.CreateTerminalRequest{Command: "true"})
			return err
		})
	},
}

// count sends each line as an update of its own.
func count(ctx context.Context, s *kit.Session, lines int) error {
	for i := range lines {
		if err := s.Update(ctx, &acp.AgentMessageChunk{MessageID: "count", Content: acp.Text(fmt.Sprintf("%d\n", i))}); err != nil {
			return err
		}
	}
	return nil
}

func call(ctx context.Context, s *kit.Session, name string) error {
	if _, err := s.Run(ctx, tools.Request{Name: name}); err != nil {
		return err
	}
	return s.Text(ctx, "Done.")
}

func file(s *kit.Session) string {
	cwd, _ := s.Cwd()
	return filepath.Join(cwd, "acptest.txt")
}

// attempt uses what the client offers, and tells what came of it.
func attempt(ctx context.Context, s *kit.Session, capability string, use func(*agent.Session) error) error {
	if !s.Conn().ClientCapabilities().Has(capability) {
		return s.Text(ctx, "The client does not offer it.")
	}
	if err := use(s.Conn().Session(s.ID())); err != nil && ctx.Err() == nil {
		return s.Text(ctx, "It failed.")
	}
	return s.Text(ctx, "Done.")
}
