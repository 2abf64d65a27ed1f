package agents

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

const (
	options = "sessionCapabilities.options | session.options"
	forks   = "sessionCapabilities.fork | session.fork"
)

// everything are the capabilities of a client that shows all that the protocol has, in each version.
func everything(version int) map[string]any {
	has := map[string]any{}
	session := map[string]any{"promptSuggestions": has, "cursors": has, "notices": has, "compaction": has, "commands": map[string]any{"skill": has},
		"configOptions": map[string]any{"boolean": has}}
	caps := map[string]any{"session": session, "plan": has, "subagents": has}
	if version == 1 {
		caps["fs"], caps["terminal"] = map[string]any{"readTextFile": true, "writeTextFile": true}, true
	}
	return caps
}

// openAll is open for a client that shows everything.
func openAll(t *check.T) *session {
	params := initParams(t.Version)
	params["clientCapabilities"], params["capabilities"] = everything(1), everything(2)
	p := beginAs(t, params)
	p.Handle("session/request_permission", allow)
	return start(t, p)
}

var november = []check.Check{
	{ID: "AK-CAPABILITY-002", Title: "A turn ends also for a client that shows everything, and for one that shows no mode of elicitation, or one.", Tier: check.Must, Fact: "initialization#client-capabilities", In: check.Both, Prompts: []string{"text", "tool"},
		Run: check.With(openAll, func(t *check.T, s *session) {
			s.endsWell(s.prompt(t.Prompt("text")), "cancelled")
			s.endsWell(s.prompt(t.Prompt("tool")), "cancelled")
			for _, modes := range []map[string]any{{}, {"form": map[string]any{}}, {"url": map[string]any{}}} {
				params := initParams(t.Version)
				for _, name := range []string{"clientCapabilities", "capabilities"} {
					params[name].(map[string]any)["elicitation"] = modes
				}
				p := beginAs(t, params)
				p.Handle("session/request_permission", allow)
				p.Handle("elicitation/create", func(check.Message) any { return map[string]any{"action": "decline"} })
				other := start(t, p)
				if t.Opts.Prompts["ask"] != "" {
					t.Works(func() { other.stopReason(other.prompt(t.Prompt("ask"))) })
				}
			}
			s.Quiet(s.Mark()) // what comes is judged by the rules that are passive
		})},
	{ID: "AK-PLAN-001", Title: "A client that does not take plans by id gets none.", Tier: check.Must, Fact: "agent-plan", In: check.V1, Prompts: []string{"tool"},
		Run: check.With(open, func(t *check.T, s *session) {
			silent(t, s.turn("tool"), "to a client that does not take plans by id", "plan_update", "plan_removed")
		})},
	{ID: "AK-OPTIONS-001", Title: "session/options tells the options of a session, and starts none: nothing is listed, and no update comes.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: options,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			dir := folder(t, "options")
			var before, after []string
			list := func(ids *[]string) {
				if t.Has(lists) {
					t.Works(func() {
						pages(t, p, dir, func(m check.Message, id string) {
							for _, one := range check.Get[[]struct{ SessionID, Cwd string }](&m, "sessions") {
								if one.SessionID == id && filepath.Clean(one.Cwd) == dir { // others belong to other checks
									*ids = append(*ids, id)
								}
							}
						})
					})
				}
			}
			list(&before)
			from := p.Mark()
			m := p.Start("session/options", map[string]any{"cwd": dir}).Result()
			for _, one := range p.Quiet(from) {
				t.FailAtIf(one.Method == "session/update", one, "An update came because of session/options.")
			}
			list(&after)
			for _, id := range after {
				t.FailAtIf(!slices.Contains(before, id), m, "session/options has started the session %q.", id)
			}
		})},
	{ID: "AK-OPTIONS-002", Title: "Values for the start of a session that do not exist are ignored, and the session is started.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: options,
		Run: check.With(open, func(t *check.T, s *session) {
			id := "acptest-none"
			if all := check.Get[[]option](&s.new, "configOptions"); len(all) > 0 {
				id = all[0].id()
			}
			params := newParams(t)
			params["configOptions"] = []any{initial(t, "acptest-no-such-option", "x"), initial(t, id, "acptest-no-such-value")}
			m := s.Call("session/new", params)
			t.FailAtIf(m.Error != nil, m, "session/new failed because of a value that does not exist.")
		})},
	{ID: "AK-OPTIONS-003", Title: "A value for the start of a session holds in it, as the response tells.", Tier: check.Should, Fact: "session-setup", In: check.Both, Needs: options,
		Run: check.With(open, func(t *check.T, s *session) {
			id, value := choice(t, s.options(s.new))
			params := newParams(t)
			params["configOptions"] = []any{initial(t, id, value)}
			m := s.Start("session/new", params).Result()
			got := valueOf(check.Get[[]option](&m, "configOptions"), id)
			t.FailAtIf(got != value, m, "The option %q has the value %q instead of %q.", id, got, value)
		})},
	{ID: "AK-OPTIONS-004", Title: "A value of a type that the agent does not know fails with -32602.", Tier: check.Must, Fact: "session-setup", In: check.V2, Needs: options, Rough: true,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			params := newParams(t)
			params["configOptions"] = []any{map[string]any{"configId": "acptest-none", "type": "_acptest", "value": 1}}
			fails(t, p.Call("session/new", params), -32602)
		})},
	{ID: "AK-FORK-001", Title: "An agent that tells cursors forks no session at one that does not exist.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: forks, Rough: true, Prompts: []string{"text"},
		Run: check.With(openAll, func(t *check.T, s *session) {
			s.turn("text")
			told := slices.ContainsFunc(s.Quiet(0), func(m check.Message) bool { return m.Text("update", "sessionUpdate") == "cursor_update" })
			t.SkipIf(!told, "The agent tells no cursors: it may ignore a member that it does not know.")
			fails(t, s.Call("session/fork", s.with("cwd", t.Opts.Cwd, "mcpServers", []any{}, "cursorId", "acptest-no-such-cursor")))
		})},
	{ID: "AK-FORK-002", Title: "A fork is a session of its own.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: forks, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			m := s.Start("session/fork", s.with("cwd", t.Opts.Cwd, "mcpServers", []any{})).Result()
			t.FailAtIf(m.Text("sessionId") == s.id, m, "The fork has the id of its source.")
		})},
	{ID: "AK-STATUS-001", Title: "A session that was started is open.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: "sessionCapabilities.status | session.status",
		Run: check.With(open, func(t *check.T, s *session) {
			m := s.Start("session/status", s.with()).Result()
			t.FailAtIf(m.Text("status") == "saved", m, "The session is saved, though it is open.")
		})},
	{ID: "AK-STATUS-002", Title: "The status of a session that does not exist fails with -32002.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: "sessionCapabilities.status | session.status", Rough: true,
		Run: check.With(unknown, func(t *check.T, s *session) { fails(t, s.Call("session/status", s.with()), -32002) })},
	{ID: "AK-TITLE-001", Title: "session/set_title returns the title that is stored.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: "sessionCapabilities.title | session.title", Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			m := s.Start("session/set_title", s.with("title", "acptest")).Result()
			t.FailAtIf(strings.TrimSpace(m.Text("title")) == "", m, "The session has no title.")
		})},
	{ID: "AK-TITLE-002", Title: "A blank title fails with -32602.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: "sessionCapabilities.title | session.title", Rough: true, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) { fails(t, s.Call("session/set_title", s.with("title", " ")), -32602) })},
	{ID: "AK-ARCHIVE-001", Title: "A session that is archived is not listed, until it is unarchived.", Tier: check.Must, Fact: "session-list", In: check.Both, Needs: "sessionCapabilities.archive | session.archive", Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			s.Quiet(s.Mark())
			t.Requires(t.Has(lists) && listed(t, s.Peer, s.id), "The session with a turn is not listed, which is the subject of another check.")
			s.Start("session/archive", s.with()).Result()
			t.FailIf(listed(t, s.Peer, s.id), "The session %q is listed after it was archived.", s.id)
			s.Start("session/unarchive", s.with()).Result()
			t.FailIf(!listed(t, s.Peer, s.id), "The session %q is not listed after it was unarchived.", s.id)
		})},
	{ID: "AK-ARCHIVE-002", Title: "Archiving a session that does not exist fails with -32002.", Tier: check.Must, Fact: "session-list", In: check.Both, Needs: "sessionCapabilities.archive | session.archive", Rough: true,
		Run: check.With(unknown, func(t *check.T, s *session) { fails(t, s.Call("session/archive", s.with()), -32002) })},
	{ID: "AK-SKILL-002", Title: "A prompt with a skill that is not listed fails.", Tier: check.Must, Fact: "slash-commands", In: check.V2, Needs: "session.prompt.skill", Rough: true,
		Run: check.With(openAll, func(t *check.T, s *session) {
			fails(t, s.Call("session/prompt", s.with("prompt", []any{map[string]any{"type": "skill", "name": "acptest-no-such-skill"}, textBlock("hello")})))
		})},
	{ID: "AK-SYSTEM-001", Title: "A system prompt that the agent cannot apply fails, and starts no session.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: "sessionCapabilities.systemPrompt | session.systemPrompt", Rough: true,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			params := newParams(t)
			params["systemPrompt"] = map[string]any{"mode": "_acptest", "content": []any{textBlock("Be brief.")}}
			fails(t, p.Call("session/new", params))
		})},
	{ID: "AK-SYSTEM-002", Title: "A system prompt that is appended is taken.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: "sessionCapabilities.systemPrompt | session.systemPrompt",
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			params := newParams(t)
			params["systemPrompt"] = map[string]any{"mode": "append", "content": []any{textBlock("Be brief.")}}
			p.Start("session/new", params).Result()
		})},
}

// initial is a value of a config option for the start of a session.
func initial(t *check.T, id, value string) map[string]any {
	one := map[string]any{"configId": id, "value": value}
	if t.Version == 2 {
		one["type"] = "id"
	}
	return one
}
