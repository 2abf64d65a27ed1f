package agents

import "github.com/acpkit/go-sdk/acp/acptest/internal/check"

var cancelling = []check.Check{
	{ID: "ACP-CANCEL-001", Title: "A turn that is cancelled ends with the stop reason cancelled.", Tier: check.Must, Fact: "4.2", In: check.Both, Prompts: []string{"slow"},
		Run: func(t *check.T) {
			s := open(t)
			from := s.Mark()
			c := s.prompt(t.Prompt("slow"))
			t.Works(func() { s.update(from, "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update") })
			s.Notify("session/cancel", s.with())
			t.Expect("the stop reason cancelled")
			if reason := s.stopReason(c); reason != "cancelled" {
				t.Fail("The turn ended with the stop reason %q.", reason)
			}
		}},
}
