package agents

import (
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
)

var permission = []check.Check{
	{ID: "ACP-PERM-201", Title: "A permission request offers options with ids of their own, one to allow and one to reject.", Tier: check.Must, Fact: "8.5", In: check.Both, Prompts: []string{"ask"},
		Run: func(t *check.T) {
			s, _, asked := asking(t)
			var ids, kinds []string
			for _, option := range check.Get[[]struct{ OptionID, Kind string }](&asked, "options") {
				if slices.Contains(ids, option.OptionID) || option.OptionID == "" {
					t.FailAt(asked, "The id %q of an option is empty, or that of another one.", option.OptionID)
				}
				kind, _, _ := strings.Cut(option.Kind, "_")
				ids, kinds = append(ids, option.OptionID), append(kinds, kind)
			}
			if !slices.Contains(kinds, "allow") || !slices.Contains(kinds, "reject") {
				t.FailAt(asked, "There is no option to allow, or none to reject.")
			}
			s.Answer(asked, allow(asked))
		}},
	{ID: "AK-PERM-001", Title: "A turn goes on when permission was given.", Tier: check.Must, Fact: "8.5", In: check.Both, Prompts: []string{"ask"},
		Run: func(t *check.T) {
			s, c, asked := asking(t)
			s.Answer(asked, allow(asked))
			if reason := s.stopReason(c); !s.ended(reason) || reason == "cancelled" {
				t.Fail("The turn ended with the stop reason %q.", reason)
			}
		}},
	{ID: "AK-PERM-002", Title: "A turn ends when permission was rejected, and the tool call does not succeed.", Tier: check.Must, Fact: "8.5", In: check.Both, Prompts: []string{"ask"},
		Run: refused(func(s *session, asked check.Message) { s.Answer(asked, reject(asked)) })},
	{ID: "AK-PERM-003", Title: "A turn ends when the question was cancelled, and the tool call does not succeed.", Tier: check.Must, Fact: "8.5", In: check.Both, Prompts: []string{"ask"},
		Run: refused(func(s *session, asked check.Message) { s.Answer(asked, cancelled) })},
	{ID: "AK-PERM-004", Title: "A turn ends when the question has failed, and the tool call does not succeed.", Tier: check.Must, Fact: "10.5.37", In: check.Both, Prompts: []string{"ask"},
		Run: refused(func(s *session, asked check.Message) {
			s.Answer(asked, &check.Error{Code: -32603, Message: "Internal error"})
		})},
	{ID: "AK-PERM-005", Title: "An option that was not offered does not allow a tool call.", Tier: check.Must, Fact: "10.5.37", In: check.Both, Prompts: []string{"ask"}, Rough: true,
		Run: refused(func(s *session, asked check.Message) { s.Answer(asked, selected("acptest-no-such-option")) })},
	{ID: "AK-PERM-006", Title: "A turn that is cancelled while permission is asked for ends with the stop reason cancelled.", Tier: check.Must, Fact: "4.2", In: check.Both, Prompts: []string{"ask"},
		Run: func(t *check.T) {
			s, c, asked := asking(t)
			s.cancel()
			s.Answer(asked, cancelled)
			s.isCancelled(c)
		}},
	{ID: "AK-PERM-007", Title: "A permission that comes after the turn was cancelled is not used.", Tier: check.Must, Fact: "4.2", In: check.Both, Prompts: []string{"ask"}, Rough: true,
		Run: func(t *check.T) {
			s, c, asked := asking(t)
			s.cancel()
			s.Quiet(s.Mark())
			s.Answer(asked, allow(asked))
			t.Works(func() { s.ends(c) })
			s.notCompleted(asked, c.From())
			s.Alive()
		}},
}

// asking starts a session whose agent asks for permission, and returns the question. It is answered
// by the check.
func asking(t *check.T) (*session, *check.Call, check.Message) {
	s := open(t)
	s.Handle("session/request_permission", func(check.Message) any { return check.NoAnswer })
	c := s.prompt(t.Prompt("ask"))
	asked, ok := s.request(c, "session/request_permission")
	t.Requires(ok, "The agent did not ask for permission.")
	return s, c, asked
}

// refused returns a check of an answer that does not allow the tool call. Further questions of the
// turn are rejected.
func refused(answer func(s *session, asked check.Message)) func(*check.T) {
	return func(t *check.T) {
		s, c, asked := asking(t)
		s.Handle("session/request_permission", reject)
		answer(s, asked)
		t.Expect("the end of the turn")
		s.ends(c)
		s.notCompleted(asked, c.From())
	}
}

// notCompleted fails the check if the tool call that a question was about has succeeded.
func (s *session) notCompleted(asked check.Message, from int) {
	id := asked.Text("toolCall", "toolCallId")
	if s.t.Version == 2 {
		id = asked.Text("subject", "toolCall", "toolCallId")
	}
	for _, m := range s.Quiet(from) {
		if m.Text("update", "toolCallId") == id && id != "" && m.Text("update", "status") == "completed" {
			s.t.FailAt(m, "The tool call has succeeded without permission.")
		}
	}
}
