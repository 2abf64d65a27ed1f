package clients

import (
	"fmt"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
)

var order = []check.Check{
	{ID: "AKC-ORDER-001", Title: "A flood of updates is borne.", Tier: check.Must, Fact: "10.2", In: check.Both,
		Run: func(t *check.T) {
			t.Patient()
			s := open(t)
			for i := range t.Amount(10_000, 60) {
				s.text(fmt.Sprintf("%d ", i))
			}
			s.survives()
		}},
	{ID: "AKC-ORDER-002", Title: "Updates and content of unknown kinds are ignored.", Tier: check.Must, Fact: "2.2", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			s := open(t)
			s.update("_acptest", "value", 1)
			s.update("acptest_future", "value", object("deep", nil))
			s.update("agent_message_chunk", "messageId", "m", "content", object("type", "acptest", "data", 1))
			s.update("agent_message_chunk", "messageId", "m", "content", "not a block")
			s.update("tool_call_update", "toolCallId", "acptest-call", "status", "acptest", "kind", 7, "content", []any{object("type", "acptest")})
			s.Notify("session/update", s.with())
			s.survives()
		}},
	{ID: "AKC-ORDER-003", Title: "Updates of a session that the client does not know are ignored.", Tier: check.Must, Fact: "8.8", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			s := open(t)
			other := &session{Peer: s.Peer, t: t, id: "acptest-unknown"}
			other.text("Who reads this?")
			other.update("state_update", "state", "idle")
			s.survives()
		}},
	{ID: "AKC-ORDER-004", Title: "Updates that precede the response to session/new are borne.", Tier: check.Interop, Fact: "10.1", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			early := &session{t: t, id: sessionID}
			answers := handlers(t.Version)
			answers["session/new"] = func(check.Message) any { return check.NoAnswer }
			t.Works(func() {
				early.Peer = accept(t, answers)
				m := early.Await(0, "session/new", is("session/new"))
				early.update("available_commands_update", "availableCommands", []any{object("type", "command", "name", "acptest", "description", "Check")})
				early.text("Before the session.")
				early.Answer(m, object("sessionId", sessionID))
			})
			early.survives()
		}},
	{ID: "AKC-ORDER-005", Title: "Updates that follow the end of a turn are borne.", Tier: check.Must, Fact: "1.5.5", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			s := prompted(t)
			s.endTurn()
			s.text("One more thing.")
			s.update("session_info_update", "title", "Late")
			s.update("usage_update", "used", 1, "size", 2)
			s.survives()
		}},
	{ID: "AKC-ORDER-006", Title: "A tool call may begin with its update, and members may be null.", Tier: check.Must, Fact: "8.5", In: check.Both,
		Run: func(t *check.T) {
			s := open(t)
			s.update("tool_call_update", "toolCallId", "acptest-late", "title", nil, "kind", nil, "status", "completed", "content", nil, "_meta", nil)
			s.survives()
		}},
}
