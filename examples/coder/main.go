// Command coder is a coding agent for any client of the protocol and any server of chat completions.
package main

import (
	"context"
	"log"
	"os"
	"path/filepath"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/loop/chat"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/stream"
)

func main() {
	demo := flags()
	config, err := os.UserConfigDir()
	if err != nil {
		log.Fatal(err)
	}
	store, err := journal.OpenFiles(filepath.Join(config, "acpkit-coder"), nil)
	if err != nil {
		log.Fatal(err)
	}
	model := chat.New(&chat.Options{BaseURL: os.Getenv("BASE_URL"), Key: os.Getenv("API_KEY"), Model: os.Getenv("MODEL")})
	l := loop.New(model, &loop.Options{System: func(s *kit.Session) string {
		cwd, _ := s.Cwd()
		return "You are a coding agent in " + cwd + ". Look at the files before you change them, make small edits, and run the tests. Be brief."
	}})
	o := &kit.Options{
		Info:     acp.Implementation{Name: "acpkit-coder", Version: "1"},
		Store:    store,
		Auth:     model.Auth(),
		Modes:    kit.Modes{{ID: "ask", Name: "Ask first"}, {ID: "auto", Name: "Just do it"}},
		Settings: kit.Settings{model.Setting()},
		Commands: kit.Commands{{Name: "compact", Description: "Summarize the conversation", Run: l.Compact}},
		Tools:    func(s *kit.Session) []tools.Tool { return append(workspace.Tools(s.Workspace()), s.TodoTool()) },
		Gate: func(s *kit.Session, c *tools.Call) tools.Decision {
			if s.Mode() == "auto" || c.Effect() == tools.Reads {
				return tools.Allow
			}
			return tools.Ask
		},
		Turn:          l.Turn,
		SystemPrompts: loop.SystemPrompts(),
	}
	if demo {
		play(o)
	}
	a := kit.New(o)
	stream.EndOnSignal(&stream.SignalOptions{Before: a.Close})
	if err := a.Serve(context.Background(), stream.Stdio()); err != nil {
		log.Fatal(err)
	}
}
