package agents

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

var permission = []check.Check{
	{ID: "ACP-PERM-201", Title: "A permission request offers options with ids of their own, one to allow and one to reject.", Tier: check.Must, Fact: "tool-calls#requesting-permission", In: check.Both, Prompts: []string{"ask"},
		Run: check.With(asking, func(t *check.T, s *session) {
			var ids, kinds []string
			for _, option := range check.Get[[]struct{ OptionID, Kind string }](&s.question, "options") {
				t.FailAtIf(slices.Contains(ids, option.OptionID), s.question, "Two options have the id %q.", option.OptionID)
				kind, _, _ := strings.Cut(option.Kind, "_")
				ids, kinds = append(ids, option.OptionID), append(kinds, kind)
			}
			complete := slices.Contains(kinds, "allow") && slices.Contains(kinds, "reject")
			t.FailAtIf(!complete, s.question, "There is no option to allow, or none to reject.")
			s.Answer(s.question, allow(s.question))
		})},
	{ID: "AK-PERM-001", Title: "A turn goes on when permission was given.", Tier: check.Must, Fact: "tool-calls#requesting-permission", In: check.Both, Prompts: []string{"ask"},
		Run: check.With(asking, func(t *check.T, s *session) {
			s.Answer(s.question, allow(s.question))
			s.endsWell(s.call, "cancelled")
		})},
	{ID: "AK-PERM-002", Title: "A turn ends when permission was rejected, and the tool call does not succeed.", Tier: check.Must, Fact: "tool-calls#requesting-permission", In: check.Both, Prompts: []string{"ask"},
		Run: refused(reject)},
	{ID: "AK-PERM-003", Title: "A turn ends when the question was cancelled, and the tool call does not succeed.", Tier: check.Must, Fact: "tool-calls#requesting-permission", In: check.Both, Prompts: []string{"ask"},
		Run: refused(func(check.Message) any { return cancelled })},
	{ID: "AK-PERM-004", Title: "A turn ends when the question has failed, and the tool call does not succeed.", Tier: check.Must, Fact: "tool-calls#requesting-permission", In: check.Both, Prompts: []string{"ask"},
		Run: refused(func(check.Message) any { return &check.Error{Code: -32603, Message: "Internal error"} })},
	{ID: "AK-PERM-005", Title: "An option that was not offered does not allow a tool call.", Tier: check.Must, Fact: "tool-calls#requesting-permission", In: check.Both, Prompts: []string{"ask"}, Rough: true,
		Run: refused(func(check.Message) any { return selected("acptest-no-such-option") })},
	{ID: "AK-PERM-010", Title: "An answer that does not choose an option does not allow a tool call.", Tier: check.Must, Fact: "tool-calls#requesting-permission", In: check.Both, Prompts: []string{"ask", "ask", "ask"}, Rough: true,
		Run: check.With(asking, func(t *check.T, s *session) {
			for i, outcome := range []string{"cancelled", "_acptest", ""} {
				if i > 0 {
					s.Handle("session/request_permission", func(check.Message) any { return check.NoAnswer })
					s.provoke("ask", "session/request_permission")
				}
				answer := map[string]any{}
				if id := check.At(encode(allow(s.question)), "outcome", "optionId"); outcome != "" && id != nil {
					answer["outcome"] = map[string]any{"outcome": outcome, "optionId": id}
				}
				s.Handle("session/request_permission", reject)
				s.Answer(s.question, answer)
				t.Expect("the end of the turn")
				s.ends(s.call)
				s.notCompleted()
			}
		})},
	{ID: "AK-PERM-006", Title: "A turn that is cancelled while permission is asked for ends with the stop reason cancelled.", Tier: check.Must, Fact: "tool-calls#requesting-permission", In: check.Both, Prompts: []string{"ask"},
		Run: check.With(asking, func(t *check.T, s *session) {
			s.cancel()
			s.Answer(s.question, cancelled)
			s.isCancelled(s.call)
		})},
	{ID: "AK-PERM-007", Title: "A permission that comes after the turn was cancelled is not used.", Tier: check.Must, Fact: "tool-calls#requesting-permission", In: check.Both, Prompts: []string{"ask"}, Rough: true,
		Run: check.With(asking, func(t *check.T, s *session) {
			s.cancel()
			s.Quiet(s.Mark())
			s.Answer(s.question, allow(s.question))
			t.Works(func() { s.ends(s.call) })
			s.notCompleted()
			s.Alive()
		})},
	{ID: "AK-PERM-009", Title: "Two sessions may ask at the same time, and each gets the answer to its own question.", Tier: check.Must, Fact: "tool-calls#requesting-permission", In: check.Both, Prompts: []string{"ask", "ask"},
		Run: check.With(asking, func(t *check.T, s *session) {
			other := start(t, s.Peer)
			other.provoke("ask", "session/request_permission")
			t.Requires(string(s.question.ID) != string(other.question.ID), "Both questions have the id %s, which is the subject of another check.", s.question.ID)
			s.Handle("session/request_permission", allow) // further ones
			other.Answer(other.question, allow(other.question))
			other.endsWell(other.call, "cancelled")
			s.Handle("session/request_permission", reject)
			s.Answer(s.question, reject(s.question))
			t.Expect("the end of the turn")
			s.ends(s.call)
			s.notCompleted()
		})},
}

func encode(v any) json.RawMessage {
	b, _ := json.Marshal(v) // a check has made it
	return b
}

// asking starts a session whose agent asks for permission. The check answers the question.
func asking(t *check.T) *session {
	s := open(t)
	s.Handle("session/request_permission", func(check.Message) any { return check.NoAnswer })
	s.provoke("ask", "session/request_permission")
	return s
}

// refused returns a check of an answer that does not allow the tool call. Further questions of the
// turn are rejected.
func refused(answer check.Handler) func(*check.T) {
	return check.With(asking, func(t *check.T, s *session) {
		s.Handle("session/request_permission", reject)
		s.Answer(s.question, answer(s.question))
		t.Expect("the end of the turn")
		s.ends(s.call)
		s.notCompleted()
	})
}

// notCompleted fails the check if the tool call that the question was about has succeeded.
func (s *session) notCompleted() {
	id := s.question.Text("toolCall", "toolCallId")
	if s.t.Version == 2 {
		id = s.question.Text("subject", "toolCall", "toolCallId")
	}
	for _, m := range s.Quiet(s.call.From()) {
		completed := m.Text("update", "toolCallId") == id && id != "" && m.Text("update", "status") == "completed"
		s.t.FailAtIf(completed, m, "The tool call has succeeded without permission.")
	}
}
