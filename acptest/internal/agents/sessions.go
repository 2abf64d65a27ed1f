package agents

import (
	"os"
	"path/filepath"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// noSession is the id of a session that does not exist.
const noSession = "acptest-no-such-session"

var sessions = []check.Check{
	{ID: "ACP-SESSION-001", Title: "session/new returns the id of a session.", Tier: check.Must, Fact: "session-setup", In: check.Both,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			m := signedIn(t, p.Call("session/new", newParams(t)))
			p.Quiet(p.Mark()) // what comes after it is judged elsewhere
			t.Requires(m.Error == nil || t.Blocked == "", "session/new failed%s.", because(m))
			t.FailAtIf(m.Error != nil, m, "session/new failed%s, as it did not before.", because(m))
			t.FailAtIf(check.At(m.Result, "sessionId") == nil, m, "There is no session id.")
		})},
	{ID: "ACP-SESSION-002", Title: "Each session has an id of its own.", Tier: check.Must, Fact: "session-setup", In: check.Both,
		Run: check.With(open, func(t *check.T, first *session) {
			second := start(t, first.Peer)
			t.FailAtIf(first.id == second.id, second.new, "Two sessions have the id %q.", first.id)
		})},
	{ID: "ACP-SESSION-203", Title: "session/new needs no mcpServers.", Tier: check.Must, Fact: "session-setup", In: check.V2,
		Run: func(t *check.T) {
			m := signedIn(t, begin(t).Call("session/new", map[string]any{"cwd": t.Opts.Cwd}))
			t.FailAtIf(m.Error != nil, m, "session/new failed without mcpServers.")
		}},
	{ID: "AK-MCP-001", Title: "Two MCP servers of the same name fail with -32602.", Tier: check.Should, Fact: "session-setup", In: check.V2, Rough: true,
		Run: func(t *check.T) {
			server := map[string]any{"type": "stdio", "name": "acptest-twice", "command": "/acptest-no-such-command"}
			if !t.Has("session.mcp.stdio") {
				server = map[string]any{"type": "http", "name": "acptest-twice", "url": "http://127.0.0.1:9/acptest"}
			}
			refusesServers(t, server, server)
		}},
	{ID: "AK-MCP-002", Title: "An MCP server of a transport that the agent does not advertise fails with -32602.", Tier: check.Should, Fact: "session-setup", In: check.V2, Rough: true,
		Run: func(t *check.T) { refusesServers(t, map[string]any{"type": "_acptest", "name": "acptest"}) }},
	{ID: "ACP-ADDDIRS-001", Title: "A session may have additional directories.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: "sessionCapabilities.additionalDirectories | session.additionalDirectories",
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			params := newParams(t)
			params["additionalDirectories"] = []string{folder(t, "more")}
			p.Start("session/new", params).Result()
		})},
	{ID: "AK-ADDDIRS-001", Title: "A session that is opened again has the additional directories of this request, and no others.", Tier: check.Must, Fact: "session-setup", In: check.Both, Needs: "sessionCapabilities.additionalDirectories | session.additionalDirectories", Prompts: []string{"text"},
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			t.SkipIf(!t.Has(lists) || !t.Has(loads), "The agent does not list its sessions, or opens none again.")
			params := newParams(t)
			params["additionalDirectories"] = []string{folder(t, "more")}
			s := startWith(t, p, params)
			s.turn("text")
			s.Quiet(s.Mark())
			dirs, _ := s.directories()
			t.SkipIf(len(dirs) == 0, "The list does not have the additional directories of a session.")
			s.reopen(true)
			dirs, m := s.directories()
			t.FailAtIf(len(dirs) > 0, m, "The session was opened again without additional directories, and has %q.", dirs)
		})},
	{ID: "AK-SESSION-006", Title: "A session can be started while a turn of another one runs.", Tier: check.Should, Fact: "session-setup", In: check.Both, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			c := s.Start("session/new", newParams(t))
			m, ok := c.Arrives()
			s.cancel()
			t.Works(func() { s.stopReason(s.call) })
			if !ok {
				m = c.Response()
				t.FailAt(m, "session/new was answered only when the turn of another session was over.")
			}
			t.FailAtIf(m.Error != nil, m, "session/new failed%s.", because(m))
		})},
	{ID: "AK-SESSION-001", Title: "A prompt for an unknown session fails with -32002.", Tier: check.Interop, Fact: "session-setup", In: check.Both, Rough: true,
		Run: func(t *check.T) { fails(t, unknown(t).prompt("hello").Response(), -32002) }},
	{ID: "AK-SESSION-002", Title: "The turns of two sessions run at the same time.", Tier: check.Should, Fact: "session-setup", In: check.Both, Prompts: []string{"slow", "text"},
		Run: check.With(working, func(t *check.T, slow *session) {
			other := start(t, slow.Peer)
			t.Expect("the end of a turn while a turn of another session runs")
			c := other.prompt(t.Prompt("text"))
			over := func(m *check.Message) bool {
				return t.Version == 1 && c.IsResponse(m) || other.is(m, "state_update") && m.Text("update", "state") == "idle"
			}
			_, ok := other.Arrives(c.From(), over)
			slow.cancel()
			t.Works(func() { slow.stopReason(slow.call) })
			if !ok { // perhaps its model takes its time
				m := other.AwaitTurn(c.From(), "the end of the turn", over, true)
				t.FailAt(m, "The turn ended only when that of another session was over.")
			}
		})},
	{ID: "AK-SESSION-003", Title: "session/cancel ends the turn of its session only.", Tier: check.Must, Fact: "session-setup", In: check.Both, Prompts: []string{"slow", "slow"},
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
	{ID: "AK-SESSION-004", Title: "A session is not started in a relative folder.", Tier: check.Should, Fact: "overview#argument-requirements", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			params := newParams(t)
			params["cwd"] = "acptest-relative"
			fails(t, s.Call("session/new", params))
		})},
	{ID: "AK-SESSION-005", Title: "The messages of a turn are those of its session.", Tier: check.Must, Fact: "session-setup", In: check.Both, Prompts: []string{"stream", "text"},
		Run: check.With(open, func(t *check.T, first *session) {
			second := start(t, first.Peer)
			first.settle()
			from := first.Mark()
			first.turn("stream")
			for _, m := range kinds(first.Peer.Since(from), spoken...) {
				t.FailAtIf(second.is(&m, spoken...), m, "An update of a turn names the session %q, which has none.", second.id)
			}
			first.settle()
			from = first.Mark()
			second.turn("text")
			for _, m := range kinds(first.Peer.Since(from), spoken...) {
				t.FailAtIf(first.is(&m, spoken...), m, "An update of a turn names the session %q, whose turn has ended.", first.id)
			}
		})},
}

// directories returns the additional directories with which the session is listed, and the list.
func (s *session) directories() (dirs []string, m check.Message) {
	s.t.Works(func() {
		m = s.Start("session/list", map[string]any{"cwd": s.t.Opts.Cwd}).Result()
		for _, one := range check.Get[[]struct {
			SessionID             string
			AdditionalDirectories []string
		}](&m, "sessions") {
			if one.SessionID == s.id {
				dirs = one.AdditionalDirectories
			}
		}
	})
	return dirs, m
}

// refusesServers checks that a session with MCP servers is not started.
func refusesServers(t *check.T, servers ...any) {
	params := newParams(t)
	params["mcpServers"] = servers
	fails(t, signedIn(t, begin(t).Call("session/new", params)), -32602)
}

// unknown is a session that does not exist.
func unknown(t *check.T) *session { return &session{Peer: begin(t), t: t, id: noSession} }

// folder makes a folder in that of the run.
func folder(t *check.T, name string) string {
	dir := filepath.Join(t.Opts.Cwd, name)
	t.Requires(os.MkdirAll(dir, 0o700) == nil, "The folder %s cannot be created.", dir)
	return dir
}
