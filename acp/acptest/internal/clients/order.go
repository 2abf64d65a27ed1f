package clients

import (
	"fmt"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
)

var order = []check.Check{
	{ID: "AKC-ORDER-001", Title: "A flood of updates is borne.", Tier: check.Must, Fact: "10.2", In: check.Both,
		Run: func(t *check.T) {
			t.Wait *= 5 // a flood is much work
			s := open(t)
			for i := range t.Amount(10_000, 60) {
				s.text(fmt.Sprintf("%d ", i))
			}
			s.survives()
		}},
	{ID: "AKC-ORDER-002", Title: "Updates and content of unknown kinds are ignored.", Tier: check.Must, Fact: "2.2", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			s.update("_acptest", "value", 1)
			s.update("acptest_future", "value", object("deep", nil))
			s.update("agent_message_chunk", "messageId", "m", "content", object("type", "acptest", "data", 1))
			s.update("agent_message_chunk", "messageId", "m", "content", "not a block")
			s.update("tool_call_update", "toolCallId", "acptest-call", "status", "acptest", "kind", 7, "content", []any{object("type", "acptest")})
			s.Notify("session/update", s.with())
			s.survives()
		})},
	{ID: "AKC-ORDER-003", Title: "Updates of a session that the client does not know are ignored.", Tier: check.Must, Fact: "8.8", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			other := &session{Peer: s.Peer, t: t, id: "acptest-unknown"}
			other.text("Who reads this?")
			other.update("state_update", "state", "idle")
			s.survives()
		})},
	{ID: "AKC-ORDER-004", Title: "Updates that precede the response to session/new are borne.", Tier: check.Interop, Fact: "10.1", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			s := &session{Peer: until(t, "session/new"), t: t, id: sessionID}
			t.Works(func() {
				s.update("available_commands_update", "availableCommands", []any{object("type", "command", "name", "acptest", "description", "Check")})
				s.text("Before the session.")
				s.Answer(s.Await(0, "session/new", is("session/new")), object("sessionId", sessionID))
			})
			s.survives()
		}},
	{ID: "AKC-ORDER-005", Title: "Updates that follow the end of a turn are borne.", Tier: check.Must, Fact: "1.5.5", In: check.Both, Rough: true, Prompts: []string{"text"},
		Run: check.With(open, func(t *check.T, s *session) {
			s.endTurn()
			s.text("One more thing.")
			s.update("session_info_update", "title", "Late")
			s.update("usage_update", "used", 1, "size", 2)
			s.survives()
		})},
	{ID: "AKC-ORDER-006", Title: "A tool call may begin with its update, and members may be null.", Tier: check.Must, Fact: "8.5", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			s.update("tool_call_update", "toolCallId", "acptest-late", "title", nil, "kind", nil, "status", "completed", "content", nil, "_meta", nil)
			s.survives()
		})},
}
