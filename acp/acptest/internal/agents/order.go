package agents

import (
	"slices"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
)

// streamed is how many numbers the text of the prompt stream must have for its order to be judged.
const streamed = 50

var ordering = []check.Check{
	{ID: "AK-ORDER-002", Title: "The pieces of a long text arrive in their order.", Tier: check.Must, Fact: "1.5.4", In: check.Both, Prompts: []string{"stream"},
		Run: func(t *check.T) {
			var numbers []int
			s := open(t)
			log := s.turn("stream")
			for line := range strings.Lines(said(log, "agent")) {
				if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
					numbers = append(numbers, n)
				}
			}
			t.Requires(len(numbers) >= streamed, "The agent did not count: its text has %d numbers. Give a text that makes it count by -prompt stream=TEXT, or by Options.Prompts in a Go test.", len(numbers))
			if !slices.IsSorted(numbers) {
				t.FailAt(kinds(log, spoken...)[0], "The numbers that the agent was asked to count arrived in another order.")
			}
		}},
	{ID: "AK-ORDER-003", Title: "No message and no tool call comes after the end of the turn.", Tier: check.Should, Fact: "4.4", In: check.V2, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			silent(t, s.afterIdle(), "after the idle state", spoken...)
		})},
	{ID: "ACP-CANCEL-002", Title: "No message and no tool call comes after the end of a cancelled turn.", Tier: check.Must, Fact: "4.2", In: check.Both, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			s.cancel()
			t.Works(func() { s.stopReason(s.call) })
			silent(t, s.afterIdle(), "after the end of the cancelled turn", spoken...)
		})},
}

// afterIdle returns what comes after the end of a turn that has just ended, until further work
// begins.
func (s *session) afterIdle() (late []check.Message) {
	s.Quiet(s.Mark())
	for _, m := range slices.Backward(s.Since(0)) {
		if m.IsResponse() && s.t.Version == 1 {
			break
		}
		if s.is(&m, "state_update") {
			if m.Text("update", "state") != "idle" {
				return nil
			}
			break
		}
		late = append(late, m)
	}
	slices.Reverse(late)
	return late
}
