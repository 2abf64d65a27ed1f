// Package models plays language models for agents that are checked: servers on the loopback
// interface whose answers follow from marks in the prompt. So agents call tools, ask for permission
// and are cancelled as a check needs it, without a key and without cost.
package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Prompts make an agent do something when its model is a [Server], by the names of prompts of the
// checks.
var Prompts = map[string]string{
	"text": "#text", "stream": "#stream", "slow": "#slow", "tool": "#write",
	"ask": "#write", "read": "#read", "write": "#write", "run": "#run",
}

// The size and the pace of long answers.
const (
	streamed = 200
	pace     = 20 * time.Millisecond
	slowFor  = 30 * time.Second
)

// Server is a model.
type Server struct {
	// Env are the variables, as NAME=VALUE, by which known agents reach the model.
	Env []string

	url    string
	home   string
	server *http.Server
	served chan struct{} // closed when the server has ended
}

// Kinds are the protocols of models: messages, chat completions and responses. A server speaks them
// all, because some agents choose by the name of the model. The kind decides about the variables.
var Kinds = []string{"anthropic", "openai", "responses"}

// model is the name of the model. Agents in use know the size of its context; Codex warns its user of a
// name that its own list of models does not have, which in 0.166 begins with this one.
const model = "gpt-5.5"

// Start starts a model that speaks a protocol: anthropic (messages), openai (chat completions) or
// responses.
func Start(kind string) (*Server, error) {
	if !slices.Contains(Kinds, kind) {
		return nil, fmt.Errorf("there is no model %q: the models are anthropic, openai and responses", kind)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", anthropic)
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"input_tokens": 10})
	})
	mux.HandleFunc("POST /v1/chat/completions", chat)
	mux.HandleFunc("POST /v1/responses", responses)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"object": "list", "data": []any{map[string]any{"id": model, "object": "model"}}})
	})
	s := &Server{url: "http://" + listener.Addr().String(), server: &http.Server{Handler: mux}, served: make(chan struct{})}
	if s.home, err = os.MkdirTemp("", "acptest-home-"); err == nil {
		s.Env, err = environment(kind, s.home, s.url)
	}
	if err != nil {
		return nil, errors.Join(err, listener.Close(), os.RemoveAll(s.home))
	}
	go func() { // ends with Close
		defer close(s.served)
		_ = s.server.Serve(listener)
	}()
	return s, nil
}

// Close ends the server and removes the home folder of the agents.
func (s *Server) Close() error {
	err := s.server.Close()
	<-s.served
	return errors.Join(err, os.RemoveAll(s.home))
}

// message is a message of a conversation. It has what all protocols have in common.
type message struct {
	user bool
	tool bool // the result of a tool call
	text string
}

// tool is a tool that the agent offers to the model.
type tool struct {
	name   string
	schema schema
}

