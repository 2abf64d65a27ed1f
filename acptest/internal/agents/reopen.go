package agents

import (
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// What version 1 calls session/load is session/resume with replayFrom in version 2.
const loads = "loadSession | session"

var reopening = []check.Check{
	{ID: "AK-LOAD-004", Title: "A session that is opened again shows what the agent and the user have said, once.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: loads, Prompts: []string{"text"},
		Run: check.With(open, func(t *check.T, s *session) {
			live := []string{s.answer("text")}
			history, m := s.reopened(true)
			s.matches(history, m, live, "text")
		})},
	{ID: "AK-LOAD-005", Title: "The history of a session has its turns in their order, whole, without those of other sessions, each time that it is loaded.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: loads, Prompts: []string{"text", "stream", "text"},
		Run: check.With(open, func(t *check.T, s *session) {
			live := []string{s.answer("stream"), s.answer("text")}
			other := start(t, s.Peer)
			theirs := other.answer("text")
			for range 2 {
				history, m := s.reopen(true)
				s.matches(history, m, live, "stream", "text")
			}
			history, m := other.reopen(true)
			other.matches(history, m, []string{theirs}, "text")
			typed := words(said(history, "user"))
			t.FailAtIf(strings.Contains(typed, words(t.Prompt("stream"))), m, "The history has a prompt of another session.")
		})},
	{ID: "AK-LOAD-006", Title: "Each message of a history names the session that is loaded.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: loads, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			other := start(t, s.Peer)
			_, response := s.reopen(true)
			for _, m := range kinds(s.Peer.Since(s.resumed), append(spoken, "user_message_chunk", "user_message")...) {
				t.FailAtIf(m.Seq < response.Seq && m.Text("sessionId") != s.id && m.Text("sessionId") == other.id, m, "A message of the history names another session.")
			}
		})},
	{ID: "AK-LOAD-007", Title: "The history has the tool calls of its turns.", Tier: check.Should, Fact: "session-setup", In: check.Both, Needs: loads, Prompts: []string{"tool"},
		Run: check.With(open, func(t *check.T, s *session) {
			called := func(log []check.Message) bool { return len(kinds(log, "tool_call", "tool_call_update")) > 0 }
			t.Requires(called(s.turn("tool")), "The agent has called no tool.")
			history, m := s.reopen(true)
			t.FailAtIf(!called(history), m, "The history has no tool call.")
		})},
	{ID: "ACP-LOAD-002", Title: "The history precedes the response, and nothing of it comes after.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: loads, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			_, m := s.reopen(true)
			silent(t, s.Quiet(m.Seq), "after the response", append(spoken, "user_message_chunk", "user_message")...)
		})},
	{ID: "AK-LOAD-003", Title: "A session that does not exist cannot be loaded.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: loads, Rough: true,
		Run: check.With(unknown, func(t *check.T, s *session) {
			fails(t, s.again(true).Response())
		})},
	{ID: "AK-LOAD-001", Title: "A session that was loaded has further turns.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: loads, Prompts: []string{"text", "text"},
		Run: func(t *check.T) { talked(t).goesOn(true) }},
	{ID: "AK-LOAD-002", Title: "A session that is listed on a new connection can be loaded there.", Tier: check.Should, Fact: "session-setup", In: check.Both, Needs: loads, Prompts: []string{"text"},
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
	{ID: "ACP-RESUME-002", Title: "session/resume sends no history.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: "sessionCapabilities.resume | session", Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			s.reopened(false)
			silent(t, s.Quiet(s.resumed), "though no history was asked for", append(spoken, "user_message_chunk", "user_message")...)
		})},
	{ID: "AK-RESUME-004", Title: "A session that was resumed has further turns.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: "sessionCapabilities.resume | session", Prompts: []string{"text", "text"},
		Run: func(t *check.T) { talked(t).goesOn(false) }},
	{ID: "AK-RESUME-002", Title: "A session that does not exist cannot be resumed.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: "sessionCapabilities.resume | session", Rough: true,
		Run: check.With(unknown, func(t *check.T, s *session) {
			fails(t, s.again(false).Response())
		})},
	{ID: "ACP-RESUME-204", Title: "Messages keep their ids in the history.", Tier: check.Must, Fact: "session-setup", In: check.V2, Prompts: []string{"text"},
		Run: check.With(open, func(t *check.T, s *session) {
			s.settle()
			live := s.turn("text")
			history, m := s.reopen(true)
			for _, by := range []string{"user", "agent"} { // thoughts need not be kept
				for _, id := range messageIDs(live, by) {
					t.FailAtIf(!slices.Contains(messageIDs(history, by), id), m, "The history has no message with the id %q.", id)
				}
			}
		})},
	{ID: "ACP-RESUME-205", Title: "In the history a whole message, which may be empty, precedes its chunks.", Tier: check.Should, Fact: "session-setup", In: check.V2, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			history, _ := s.reopen(true)
			whole := map[string]bool{}
			for _, m := range kinds(history, messageKinds...) {
				id, chunk := m.Text("update", "messageId"), strings.HasSuffix(m.Update(), "_chunk")
				t.FailAtIf(chunk && !whole[id], m, "A chunk of the message %q precedes the message.", id)
				whole[id] = true
			}
		})},
	{ID: "AK-RESUME-003", Title: "session/resume fails with -32602 for a place that the agent does not know.", Tier: check.Must, Fact: "session-setup", In: check.V2, Rough: true, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			m := s.Call("session/resume", s.with("cwd", t.Opts.Cwd, "replayFrom", map[string]any{"type": "_acptest"}))
			t.SkipIf(s.lost(m), "The agent keeps no sessions.")
			fails(t, m, -32602)
		})},
	{ID: "ACP-CLOSE-001", Title: "session/close succeeds.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: closes,
		Run: check.With(open, func(t *check.T, s *session) {
			s.Start("session/close", s.with()).Result()
			s.Quiet(s.Mark()) // what comes after it is judged elsewhere
		})},
	{ID: "ACP-CLOSE-002", Title: "session/close ends the turn that runs, with the stop reason cancelled.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: closes, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			closed := s.Start("session/close", s.with())
			s.isCancelled(s.call)
			closed.Result()
		})},
	{ID: "AK-CLOSE-004", Title: "A session that was closed is kept: it is listed, and can be opened again.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: closes, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			s.Quiet(s.Mark())
			was := t.Has(lists) && listed(t, s.Peer, s.id)
			t.Works(func() { s.Start("session/close", s.with()).Result() })
			t.FailIf(was && !listed(t, s.Peer, s.id), "The session %q is not listed any more after it was closed.", s.id)
			if t.Version == 1 && t.Has(loads) {
				m := s.again(true).Response()
				t.FailAtIf(s.lost(m), m, "The session %q is not there any more after it was closed.", s.id)
			}
		})},
	{ID: "AK-CLOSE-005", Title: "Closing a session closes no other one.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: closes, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			other := start(t, s.Peer)
			t.Works(func() { other.Start("session/close", other.with()).Result() })
			for _, m := range s.Quiet(s.call.From()) {
				ended := s.is(&m, "state_update") && m.Text("update", "state") == "idle" || t.Version == 1 && s.call.IsResponse(&m)
				t.FailAtIf(ended, m, "The turn of a session ended when another one was closed.")
			}
			s.cancel()
			t.Works(func() { s.stopReason(s.call) })
		})},
	{ID: "AK-CLOSE-002", Title: "Closing a session that does not exist succeeds, or fails with -32002.", Tier: check.Should, Fact: "session-setup", In: check.Both, Needs: closes, Rough: true,
		Run: check.With(unknown, func(t *check.T, s *session) {
			if m := s.Call("session/close", s.with()); m.Error != nil {
				fails(t, m, -32002)
			}
		})},
	{ID: "AK-CLOSE-003", Title: "A prompt for a session that was closed fails.", Tier: check.Should, Fact: "session-setup", In: check.Both, Needs: closes, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			t.Works(func() { s.Start("session/close", s.with()).Result() })
			fails(t, s.prompt("hello").Response())
		})},
}

