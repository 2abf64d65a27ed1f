// Package chatserver is a server of chat completions for tests. Its model does what the prompts say:
//
//	read FILE, write FILE: TEXT, append to FILE: TEXT, edit FILE: replace "A" with "B", search "A", run COMMAND, wait
//
// joined with ", then ". It makes one call an answer, and checks each request as strict servers do. It
// knows the tools of examples/coder, and those of other agents that run a command.
package chatserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Server is one model.
type Server struct {
	URL string // for BASE_URL

	// AnyRoles, set before the first request, lets roles follow each other as they like: other
	// agents ask for titles and suggestions in ways that not all templates take.
	AnyRoles bool

	mu      sync.Mutex
	faults  []string
	seen    int
	aborted int
}

type message struct {
	Role       string   `json:"role"`
	Content    *content `json:"content"`
	ToolCallID string   `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// content is a text, or the texts of parts.
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = content(text)
		return nil
	}
	var parts []struct{ Text string }
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		*c += content(p.Text) + "\n"
	}
	return nil
}

// prompt returns the last line that asks for a call, or all of the text.
func (c content) prompt() string {
	prompt := string(c)
	for line := range strings.Lines(prompt) {
		line = strings.TrimSpace(line)
		first, _, _ := strings.Cut(line, next)
		if name, _ := call(first); name != "" {
			prompt = line
		}
	}
	return prompt
}

// next joins the steps of a prompt.
const next = ", then "

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":[{"id":"scripted"}]}`) })
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = server.URL + "/v1"
	return s
}

// Faults returns what was wrong with the requests, and how many there were.
func (s *Server) Faults() (faults []string, requests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults, s.seen
}

// Aborted returns how many of the answers to "wait" the agent has aborted. They have no end.
func (s *Server) Aborted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.aborted
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []message
		Tools    []struct{ Function struct{ Name string } }
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the agent was killed
	}
	fault := ""
	if err := json.Unmarshal(body, &req); err != nil {
		fault = err.Error()
	} else {
		fault = check(req.Messages, s.AnyRoles)
	}
	s.mu.Lock()
	s.seen++
	if fault != "" {
		s.faults = append(s.faults, fault)
	}
	s.mu.Unlock()
	if fault != "" {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, fault)
		return
	}
	prompt, made := "", 0
	for _, m := range req.Messages {
		switch m.Role {
		case "user":
			prompt, made = m.Content.prompt(), 0
		case "tool":
			made++
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(choice string, args ...any) {
		fmt.Fprintf(w, "data: {\"choices\":[%s]}\n\n", fmt.Sprintf(choice, args...))
		w.(http.Flusher).Flush()
	}
	text := func(text string) { send(`{"delta":{"content":%q}}`, text) }
	end := func(reason string) {
		send(`{"delta":{},"finish_reason":%q}`, reason)
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
	steps := strings.Split(prompt, next)
	if made >= len(steps) {
		text("I have read: ")
		text(string(*req.Messages[len(req.Messages)-1].Content))
		end("stop")
		return
	}
	name, input := call(steps[made])
	for _, t := range req.Tools {
		if name == runCommand && slices.Contains(runs, t.Function.Name) {
			name = t.Function.Name
		}
	}
	if name == "" || len(req.Tools) == 0 {
		text("I say ")
		text("nothing more.")
		if steps[made] == "wait" {
			<-r.Context().Done()
			s.mu.Lock()
			s.aborted++
			s.mu.Unlock()
			return
		}
		end("stop")
		return
	}
	arguments, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	text("I do ")
	text("step " + fmt.Sprint(made+1) + ". ")
	half := len(arguments) / 2
	send(`{"delta":{"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":%q,"arguments":%q}}]}}`, len(req.Messages), name, arguments[:half])
	send(`{"delta":{"tool_calls":[{"index":0,"function":{"arguments":%q}}]}}`, arguments[half:])
	end("tool_calls")
}

// check returns what is wrong with a conversation: each call has one result, right behind it, and
// apart from calls and results the person and the model speak in turn, as templates of Mistral and
// Gemma want it.
func check(messages []message, anyRoles bool) string {
	open := map[string]bool{}
	speaker := "assistant"
	for i, m := range messages {
		switch {
		case m.Role == "tool" && !open[m.ToolCallID]:
			return fmt.Sprintf("message %d is the result of %q, which is not open", i, m.ToolCallID)
		case m.Role == "tool":
			delete(open, m.ToolCallID)
		case len(open) > 0:
			return fmt.Sprintf("message %d comes before the results of %v", i, open)
		case m.Role == "user" && m.Content == nil, m.Role == "assistant" && m.Content == nil && len(m.ToolCalls) == 0:
			return fmt.Sprintf("message %d has no content", i)
		}
		if m.Role == "user" || m.Role == "assistant" && len(m.ToolCalls) == 0 {
			if m.Role == speaker && !anyRoles {
				return fmt.Sprintf("message %d: conversation roles must alternate user/assistant", i)
			}
			speaker = m.Role
		}
		for _, c := range m.ToolCalls {
			if open[c.ID] || !json.Valid([]byte(c.Function.Arguments)) {
				return fmt.Sprintf("the call %q of message %d is not valid", c.ID, i)
			}
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("there are no results of %v", open)
	}
	return ""
}

// runs are the names of the tool that runs a command, of goose, opencode and qwen-code.
var runs = []string{"shell", "bash", "run_shell_command"}

const runCommand = "run_command"

var commands = []struct {
	pattern *regexp.Regexp
	name    string
	input   func(g []string) any
}{
	{regexp.MustCompile(`^read (\S+)$`), "read_file", func(g []string) any { return map[string]any{"path": g[1]} }},
	{regexp.MustCompile(`^write (\S+): (.*)$`), "write_file", func(g []string) any { return map[string]any{"path": g[1], "text": g[2]} }},
	{regexp.MustCompile(`^append to (\S+): (.*)$`), runCommand, func(g []string) any { return map[string]any{"command": "echo '" + g[2] + "' >> " + g[1]} }},
	{regexp.MustCompile(`^edit (\S+): replace "(.*)" with "(.*)"$`), "edit_file", func(g []string) any {
		return map[string]any{"path": g[1], "edits": []any{map[string]any{"old": g[2], "new": g[3]}}}
	}},
	{regexp.MustCompile(`^search "(.*)"$`), "search", func(g []string) any { return map[string]any{"pattern": g[1]} }},
	{regexp.MustCompile(`^run (.*)$`), runCommand, func(g []string) any { return map[string]any{"command": g[1]} }},
}

// call returns the call of a step, and "" if there is none.
func call(step string) (name string, input any) {
	for _, c := range commands {
		if g := c.pattern.FindStringSubmatch(step); g != nil {
			return c.name, c.input(g)
		}
	}
	return "", nil
}
