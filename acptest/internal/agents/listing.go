package agents

import (
	"path/filepath"
	"slices"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

const (
	lists   = "sessionCapabilities.list | session"
	deletes = "sessionCapabilities.delete | session.delete"
)

var listing = []check.Check{
	{ID: "AK-LIST-001", Title: "session/list has a session with a turn.", Tier: check.Should, Fact: "session-list", In: check.Both, Needs: lists, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			if !listed(t, s.Peer, s.id) {
				s.Quiet(s.Mark()) // it may be stored a little later
				if !listed(t, s.Peer, s.id) {
					s.reopen(false) // skips the check if the agent keeps no sessions
					t.Fail("The session %q is not listed.", s.id)
				}
			}
		})},
	{ID: "AK-LIST-002", Title: "The pages of session/list end, and have each session once.", Tier: check.Must, Fact: "session-list", In: check.Both, Needs: lists, Prompts: []string{"text"},
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			params := newParams(t)
			params["cwd"] = folder(t, "once") // a session that another check starts may move others to the next page
			for range listedSessions {
				startWith(t, p, params).turn("text")
			}
			p.Quiet(p.Mark())
			var seen []string
			pages(t, p, params["cwd"].(string), func(m check.Message, id string) {
				t.FailAtIf(slices.Contains(seen, id), m, "The session %q is listed twice.", id)
				seen = append(seen, id)
			})
		})},
	{ID: "AK-LIST-004", Title: "No session is lost between the pages of session/list.", Tier: check.Must, Fact: "session-list", In: check.Both, Needs: lists, Prompts: []string{"text"},
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			params := newParams(t)
			params["cwd"] = folder(t, "pages")
			first := startWith(t, p, params)
			all := []string{first.id}
			first.turn("text")
			first.Quiet(first.Mark())
			t.Requires(listedIn(t, p, params["cwd"].(string), first.id), "The session with a turn is not listed, which is the subject of another check.")
			for range listedSessions {
				s := startWith(t, p, params)
				s.turn("text")
				all = append(all, s.id)
			}
			p.Quiet(p.Mark()) // the last one may be stored a little later
			var seen []string
			var last check.Message
			pages(t, p, params["cwd"].(string), func(m check.Message, id string) { seen, last = append(seen, id), m })
			for _, id := range all {
				t.FailAtIf(!slices.Contains(seen, id), last, "The session %q is not listed, as others of its folder are.", id)
			}
		})},
	{ID: "ACP-LIST-002", Title: "session/list with a folder has only the sessions of this folder: not those in it, beside it or above it.", Tier: check.Must, Fact: "session-list", In: check.Both, Needs: lists, Prompts: []string{"text"},
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			home := folder(t, "list")
			dirs := []string{home, folder(t, filepath.Join("list", "in")), folder(t, "list-beside")}
			params := newParams(t)
			for _, params["cwd"] = range dirs {
				startWith(t, p, params).turn("text")
			}
			p.Quiet(p.Mark())
			for _, dir := range append(dirs, folder(t, "empty")) {
				m := p.Start("session/list", map[string]any{"cwd": dir}).Result()
				for _, one := range check.Get[[]struct{ Cwd string }](&m, "sessions") {
					t.FailAtIf(filepath.Clean(one.Cwd) != dir, m, "A session of the folder %s is listed for the folder %s.", one.Cwd, dir)
				}
			}
		})},
	{ID: "AK-LIST-003", Title: "session/list fails for a cursor that it has not returned, in version 2 also for an empty one.", Tier: check.Should, Fact: "session-list", In: check.Both, Needs: lists, Rough: true,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			fails(t, p.Call("session/list", map[string]any{"cursor": "acptest-no-such-cursor"}), -32602, -32600, -32002)
			if t.Version == 2 { // version 1 does not say that an empty text is a cursor
				fails(t, p.Call("session/list", map[string]any{"cursor": ""}), -32602, -32600, -32002)
			}
		})},
	{ID: "AK-LIST-005", Title: "session/list names the folder in which a session was started.", Tier: check.Must, Fact: "session-list", In: check.Both, Needs: lists, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			s.Quiet(s.Mark())
			m := s.Start("session/list", map[string]any{}).Result()
			for _, one := range check.Get[[]struct{ SessionID, Cwd string }](&m, "sessions") {
				t.FailAtIf(one.SessionID == s.id && filepath.Clean(one.Cwd) != t.Opts.Cwd, m, "The session %q is listed in %s, and was started in %s.", s.id, one.Cwd, t.Opts.Cwd)
			}
		})},
	{ID: "ACP-DELETE-202", Title: "A deleted session is not listed any more.", Tier: check.Must, Fact: "session-list", In: check.Both, Needs: deletes, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			s.Start("session/delete", s.with()).Result()
			t.FailIf(t.Has(lists) && listed(t, s.Peer, s.id), "The session %q is listed after it was deleted.", s.id)
		})},
	{ID: "AK-DELETE-001", Title: "Deleting a session deletes no other one.", Tier: check.Must, Fact: "session-list", In: check.Both, Needs: deletes, Prompts: []string{"text", "text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			t.SkipIf(!t.Has(lists), "The agent does not list its sessions.")
			other := start(t, s.Peer)
			other.turn("text")
			s.Quiet(s.Mark())
			t.Requires(listed(t, s.Peer, other.id), "The session with a turn is not listed, which is the subject of another check.")
			s.Start("session/delete", s.with()).Result()
			t.FailIf(!listed(t, s.Peer, other.id), "The session %q is not listed any more after another one was deleted.", other.id)
		})},
	{ID: "AK-DELETE-002", Title: "A session can be deleted while its turn runs, be it with an error.", Tier: check.Must, Fact: "session-list", In: check.Both, Needs: deletes, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			s.Call("session/delete", s.with())
			s.cancel() // an agent may refuse to delete a session that works
			s.Quiet(s.Mark())
		})},
	{ID: "ACP-DELETE-002", Title: "Deleting a session that does not exist succeeds, or fails with -32002.", Tier: check.Should, Fact: "session-list", In: check.Both, Needs: deletes, Rough: true,
		Run: check.With(unknown, func(t *check.T, s *session) {
			if m := s.Call("session/delete", s.with()); m.Error != nil {
				fails(t, m, -32002)
			}
		})},
}

// listedSessions is how many sessions a check starts to find them in a list: more than a small page has.
const listedSessions = 6

// pagesAtMost is how many pages of a list are read.
const pagesAtMost = 100

// pages calls f with the id of each session that is listed for a folder. Only null ends a list: an empty
// text is a cursor.
func pages(t *check.T, p *check.Peer, cwd string, f func(m check.Message, id string)) {
	params := map[string]any{"cwd": cwd}
	for range pagesAtMost {
		m := p.Start("session/list", params).Result()
		for _, one := range check.Get[[]struct{ SessionID string }](&m, "sessions") {
			f(m, one.SessionID)
		}
		next := check.Get[*string](&m, "nextCursor")
		if next == nil {
			return
		}
		params["cursor"] = *next
	}
	t.Fail("session/list did not end after %d pages.", pagesAtMost)
}

func listed(t *check.T, p *check.Peer, id string) bool { return listedIn(t, p, t.Opts.Cwd, id) }

func listedIn(t *check.T, p *check.Peer, cwd, id string) (found bool) {
	t.Works(func() { pages(t, p, cwd, func(_ check.Message, one string) { found = found || one == id }) })
	return found
}
