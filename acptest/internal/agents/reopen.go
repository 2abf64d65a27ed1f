package agents

import (
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// What version 1 calls session/load is session/resume with replayFrom in version 2.
const loads = "loadSession | session"

var reopening = []check.Check{
	{ID: "AK-LOAD-004", Title: "A session that is opened again shows what the agent and the user have said, once.", Tier: check.Must, Fact: "8.8", In: check.Both, Needs: loads, Prompts: []string{"text"},
		Run: check.With(open, func(t *check.T, s *session) {
			live := words(said(s.turn("text"), "agent"))
			t.Requires(live != "", "The agent has said nothing.")
			history, m := s.reopen(true)
			replayed, typed := words(said(history, "agent")), words(said(history, "user"))
			t.Expect("the text of the agent: " + live)
			t.FailAtIf(!strings.Contains(replayed, live), m, "The history does not have what the agent has said, but %.200q.", replayed)
			t.FailAtIf(replayed == live+" "+live || replayed == live+live, m, "The history has what the agent has said more than once.")
			t.FailAtIf(!strings.Contains(typed, words(t.Prompt("text"))), m, "The history does not have the prompt.")
		})},
	{ID: "ACP-LOAD-002", Title: "The history precedes the response, and nothing of it comes after.", Tier: check.Must, Fact: "1.5.2", In: check.Both, Needs: loads, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			var m check.Message
			t.Works(func() { _, m = s.reopen(true) })
			silent(t, s.Quiet(m.Seq), "after the response", append(spoken, "user_message_chunk", "user_message")...)
		})},
	{ID: "AK-LOAD-003", Title: "A session that does not exist cannot be loaded.", Tier: check.Must, Fact: "3.1", In: check.Both, Needs: loads, Rough: true,
		Run: check.With(unknown, func(t *check.T, s *session) {
			fails(t, s.again(true).Response())
		})},
	{ID: "AK-LOAD-001", Title: "A session that was loaded has further turns.", Tier: check.Must, Fact: "8.8", In: check.Both, Needs: loads, Prompts: []string{"text", "text"},
		Run: func(t *check.T) { talked(t).goesOn(true) }},
	{ID: "AK-LOAD-002", Title: "A session that is listed on a new connection can be loaded there.", Tier: check.Should, Fact: "4.5", In: check.Both, Needs: loads, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			s.CloseInput()
			t.Requires(s.Ends(busyEndTime), "The agent did not end with its input.")
			p := begin(t)
			if !t.Has("sessionCapabilities.list | session") || !listed(t, p, s.id) {
				t.Skip("The agent does not list its sessions of another connection.")
			}
			other := &session{Peer: p, t: t, id: s.id}
			if m := other.again(true).Response(); m.Error != nil { // it may have to notice that the first connection has ended
				p.Quiet(p.Mark())
				other.again(true).Result()
			}
		})},
	{ID: "ACP-RESUME-002", Title: "session/resume sends no history.", Tier: check.Must, Fact: "1.1", In: check.Both, Needs: "sessionCapabilities.resume | session", Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			s.reopen(false)
			silent(t, s.Quiet(s.resumed), "though no history was asked for", append(spoken, "user_message_chunk", "user_message")...)
		})},
	{ID: "AK-RESUME-004", Title: "A session that was resumed has further turns.", Tier: check.Must, Fact: "1.1", In: check.Both, Needs: "sessionCapabilities.resume | session", Prompts: []string{"text", "text"},
		Run: func(t *check.T) { talked(t).goesOn(false) }},
	{ID: "AK-RESUME-002", Title: "A session that does not exist cannot be resumed.", Tier: check.Must, Fact: "3.1", In: check.Both, Needs: "sessionCapabilities.resume | session", Rough: true,
		Run: check.With(unknown, func(t *check.T, s *session) {
			fails(t, s.again(false).Response())
		})},
	{ID: "ACP-RESUME-204", Title: "Messages keep their ids in the history.", Tier: check.Must, Fact: "8.4", In: check.V2, Prompts: []string{"text"},
		Run: check.With(open, func(t *check.T, s *session) {
			live := s.turn("text")
			history, m := s.reopen(true)
			for _, by := range []string{"user", "agent"} { // thoughts need not be kept
				for _, id := range messageIDs(live, by) {
					t.FailAtIf(!slices.Contains(messageIDs(history, by), id), m, "The history has no message with the id %q.", id)
				}
			}
		})},
	{ID: "ACP-RESUME-205", Title: "In the history a whole message, which may be empty, precedes its chunks.", Tier: check.Should, Fact: "8.4", In: check.V2, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			history, _ := s.reopen(true)
			whole := map[string]bool{}
			for _, m := range kinds(history, messageKinds...) {
				id, chunk := m.Text("update", "messageId"), strings.HasSuffix(m.Update(), "_chunk")
				t.FailAtIf(chunk && !whole[id], m, "A chunk of the message %q precedes the message.", id)
				whole[id] = true
			}
		})},
	{ID: "AK-RESUME-003", Title: "session/resume fails with -32602 for a place that the agent does not know.", Tier: check.Must, Fact: "1.3", In: check.V2, Rough: true, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			m := s.Call("session/resume", s.with("cwd", t.Opts.Cwd, "replayFrom", map[string]any{"type": "_acptest"}))
			t.SkipIf(m.Error != nil && m.Error.Code == -32002 && !listed(t, s.Peer, s.id), "The agent keeps no sessions.")
			fails(t, m, -32602)
		})},
	{ID: "ACP-CLOSE-001", Title: "session/close succeeds.", Tier: check.Must, Fact: "8.8", In: check.Both, Needs: closes,
		Run: check.With(open, func(t *check.T, s *session) {
			s.Start("session/close", s.with()).Result()
			s.Quiet(s.Mark()) // what comes after it is judged elsewhere
		})},
	{ID: "ACP-CLOSE-002", Title: "session/close ends the turn that runs, with the stop reason cancelled.", Tier: check.Must, Fact: "1.1", In: check.Both, Needs: closes, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			closed := s.Start("session/close", s.with())
			s.isCancelled(s.call)
			closed.Result()
		})},
	{ID: "AK-CLOSE-002", Title: "Closing a session that does not exist succeeds, or fails with -32002.", Tier: check.Should, Fact: "0.2", In: check.Both, Needs: closes, Rough: true,
		Run: check.With(unknown, func(t *check.T, s *session) {
			if m := s.Call("session/close", s.with()); m.Error != nil {
				fails(t, m, -32002)
			}
		})},
	{ID: "AK-CLOSE-003", Title: "A prompt for a session that was closed fails.", Tier: check.Should, Fact: "1.5.8", In: check.Both, Needs: closes, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			t.Works(func() { s.Start("session/close", s.with()).Result() })
			fails(t, s.prompt("hello").Response())
		})},
}

