package agents

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

var version2 = []check.Check{
	{ID: "ACP-PROMPT-201", Title: "The response to a prompt has the id of its message, while the turn still runs.", Tier: check.Must, Fact: "prompt-turn", In: check.V2, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			m := s.call.Result()
			t.FailAtIf(check.At(m.Result, "messageId") == nil, m, "There is no messageId.")
		})},
	{ID: "ACP-PROMPT-203", Title: "The prompt comes back as a message with its id, before the turn ends.", Tier: check.Must, Fact: "prompt-turn", In: check.V2, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			m, idle := s.call.Result(), s.state(s.call.From(), "idle")
			for _, u := range kinds(s.Since(s.call.From()), "user_message", "user_message_chunk") {
				if u.Text("update", "messageId") == m.Text("messageId") && u.Seq < idle.Seq {
					return
				}
			}
			t.FailAt(m, "No message of the user has the id %q.", m.Text("messageId"))
		})},
	{ID: "ACP-PATCH-203", Title: "Each prompt has an id of its own.", Tier: check.Must, Fact: "tool-calls", In: check.V2, Prompts: []string{"text", "text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			m, again := s.call.Result(), s.prompt(t.Prompt("text")).Result()
			t.FailAtIf(m.Text("messageId") == again.Text("messageId"), again, "Two prompts have the id %q.", m.Text("messageId"))
		})},
	{ID: "ACP-STATE-201", Title: "A session is running before it becomes idle.", Tier: check.Must, Fact: "prompt-turn", In: check.V2, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			idle := s.state(s.call.From(), "idle")
			if !slices.ContainsFunc(s.Since(s.call.From()), func(m check.Message) bool {
				return s.is(&m, "state_update") && m.Text("update", "state") == "running" && m.Seq < idle.Seq
			}) {
				t.FailAt(idle, "The session became idle without having been running.")
			}
		})},
	{ID: "AK-STATE-001", Title: "An agent that reports background work does so in each state of a session, and announces it before.", Tier: check.Must, Fact: "prompt-turn", In: check.V2, Passive: "background"},
	{ID: "AK-INSERT-001", Title: "Prompts become messages in the order in which they were sent, without one that was withdrawn.", Tier: check.Must, Fact: "prompt-turn", In: check.V2, Prompts: []string{"stream", "text", "text", "text"},
		Run: check.With(open, func(t *check.T, s *session) {
			calls := []*check.Call{s.prompt(t.Prompt("stream"))}
			for range 3 {
				calls = append(calls, s.prompt(t.Prompt("text")))
			}
			s.Notify("$/cancel_request", map[string]any{"requestId": json.RawMessage(calls[2].ID)})
			var wanted []string
			for i, c := range calls {
				m := c.Response()
				if m.Error != nil && i == 2 {
					fails(t, m, -32800)
					continue
				}
				t.Requires(m.Error == nil || m.Error.Code == -32800, "The agent refused a prompt while a turn ran, or at all.")
				if m.Error != nil {
					t.FailAt(m, "A prompt that was not withdrawn failed with %d (%s).", m.Error.Code, m.Error.Message)
				}
				wanted = append(wanted, m.Text("messageId"))
				s.echo(calls[0], m)
			}
			echoed := messageIDs(s.Since(calls[0].From()), "user")
			t.FailIf(!slices.Equal(wanted, echoed), "The messages are %q, and the prompts were %q.", echoed, wanted)
		})},
	{ID: "AK-INSERT-002", Title: "session/cancel withdraws the prompts that wait, with the error -32800.", Tier: check.Must, Fact: "prompt-turn", In: check.V2, Prompts: []string{"slow", "text"},
		Run: check.With(working, func(t *check.T, s *session) {
			waiting := s.prompt(t.Prompt("text"))
			s.Quiet(s.Mark())
			s.cancel()
			t.Works(func() { s.stopReason(s.call) })
			if m := waiting.Response(); m.Error != nil { // an agent may insert a prompt into the turn
				fails(t, m, -32800)
			}
		})},
	{ID: "ACP-PATCH-208", Title: "The first update of a tool call has a title.", Tier: check.Interop, Fact: "tool-calls", In: check.V2, Prompts: []string{"tool"},
		Run: check.With(open, func(t *check.T, s *session) {
			seen := map[string]bool{}
			log := kinds(s.turn("tool"), "tool_call_update")
			t.Requires(len(log) > 0, "The agent called no tool.")
			for _, m := range log {
				id := m.Text("update", "toolCallId")
				t.FailAtIf(!seen[id] && m.Text("update", "title") == "", m, "The tool call %q has no title.", id)
				seen[id] = true
			}
		})},
	{ID: "ACP-PATCH-209", Title: "A session that asks for permission has the state requires_action.", Tier: check.Interop, Fact: "tool-calls", In: check.V2, Prompts: []string{"ask"},
		Run: check.With(asking, func(t *check.T, s *session) {
			_, ok := s.Arrives(s.call.From(), func(m *check.Message) bool { return m.Text("update", "state") == "requires_action" })
			t.FailAtIf(!ok, s.question, "The state was not reported.")
			s.Answer(s.question, reject(s.question))
		})},
	{ID: "AK-PERM-008", Title: "A permission request that a cancel makes void is cancelled with $/cancel_request.", Tier: check.Should, Fact: "tool-calls#requesting-permission", In: check.V2, Prompts: []string{"ask"},
		Run: check.With(asking, func(t *check.T, s *session) {
			s.cancel()
			m, ok := s.Arrives(s.question.Seq, func(m *check.Message) bool {
				return m.Method == "$/cancel_request" && string(check.At(m.Params, "requestId")) == string(s.question.ID)
			})
			t.FailAtIf(!ok, s.question, "The question was not cancelled.")
			s.Answer(m, cancelled)
		})},
	{ID: "ACP-ENUM-201", Title: "The kinds and the states of tool calls are known, or begin with an underscore.", Tier: check.Interop, Fact: "schema", In: check.V2, Prompts: []string{"tool"},
		Run: check.With(open, func(t *check.T, s *session) {
			for _, m := range kinds(s.turn("tool"), "tool_call_update") {
				for member, words := range map[string]string{
					"status": " pending in_progress paused completed failed cancelled ",
					"kind":   " read edit delete move search execute think fetch switch_mode other ",
				} {
					if word := m.Text("update", member); word != "" && word[0] != '_' && !strings.Contains(words, " "+word+" ") {
						t.FailAt(m, "The %s %q is not of the protocol.", member, word)
					}
				}
			}
		})},
	{ID: "AK-CANCEL-008", Title: "A tool call and a terminal that do not exist cannot be cancelled: -32602.", Tier: check.Must, Fact: "prompt-turn#cancellation", In: check.V2, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			fails(t, s.Call("tool_call/cancel", s.with("toolCallId", "acptest-none")), -32602)
			fails(t, s.Call("terminal/cancel", s.with("terminalId", "acptest-none")), -32602)
		})},
}
