package agents

import (
	"time"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
)

// How long an agent may take to end: without work, and with a turn that must be stored.
const (
	endTime     = 5 * time.Second
	busyEndTime = 10 * time.Second
)

var starting = []check.Check{
	{ID: "ACP-TRANSPORT-001", Title: "Nothing but messages is sent, such as a banner or a log.", Tier: check.Must, Fact: "6.1", In: check.Both, Passive: "message"},
	{ID: "ACP-TRANSPORT-002", Title: "All messages are UTF-8.", Tier: check.Must, Fact: "6.1", In: check.Both, Over: check.Bytes, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			for _, m := range s.Since(0) {
				t.FailAtIf(!utf8.Valid(m.Raw), m, "The message is not UTF-8.")
			}
		})},
	{ID: "ACP-SHUTDOWN-001", Title: "The agent ends within 5 s of the end of its input.", Tier: check.Should, Fact: "4.5", In: check.Both, Over: check.Bytes,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			p.CloseInput()
			t.FailIf(!p.Ends(endTime), "The agent was running %v after the end of its input.", endTime)
		})},
	{ID: "AK-START-001", Title: "The agent ends within 10 s of the end of its input also if a turn runs.", Tier: check.Should, Fact: "4.5", In: check.Both, Over: check.Bytes, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			s.CloseInput()
			t.FailIf(!s.Ends(busyEndTime), "The agent was running %v after the end of its input.", busyEndTime)
		})},
	{ID: "AK-START-002", Title: "The agent waits for the processes that it has started, and none is left when it has ended.", Tier: check.Should, Fact: "4.5", In: check.Both, Over: check.Bytes, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			left, known := s.Left()
			t.SkipIf(!known, "It is not known which processes such a peer has started.")
			t.FailIf(left, "The agent has not waited for a process that has ended.")
			s.CloseInput()
			t.Requires(s.Ends(busyEndTime), "The agent did not end with its input.")
			left, _ = s.Left()
			t.FailIf(left, "Processes that the agent has started are still running.")
		})},
}