const closes = "sessionCapabilities.close | session"

// reopen closes the session, if the agent can, and opens it again, with its history or without. It
// returns what precedes the response, and the response.
func (s *session) reopen(history bool) (before []check.Message, m check.Message) {
	s.t.Works(func() {
		s.Quiet(s.Mark()) // late updates of the turn
		if s.t.Has(closes) {
			s.Start("session/close", s.with()).Result()
		}
	})
	c := s.again(history)
	s.resumed = c.From()
	if m = c.Response(); s.t.Version == 2 && m.Error != nil && m.Error.Code == -32002 && !listed(s.t, s.Peer, s.id) {
		s.t.Skip("The agent keeps no sessions.") // version 2 has no capability for it
	}
	m = c.Result()
	return slices.DeleteFunc(s.Since(c.From()), func(one check.Message) bool { return one.Seq >= m.Seq }), m
}

// again asks for the session to be opened.
func (s *session) again(history bool) *check.Call {
	method, params := "session/resume", s.with("cwd", s.t.Opts.Cwd, "mcpServers", []any{})
	switch {
	case history && s.t.Version == 1:
		method = "session/load"
	case history:
		params["replayFrom"] = map[string]any{"type": "start"}
	}
	return s.Start(method, params)
}

// goesOn fails the check if the session has no turns after it was opened again.
func (s *session) goesOn(history bool) {
	s.t.Works(func() { s.reopen(history) })
	s.endsWell(s.prompt(s.t.Prompt("text")), "error")
}

var messageKinds = []string{"user_message", "agent_message", "agent_thought", "user_message_chunk", "agent_message_chunk", "agent_thought_chunk"}

// messageIDs returns the ids of messages of the user, or of the agent.
func messageIDs(log []check.Message, by string) (ids []string) {
	for _, m := range kinds(log, by+"_message", by+"_message_chunk") {
		if id := m.Text("update", "messageId"); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
