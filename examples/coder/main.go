// Command coder is a coding agent for any client of the protocol and any server of chat completions.
package main

import (
	"context"
	"log"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/loop/chat"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/stream"
)

// extend, if not nil, changes the options. demo.go sets it, for the flags -demo and -env.
var extend func(*kit.Options)

func main() {
	log.SetFlags(0)
	model := chat.New(&chat.Options{BaseURL: os.Getenv("BASE_URL"), Key: key(), Model: os.Getenv("MODEL")})
	l := loop.New(model, &loop.Options{System: func(s *kit.Session) string {
		cwd, _ := s.Cwd()
		return "You are a coding agent in " + cwd + ". Look at the files before you change them, make small edits, and run the tests. Be brief."
	}})
	o := &kit.Options{
		Info:      acp.Implementation{Name: "acpkit-coder", Version: "1"},
		Auth:      model.Auth(),
		Images:    model.Images,
		Modes:     kit.Modes{{ID: "ask", Name: "Ask first"}, {ID: "auto", Name: "Just do it"}},
		Settings:  kit.Settings{model.Setting()},
		Commands:  kit.Commands{{Name: "compact", Description: "Summarize the conversation", Run: l.Compact}},
		Workspace: &workspace.Options{Inherit: []string{"HOME", "SSH_AUTH_SOCK", "*_PROXY", "*_proxy"}},
		Tools:     func(s *kit.Session) []tools.Tool { return append(workspace.Tools(s.Workspace()), s.TodoTool()) },
		Gate: func(s *kit.Session, c *tools.Call) tools.Decision {
			if s.Mode() == "auto" || c.Effect() == tools.Reads {
				return tools.Allow
			}
			return tools.Ask
		},
		Turn:          l.Turn,
		SystemPrompts: loop.SystemPrompts(),
	}
	if extend != nil {
		extend(o)
	}
	if o.Store == nil {
		o.Store = store()
	}
	a := kit.New(o)
	stream.EndOnSignal(&stream.SignalOptions{Before: a.Close})
	if err := a.Serve(context.Background(), stream.Stdio()); err != nil {
		log.Fatal(err)
	}
}

// key returns the key of the server: API_KEY, or the text of the file that API_KEY_FILE names, which
// commands do not find in the environment of their parent.
func key() string {
	file := os.Getenv("API_KEY_FILE")
	if file == "" {
		return os.Getenv("API_KEY")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		log.Fatalf("API_KEY_FILE cannot be read: %v", err)
	}
	return strings.TrimSpace(string(text))
}

// store opens the sessions in the user's configuration folder, or in a temporary one.
func store() journal.Store {
	if u, err := user.Current(); err == nil && os.Getenv("HOME") == "" {
		os.Setenv("HOME", u.HomeDir) // for commands too
	}
	config, err := os.UserConfigDir()
	if err == nil {
		var files *journal.Files
		if files, err = journal.OpenFiles(filepath.Join(config, "acpkit-coder"), nil); err == nil {
			return files
		}
	}
	dir, tempErr := os.MkdirTemp("", "acpkit-coder-")
	if tempErr != nil {
		log.Fatal(tempErr)
	}
	log.Printf("There is no folder for sessions (%v), so they are in %s.", err, dir)
	files, err := journal.OpenFiles(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	return files
}