// answer has a turn, and returns what the agent has said in it.
func (s *session) answer(name string) string {
	s.settle()
	live := words(said(s.turn(name), "agent"))
	s.t.Requires(live != "", "The agent has said nothing.")
	return live
}

// matches fails the check if a history does not have the prompts with the names, and what the agent has
// said, in their order and as often. It may have more: agents tell what is new, or what is wrong with
// their settings, in messages of their own.
func (s *session) matches(history []check.Message, m check.Message, live []string, prompts ...string) {
	replayed, typed := words(said(history, "agent")), words(said(history, "user"))
	all, rest := strings.Join(live, "\n"), replayed
	for _, text := range live {
		s.t.Expect("the text of the agent: " + text)
		i := strings.Index(rest, text)
		s.t.FailAtIf(i < 0, m, "The history does not have what the agent has said, whole and in its order, but %.200q.", replayed)
		rest = rest[i+len(text):]
		s.t.FailAtIf(strings.Count(replayed, text) > strings.Count(all, text), m, "The history has what the agent has said more than once.")
	}
	sent := ""
	for _, name := range prompts {
		sent += words(s.t.Prompt(name)) + "\n"
	}
	rest = typed
	for _, name := range prompts {
		text := words(s.t.Prompt(name))
		s.t.Expect("the prompt: " + text)
		i := strings.Index(rest, text)
		s.t.FailAtIf(i < 0, m, "The history does not have the prompt, or not in its order, but %.200q.", typed)
		rest = rest[i+len(text):]
		s.t.FailAtIf(strings.Count(typed, text) > strings.Count(sent, text), m, "The history has the prompt more than once.")
	}
	first := slices.IndexFunc(history, func(m check.Message) bool { return s.is(&m, "user_message_chunk", "user_message") })
	last := slices.IndexFunc(history, func(m check.Message) bool {
		return s.is(&m, "agent_message_chunk", "agent_message") && strings.Contains(live[0], words(m.Text("update", "content", "text")))
	})
	s.t.FailAtIf(last >= 0 && last < first && words(history[last].Text("update", "content", "text")) != "", history[max(last, 0)], "In the history the answer precedes the prompt.")
}

