package agents

import (
	"strings"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
)

// The lengths of a long line and of a long prompt, in bytes, and what tests use in their place.
const (
	longLine, shortLine     = 32 << 20, 64 << 10
	longPrompt, shortPrompt = 1 << 20, 2 << 10
)

var sizes = []check.Check{
	{ID: "AK-SIZE-001", Title: "A prompt of 1 MiB is read.", Tier: check.Should, Fact: "6.1", In: check.Both, Prompts: []string{"text"},
		Run: check.With(open, func(t *check.T, s *session) {
			params := s.with("prompt", []any{textBlock(t.Prompt("text"))}, "_meta", filled(t.Amount(longPrompt, shortPrompt))) // a model does not read it
			s.endsWell(s.Start("session/prompt", params), "error")
		})},
	{ID: "AK-SIZE-002", Title: "A line of 32 MiB is read.", Tier: check.Interop, Fact: "6.1", In: check.Both, Over: check.Bytes,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			p.Call("_acptest/ping", filled(t.Amount(longLine, shortLine)-len(`{"id":2,"jsonrpc":"2.0","method":"_acptest/ping","params":{"acptest":""}}`+"\n")))
			p.Alive()
		})},
}

// filled returns params with a member of a size.
func filled(bytes int) map[string]any { return map[string]any{"acptest": strings.Repeat("x", bytes)} }
