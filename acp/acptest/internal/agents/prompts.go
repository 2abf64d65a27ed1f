package agents

import "github.com/acpkit/go-sdk/acp/acptest/internal/check"

var prompts = []check.Check{
	{ID: "ACP-PROMPT-001", Title: "A prompt with text ends with a stop reason.", Tier: check.Must, Fact: "1.1", In: check.Both, Prompts: []string{"text"},
		Run: func(t *check.T) {
			s := open(t)
			if reason := s.stopReason(s.prompt(t.Prompt("text"))); reason == "" {
				t.Fail("The turn ended without a stop reason.")
			}
		}},
}