const closes = "sessionCapabilities.close | session"

// reopen is reopened for a check whose subject comes behind it.
func (s *session) reopen(history bool) (before []check.Message, m check.Message) {
	s.t.Works(func() { before, m = s.reopened(history) })
	return before, m
}

// reopened closes the session, if the agent can, and opens it again, with its history or without. It
// returns what precedes the response, and the response.
func (s *session) reopened(history bool) (before []check.Message, m check.Message) {
	s.t.Works(func() {
		s.Quiet(s.Mark()) // late updates of the turn
		if s.t.Has(closes) {
			s.Start("session/close", s.with()).Result()
		}
	})
	c := s.again(history)
	s.resumed = c.From()
	if m = c.Response(); s.t.Version == 2 && s.lost(m) {
		s.t.Skip("The agent keeps no sessions.") // version 2 has no capability for it
	}
	s.t.Requires(!s.t.Has(closes) || !s.lost(m), "The session is not there any more after session/close, which is the subject of another check.")
	m = c.Result()
	return slices.DeleteFunc(s.Since(c.From()), func(one check.Message) bool { return one.Seq >= m.Seq }), m
}

// lost reports whether a response says that the session does not exist, and it is not listed either.
func (s *session) lost(m check.Message) bool {
	return m.Error != nil && m.Error.Code == -32002 && !(s.t.Has(lists) && listed(s.t, s.Peer, s.id))
}

// again asks for the session to be opened.
func (s *session) again(history bool) *check.Call {
	method, params := "session/resume", s.with("cwd", s.t.Opts.Cwd)
	switch {
	case history && s.t.Version == 1:
		method, params["mcpServers"] = "session/load", []any{}
	case history:
		params["mcpServers"] = []any{}
		params["replayFrom"] = map[string]any{"type": "start"}
	}
	return s.Start(method, params)
}

// goesOn fails the check if the session has no turns after it was opened again.
func (s *session) goesOn(history bool) {
	s.reopen(history)
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
