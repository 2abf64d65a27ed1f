package agents

import "github.com/acpkit/go-sdk/acp/acptest/internal/check"

var cancelling = []check.Check{
	{ID: "ACP-CANCEL-001", Title: "A turn that is cancelled ends with the stop reason cancelled.", Tier: check.Must, Fact: "4.2", In: check.Both, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			s.cancel()
			s.isCancelled(s.call)
		})},
	{ID: "AK-CANCEL-001", Title: "A cancel right behind its prompt ends the turn.", Tier: check.Must, Fact: "10.1.4", In: check.Both, Prompts: []string{"slow"},
		Run: check.With(open, func(t *check.T, s *session) {
			c := s.prompt(t.Prompt("slow"))
			s.cancel()
			if m := c.Response(); t.Version == 2 && m.Error != nil { // it was withdrawn before it was inserted
				fails(t, m, -32800)
				return
			}
			s.isCancelled(c)
		})},
	{ID: "AK-CANCEL-002", Title: "A cancel while text is sent ends the turn.", Tier: check.Must, Fact: "4.2", In: check.Both, Prompts: []string{"stream"},
		Run: check.With(open, func(t *check.T, s *session) {
			s.works("stream")
			s.cancel()
			if reason := s.stopReason(s.call); reason != "cancelled" && reason != "end_turn" { // it may have ended before
				t.Fail("The turn ended with the stop reason %q.", reason)
			}
		})},
	{ID: "AK-CANCEL-003", Title: "A second cancel changes nothing.", Tier: check.Must, Fact: "4.2", In: check.Both, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			s.cancel()
			s.cancel()
			s.isCancelled(s.call)
			s.cancel()
			s.Alive()
		})},
	{ID: "AK-CANCEL-004", Title: "A cancel when no turn runs does not reach the next turn.", Tier: check.Must, Fact: "4.2", In: check.Both, Prompts: []string{"text"},
		Run: check.With(open, func(t *check.T, s *session) {
			s.cancel()
			s.Quiet(s.Mark())
			s.notCancelled()
		})},
	{ID: "AK-CANCEL-005", Title: "After a turn that was cancelled there are further ones.", Tier: check.Must, Fact: "4.2", In: check.Both, Prompts: []string{"slow", "text"},
		Run: check.With(working, func(t *check.T, s *session) {
			s.cancel()
			t.Works(func() { s.stopReason(s.call) })
			s.notCancelled()
		})},
	{ID: "AK-CANCEL-006", Title: "A cancel of an unknown session is ignored.", Tier: check.Must, Fact: "4.2", In: check.Both, Rough: true,
		Run: check.With(unknown, func(t *check.T, s *session) {
			from := s.Mark()
			s.cancel()
			s.Unanswered(from)
			s.Alive()
		})},
	{ID: "AK-CANCEL-007", Title: "A prompt that is sent behind a cancel is not cancelled by it.", Tier: check.Should, Fact: "4.4", In: check.V2, Prompts: []string{"slow", "text"},
		Run: check.With(working, func(t *check.T, s *session) {
			s.cancel()
			s.notCancelled()
		})},
}

func (s *session) isCancelled(c *check.Call) {
	s.t.Expect("the stop reason cancelled")
	reason := s.stopReason(c)
	s.t.FailIf(reason != "cancelled", "The turn ended with the stop reason %q.", reason)
}

// notCancelled fails the check if a turn that nobody cancels is cancelled.
func (s *session) notCancelled() {
	c := s.prompt(s.t.Prompt("text"))
	from := c.From()
	m := c.Result()
	reason := m.Text("stopReason")
	if s.t.Version == 2 { // the idle state of an earlier turn may come first
		s.Await(from, "the state running", func(u *check.Message) bool {
			if s.is(u, "user_message", "user_message_chunk") && u.Text("update", "messageId") == m.Text("messageId") {
				from = u.Seq
			}
			return from != c.From()
		})
		idle := s.state(from, "idle")
		reason = idle.Text("update", "stopReason")
	}
	s.ended(reason, "cancelled")
}