type schema struct {
	Type       any               `json:"type"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Enum       []any             `json:"enum"`
	Items      *schema           `json:"items"`
}

// turn is what the model does: it says text, in pieces, and then calls a tool if there is one.
type turn struct {
	text  func(ctx context.Context, say func(string))
	call  *tool
	input string
}

func says(text string) *turn {
	return &turn{text: func(_ context.Context, say func(string)) { say(text) }}
}

var mark = regexp.MustCompile(`#(text|stream|slow|read|write|run)\b`)

// folder is in the prompts of agents that name their folder.
var folder = regexp.MustCompile(`(?i)(?:working directory|current directory|working in the directory|cwd)[^/\n]{0,40}(/[^\s"'<>` + "`" + `]+)`)

// next decides what the model does. all is the conversation, with the instructions as its first
// message.
func next(all []message, tools []tool) *turn {
	word := ""
	for i := len(all) - 1; i >= 0 && word == ""; i-- {
		if all[i].tool {
			return says("Done.")
		}
		if found := mark.FindAllStringSubmatch(all[i].text, -1); all[i].user && found != nil {
			word = found[len(found)-1][1]
		}
	}
	switch word {
	case "stream":
		return &turn{text: func(_ context.Context, say func(string)) {
			for i := range streamed {
				say(fmt.Sprintf("%d\n", i))
			}
		}}
	case "slow":
		return &turn{text: func(ctx context.Context, say func(string)) {
			for i := range int(slowFor / pace) {
				say(fmt.Sprintf("%d\n", i))
				select {
				case <-ctx.Done():
					return
				case <-time.After(pace):
				}
			}
		}}
	case "read", "write", "run":
		if t := choose(word, tools); t != nil {
			cwd := "."
			for _, m := range all {
				if found := folder.FindStringSubmatch(m.text); found != nil {
					cwd = strings.TrimRight(found[1], "/.")
				}
			}
			return &turn{text: func(context.Context, func(string)) {}, call: t, input: fill(word, t, cwd)}
		}
		return says("There is no tool for it.")
	}
	return says("Done.")
}

// toolNames are the names of tools in use, best first.
var toolNames = map[string][]string{
	"read":  {"Read", "read", "read_file", "developer__text_editor", "text_editor", "view", "mcp__acp__Read"},
	"write": {"Write", "write", "write_file", "edit_file", "developer__text_editor", "text_editor", "mcp__acp__Write", "bash", "shell", "exec_command", "shell_command", "local_shell"},
	"run":   {"Bash", "bash", "run_shell_command", "run_command", "developer__shell", "shell", "exec_command", "shell_command", "run", "execute", "mcp__acp__Bash"},
}

func choose(word string, tools []tool) *tool {
	for _, name := range toolNames[word] {
		if i := slices.IndexFunc(tools, func(t tool) bool { return t.name == name }); i >= 0 {
			return &tools[i]
		}
	}
	return nil
}

// fill returns the input of a call, as JSON.
func fill(word string, t *tool, cwd string) string {
	file := cwd + "/acptest.txt"
	command := "echo acptest"
	if word == "write" {
		command = "echo acptest > acptest.txt"
	}
	known := map[string]any{
		"file_path": file, "path": file, "filePath": file, "absolute_path": file,
		"content": "acptest\n", "file_text": "acptest\n", "text": "acptest\n",
		"command": command, "cmd": command, "description": "a check",
		"sandbox_permissions": "require_escalated", "justification": "a check", // what makes codex ask
	}
	input := map[string]any{}
	for name, p := range t.schema.Properties {
		required := slices.Contains(t.schema.Required, name)
		value, ok := known[name]
		switch {
		case ok && p.Type == "array": // a command in words
			input[name] = []string{"bash", "-c", command}
		case name == "command" && len(p.Enum) > 0: // an editor with several commands
			input[name] = map[string]string{"read": "view", "write": "write"}[word]
		case ok && (required || name != "description"):
			input[name] = value
		case required:
			input[name] = example(p)
		}
	}
	b, _ := json.Marshal(input) // values of these types cannot fail
	return string(b)
}

// example returns a value that a schema allows.
func example(p schema) any {
	if len(p.Enum) > 0 {
		return p.Enum[0]
	}
	switch p.Type {
	case "boolean":
		return false
	case "integer", "number":
		return 1
	case "array":
		return []any{}
	case "object":
		return map[string]any{}
	}
	return "acptest"
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the agent may be gone
}

// events writes events of an answer that is streamed.
type events struct {
	w     http.ResponseWriter
	named bool // events have a name, which is their type
}

func newEvents(w http.ResponseWriter, named bool) *events {
	w.Header().Set("Content-Type", "text/event-stream")
	return &events{w, named}
}

func (e *events) send(v map[string]any) {
	b, _ := json.Marshal(v) // values of these types cannot fail
	if e.named {
		fmt.Fprintf(e.w, "event: %s\n", v["type"])
	}
	fmt.Fprintf(e.w, "data: %s\n\n", b)
	e.w.(http.Flusher).Flush()
}

// texts joins the texts of a content, which is a string or a list of parts.
func texts(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(raw, &parts) // no list has no texts
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text + "\n")
	}
	return b.String()
}

// newID returns an id that no other answer has.
func newID(prefix string) string { return fmt.Sprintf("%s_%d", prefix, time.Now().UnixNano()) }
