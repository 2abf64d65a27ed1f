package agents

import (
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// png is an image of one pixel, and wav is a sound of one sample.
const (
	png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="
)

var prompts = []check.Check{
	{ID: "ACP-PROMPT-001", Title: "A prompt with text ends with a stop reason of the protocol.", Tier: check.Must, Fact: "prompt-turn", In: check.Both, Prompts: []string{"text"},
		Run: check.With(open, func(t *check.T, s *session) {
			reason := s.stopReason(s.prompt(t.Prompt("text")))
			known := slices.Contains([]string{"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"}, reason) ||
				t.Version == 2 && (reason == "" || reason == "error" || strings.HasPrefix(reason, "_"))
			t.FailAtIf(!known, s.end, "The turn ended with the stop reason %q, which the protocol does not know.", reason)
		})},
	{ID: "AK-PROMPT-003", Title: "A prompt with text gets text.", Tier: check.Should, Fact: "prompt-turn", In: check.Both, Prompts: []string{"text"},
		Run: check.With(open, func(t *check.T, s *session) {
			t.FailIf(words(said(s.turn("text"), "agent")) == "", "The turn ended without a message of the agent.")
		})},
	{ID: "AK-PROMPT-001", Title: "A session has one turn after the other.", Tier: check.Must, Fact: "prompt-turn", In: check.Both, Prompts: []string{"text", "text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			t.Expect("the end of a second turn")
			s.endsWell(s.prompt(t.Prompt("text")))
		})},
	{ID: "AK-PROMPT-002", Title: "A prompt that comes while a turn runs is answered, be it with an error.", Tier: check.Must, Fact: "prompt-turn", In: check.Both, Prompts: []string{"slow", "text"},
		Run: check.With(working, func(t *check.T, s *session) {
			second := s.prompt(t.Prompt("text"))
			s.Quiet(s.Mark())
			s.cancel()
			s.ends(s.call)
			s.AwaitTurn(second.From(), "a response to the second prompt", second.IsResponse, true)
		})},
	{ID: "ACP-PROMPT-003", Title: "A link to a file may be part of each prompt.", Tier: check.Must, Fact: "prompt-turn", In: check.Both, Prompts: []string{"text"},
		Run: accepts(map[string]any{"type": "resource_link", "uri": "file:///acptest.txt", "name": "acptest.txt"})},
	{ID: "ACP-PROMPTCAP-001", Title: "An agent that takes images takes an image.", Tier: check.Must, Fact: "content", In: check.Both, Prompts: []string{"text"}, Needs: "promptCapabilities.image | session.prompt.image",
		Run: accepts(map[string]any{"type": "image", "mimeType": "image/png", "data": png})},
	{ID: "ACP-PROMPTCAP-002", Title: "An agent that takes audio takes a sound.", Tier: check.Must, Fact: "content", In: check.Both, Prompts: []string{"text"}, Needs: "promptCapabilities.audio | session.prompt.audio",
		Run: accepts(map[string]any{"type": "audio", "mimeType": "audio/wav", "data": wav})},
	{ID: "ACP-PROMPTCAP-003", Title: "An agent that takes embedded files takes a text.", Tier: check.Must, Fact: "content", In: check.Both, Prompts: []string{"text"}, Needs: "promptCapabilities.embeddedContext | session.prompt.embeddedContext",
		Run: accepts(map[string]any{"type": "resource", "resource": map[string]any{"uri": "file:///acptest.txt", "text": "hello", "mimeType": "text/plain"}})},
	{ID: "AK-PROMPT-004", Title: "A prompt without content fails with -32602.", Tier: check.Must, Fact: "prompt-turn", In: check.V2, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			fails(t, s.Call("session/prompt", s.with("prompt", []any{})), -32602)
		})},
}

// accepts returns a check that a prompt with a block is not refused. The answer of the model to it
// is not judged.
func accepts(block map[string]any) func(*check.T) {
	return check.With(open, func(t *check.T, s *session) {
		c := s.prompt(t.Prompt("text"), block)
		m := c.Response()
		if m.Error != nil && (m.Error.Code == -32602 || m.Error.Code == -32600) {
			t.FailAt(m, "The prompt failed with %d (%s).", m.Error.Code, m.Error.Message)
		}
		t.Works(func() { s.stopReason(c) })
	})
}

// The lengths of a long line and of a long prompt, in bytes, and what tests use in their place.
const (
	longLine, shortLine     = 32 << 20, 64 << 10
	longPrompt, shortPrompt = 1 << 20, 2 << 10
)

var sizes = []check.Check{
	{ID: "AK-SIZE-001", Title: "A prompt of 1 MiB is read.", Tier: check.Should, Fact: "transports", In: check.Both, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			params := s.with("prompt", []any{textBlock(t.Prompt("text"))}, "_meta", filled(t.Amount(longPrompt, shortPrompt))) // a model does not read it
			s.endsWell(s.Start("session/prompt", params), "error")
		})},
	{ID: "AK-SIZE-002", Title: "A line of 32 MiB is read.", Tier: check.Interop, Fact: "transports", In: check.Both, Over: check.Bytes,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			p.Call(t.Probe.Method, filled(t.Amount(longLine, shortLine)-len(`{"id":2,"jsonrpc":"2.0","method":"_acptest/ping","params":{"acptest":""}}`+"\n")))
			p.Alive()
		})},
}

func filled(bytes int) map[string]any { return map[string]any{"acptest": strings.Repeat("x", bytes)} }
