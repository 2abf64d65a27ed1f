package agents

import (
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

var clientSide = []check.Check{
	{ID: "AK-FILE-001", Title: "A file is read by an absolute path, and the turn goes on with its text.", Tier: check.Must, Fact: "file-system", In: check.V1, Prompts: []string{"read"},
		Run: served("fs/read_text_file", "read", map[string]any{"content": "hello\n"})},
	{ID: "AK-FILE-002", Title: "A turn goes on when a file cannot be read.", Tier: check.Should, Fact: "file-system", In: check.V1, Prompts: []string{"read"},
		Run: served("fs/read_text_file", "read", notFound)},
	{ID: "AK-FILE-003", Title: "A file is written by an absolute path, and the turn goes on.", Tier: check.Must, Fact: "file-system", In: check.V1, Prompts: []string{"write"},
		Run: served("fs/write_text_file", "write", map[string]any{})},
	{ID: "AK-FILE-004", Title: "A turn goes on when a file cannot be written.", Tier: check.Should, Fact: "file-system", In: check.V1, Prompts: []string{"write"},
		Run: served("fs/write_text_file", "write", &check.Error{Code: -32603, Message: "The disk is full"})},
	{ID: "ACP-CLIENTCAP-001", Title: "An agent reads no files of a client that has none.", Tier: check.Must, Fact: "initialization#client-capabilities", In: check.V1, Prompts: []string{"read"},
		Run: unused("read", "fs/read_text_file")},
	{ID: "AK-FILE-005", Title: "An agent writes no files of a client that has none.", Tier: check.Must, Fact: "file-system", In: check.V1, Prompts: []string{"write"},
		Run: unused("write", "fs/write_text_file")},
	{ID: "ACP-CLIENTCAP-002", Title: "An agent runs nothing on a client that has no terminals.", Tier: check.Must, Fact: "initialization#client-capabilities", In: check.V1, Prompts: []string{"run"},
		Run: unused("run", "terminal/create")},
	{ID: "AK-FILE-006", Title: "A file is not written if permission was refused.", Tier: check.Must, Fact: "tool-calls#requesting-permission", In: check.V1, Prompts: []string{"write"},
		Run: check.With(open, func(t *check.T, s *session) {
			s.Handle("session/request_permission", reject)
			c := s.prompt(t.Prompt("write"))
			t.Works(func() { s.ends(c) })
			log := s.Since(c.From())
			asked := slices.IndexFunc(log, func(m check.Message) bool { return m.Method == "session/request_permission" })
			t.SkipIf(asked < 0, "The agent asks for no permission to write.")
			for _, m := range log[asked:] {
				t.FailAtIf(m.Method == "fs/write_text_file", m, "The file was written though permission was refused.")
			}
		})},
	{ID: "AK-TERMINAL-001", Title: "A terminal is released once, and not used after that.", Tier: check.Must, Fact: "terminals", In: check.V1, Prompts: []string{"run"},
		Run: func(t *check.T) { released(open(t), false) }},
	{ID: "AK-TERMINAL-002", Title: "A terminal is released also if waiting for its end fails.", Tier: check.Must, Fact: "terminals", In: check.V1, Prompts: []string{"run"},
		Run: func(t *check.T) {
			released(start(t, serving(t, &check.Error{Code: -32603, Message: "The terminal is broken"})), false)
		}},
	{ID: "AK-TERMINAL-003", Title: "A terminal is released also if the turn is cancelled while its command runs.", Tier: check.Must, Fact: "terminals", In: check.V1, Prompts: []string{"run"},
		Run: func(t *check.T) { released(start(t, serving(t, check.NoAnswer)), true) }},
	{ID: "AK-TERMINAL-004", Title: "A turn goes on when a command cannot be started.", Tier: check.Should, Fact: "terminals", In: check.V1, Prompts: []string{"run"},
		Run: check.With(open, func(t *check.T, s *session) {
			s.Handle("terminal/create", func(check.Message) any { return &check.Error{Code: -32603, Message: "There is no such command"} })
			s.goesOnAfter("run", "terminal/create")
		})},
}

var notFound = &check.Error{Code: -32002, Message: "Resource not found"}

// goesOnAfter sends a prompt that makes the agent send a request, and waits for the end of the turn.
func (s *session) goesOnAfter(name, method string) {
	s.provoke(name, method)
	s.t.Expect("the end of the turn")
	s.endsWell(s.call, "cancelled")
}

// served returns a check of a request for a file, which is answered with answer.
func served(method, name string, answer any) func(*check.T) {
	return check.With(open, func(t *check.T, s *session) {
		s.Handle(method, func(check.Message) any { return answer })
		s.goesOnAfter(name, method)
		path := s.question.Text("path")
		right := check.Absolute.MatchString(path) && s.question.Text("sessionId") == s.id
		t.FailAtIf(!right, s.question, "The path %q is not absolute, or the session is another one.", path)
	})
}

// unused returns a check that a client without a capability gets no request of a method: neither one that
// has none, nor one that has all others.
func unused(name, method string) func(*check.T) {
	return func(t *check.T) {
		others := map[string]any{
			"fs":       map[string]any{"readTextFile": name != "read", "writeTextFile": name != "write"},
			"terminal": name != "run",
		}
		for _, caps := range []map[string]any{{}, others} {
			params := initParams(t.Version)
			params["clientCapabilities"] = caps
			p := beginAs(t, params)
			p.Handle("session/request_permission", allow)
			p.Handle("fs/read_text_file", func(check.Message) any { return notFound })
			p.Handle("fs/write_text_file", func(check.Message) any { return map[string]any{} })
			s := start(t, p)
			m, ok := s.request(s.prompt(t.Prompt(name)), method)
			t.FailAtIf(ok, m, "%s was sent to a client that does not offer it.", method)
		}
	}
}

// released fails the check if a terminal of a turn is not released once, or used later. With cancel
// the turn is cancelled while the agent waits for the command.
func released(s *session, cancel bool) {
	s.provoke("run", "terminal/create")
	if cancel {
		s.t.Works(func() {
			s.Await(s.call.From(), "the wait for the command", func(m *check.Message) bool {
				return slices.Contains([]string{"terminal/wait_for_exit", "terminal/output"}, m.Method)
			})
		})
		s.cancel()
	}
	s.ends(s.call)
	s.Arrives(s.call.From(), func(m *check.Message) bool { return m.Method == "terminal/release" }) // it may come after the turn
	releases, made := 0, 0
	s.t.Expect("one terminal/release for each terminal/create")
	for _, m := range s.Quiet(s.call.From()) {
		switch {
		case m.Method == "terminal/create":
			made++
		case m.Method == "terminal/release":
			releases++
			s.t.FailAtIf(releases > made, m, "The terminal was released twice.")
		case strings.HasPrefix(m.Method, "terminal/") && releases == made:
			s.t.FailAt(m, "The terminal was used after it was released.")
		}
	}
	s.t.FailAtIf(releases < made, s.question, "The terminal was not released.")
}
