package agents

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// noSession is the id of a session that does not exist.
const noSession = "acptest-no-such-session"

var sessions = []check.Check{
	{ID: "ACP-SESSION-001", Title: "session/new returns the id of a session.", Tier: check.Must, Fact: "1.1", In: check.Both,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			m := signedIn(t, p.Call("session/new", newParams(t)))
			p.Quiet(p.Mark()) // what comes after it is judged elsewhere
			t.FailAtIf(m.Text("sessionId") == "", m, "There is no session id.")
		})},
	{ID: "ACP-SESSION-002", Title: "Each session has an id of its own.", Tier: check.Must, Fact: "1.1", In: check.Both,
		Run: check.With(open, func(t *check.T, first *session) {
			second := start(t, first.Peer)
			t.FailAtIf(first.id == second.id, second.new, "Two sessions have the id %q.", first.id)
		})},
	{ID: "ACP-SESSION-203", Title: "session/new needs no mcpServers.", Tier: check.Must, Fact: "2.5", In: check.V2,
		Run: func(t *check.T) {
			m := signedIn(t, begin(t).Call("session/new", map[string]any{"cwd": t.Opts.Cwd}))
			t.FailAtIf(m.Error != nil, m, "session/new failed without mcpServers.")
		}},
	{ID: "ACP-ADDDIRS-001", Title: "A session may have additional directories.", Tier: check.Must, Fact: "8.8", In: check.Both, Needs: "sessionCapabilities.additionalDirectories | session.additionalDirectories",
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			params := newParams(t)
			params["additionalDirectories"] = []string{folder(t, "more")}
			p.Start("session/new", params).Result()
		})},
	{ID: "AK-SESSION-001", Title: "A prompt for an unknown session fails with -32002.", Tier: check.Interop, Fact: "3.1", In: check.Both, Rough: true,
		Run: func(t *check.T) { fails(t, unknown(t).prompt("hello").Response(), -32002) }},
	{ID: "AK-SESSION-002", Title: "The turns of two sessions run at the same time.", Tier: check.Should, Fact: "10.1.2", In: check.Both, Prompts: []string{"slow", "text"},
		Run: check.With(working, func(t *check.T, slow *session) {
			other := start(t, slow.Peer)
			t.Expect("the end of a turn while a turn of another session runs")
			other.stopReason(other.prompt(t.Prompt("text")))
			slow.cancel()
			t.Works(func() { slow.stopReason(slow.call) })
		})},
	{ID: "AK-SESSION-003", Title: "session/cancel ends the turn of its session only.", Tier: check.Must, Fact: "4.2", In: check.Both, Prompts: []string{"slow", "slow"},
		Run: check.With(working, func(t *check.T, first *session) {
			second := start(t, first.Peer)
			second.works("slow")
			first.cancel()
			t.Works(func() { first.stopReason(first.call) })
			for _, m := range second.Quiet(second.call.From()) {
				if second.is(&m, "state_update") && m.Text("update", "state") == "idle" || t.Version == 1 && string(m.ID) == second.call.ID && m.Method == "" {
					t.FailAt(m, "The turn of another session has ended, too.")
				}
			}
		})},
	{ID: "AK-LIST-001", Title: "session/list has a session with a turn.", Tier: check.Should, Fact: "8.8", In: check.Both, Needs: "sessionCapabilities.list | session", Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			if !listed(t, s.Peer, s.id) {
				s.Quiet(s.Mark()) // it may be stored a little later
				if !listed(t, s.Peer, s.id) {
					s.reopen(false) // skips the check if the agent keeps no sessions
					t.Fail("The session %q is not listed.", s.id)
				}
			}
		})},
	{ID: "AK-LIST-002", Title: "The pages of session/list end, and have no session twice.", Tier: check.Must, Fact: "1.1", In: check.Both, Needs: "sessionCapabilities.list | session", Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			var seen []string
			pages(t, s.Peer, func(m check.Message, id string) {
				t.FailAtIf(slices.Contains(seen, id), m, "The session %q is listed twice.", id)
				seen = append(seen, id)
			})
		})},
	{ID: "ACP-LIST-002", Title: "session/list with a folder has only the sessions in it.", Tier: check.Must, Fact: "8.8", In: check.Both, Needs: "sessionCapabilities.list | session", Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			dir := folder(t, "empty")
			m := s.Start("session/list", map[string]any{"cwd": dir}).Result()
			for _, one := range check.Get[[]struct{ Cwd string }](&m, "sessions") {
				t.FailAtIf(one.Cwd != dir, m, "A session of the folder %s is listed for the folder %s.", one.Cwd, dir)
			}
		})},
	{ID: "AK-LIST-003", Title: "session/list fails for a cursor that it has not returned.", Tier: check.Should, Fact: "1.1", In: check.Both, Needs: "sessionCapabilities.list | session", Rough: true,
		Run: func(t *check.T) {
			fails(t, begin(t).Call("session/list", map[string]any{"cursor": "acptest-no-such-cursor"}), -32602, -32600, -32002)
		}},
	{ID: "ACP-DELETE-202", Title: "A deleted session is not listed any more.", Tier: check.Must, Fact: "8.8", In: check.Both, Needs: "sessionCapabilities.delete | session.delete", Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			s.Start("session/delete", s.with()).Result()
			t.FailIf(t.Has("sessionCapabilities.list | session") && listed(t, s.Peer, s.id), "The session %q is listed after it was deleted.", s.id)
		})},
	{ID: "ACP-DELETE-002", Title: "Deleting a session that does not exist succeeds, or fails with -32002.", Tier: check.Should, Fact: "0.2", In: check.Both, Needs: "sessionCapabilities.delete | session.delete", Rough: true,
		Run: check.With(unknown, func(t *check.T, s *session) {
			if m := s.Call("session/delete", s.with()); m.Error != nil {
				fails(t, m, -32002)
			}
		})},
}

// unknown is a session that does not exist.
func unknown(t *check.T) *session { return &session{Peer: begin(t), t: t, id: noSession} }

// folder makes a folder in that of the run.
func folder(t *check.T, name string) string {
	dir := filepath.Join(t.Opts.Cwd, name)
	t.Requires(os.MkdirAll(dir, 0o700) == nil, "The folder %s cannot be created.", dir)
	return dir
}

// pagesAtMost is how many pages of a list are read.
const pagesAtMost = 100

// pages calls f with the id of each session that is listed for the folder of the run.
func pages(t *check.T, p *check.Peer, f func(m check.Message, id string)) {
	params := map[string]any{"cwd": t.Opts.Cwd}
	for range pagesAtMost {
		m := p.Start("session/list", params).Result()
		for _, one := range check.Get[[]struct{ SessionID string }](&m, "sessions") {
			f(m, one.SessionID)
		}
		if params["cursor"] = m.Text("nextCursor"); params["cursor"] == "" {
			return
		}
	}
	t.Fail("session/list did not end after %d pages.", pagesAtMost)
}

func listed(t *check.T, p *check.Peer, id string) (found bool) {
	t.Works(func() { pages(t, p, func(_ check.Message, one string) { found = found || one == id }) })
	return found
}
