package clients

import (
	"maps"
	"strings"
	"sync/atomic"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

var initializing = []check.Check{
	{ID: "AKC-INIT-001", Title: "The first message is initialize.", Tier: check.Must, Fact: "initialization", In: check.Both, First: true,
		Run: func(t *check.T) {
			m := accept(t, handlers(t.Version)).Await(0, "initialize", func(*check.Message) bool { return true })
			t.FailAtIf(m.Method != "initialize" || m.ID == nil, m, "The first message is not initialize.")
			t.FailAtIf(check.Get[int](&m, "protocolVersion") < 1, m, "initialize asks for no version.")
		}},
	{ID: "AKC-INIT-002", Title: "An agent of a version that the client does not speak gets no session.", Tier: check.Should, Fact: "initialization", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			noSession(t, func(check.Message) any {
				answer := initialized(1)
				maps.Copy(answer, initialized(2))
				answer["protocolVersion"] = tooNew
				return answer
			})
		}},
	{ID: "AKC-INIT-003", Title: "An agent that refuses initialize gets no session.", Tier: check.Must, Fact: "initialization", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			noSession(t, func(check.Message) any { return &check.Error{Code: -32603, Message: "Internal error"} })
		}},
	{ID: "AKC-INIT-004", Title: "What the client does not know in the result of initialize is ignored.", Tier: check.Must, Fact: "initialization", In: check.Both,
		Run: func(t *check.T) {
			answers := handlers(t.Version)
			plain := answers["initialize"]
			answers["initialize"] = func(m check.Message) any {
				answer := plain(m).(map[string]any)
				answer["acptestMember"] = []any{1, nil}
				answer["_meta"] = object("acptest", 1)
				for _, name := range []string{"agentCapabilities", "capabilities"} {
					if caps, ok := answer[name].(map[string]any); ok {
						caps["acptestCapability"] = object("deep", true)
					}
				}
				return answer
			}
			accept(t, answers).Await(0, "session/new", is("session/new"))
		}},
	{ID: "AKC-INIT-005", Title: "What an agent must tell in the result of initialize suffices, and the rest may be null.", Tier: check.Must, Fact: "initialization", In: check.Both,
		Run: func(t *check.T) {
			least := object("protocolVersion", t.Version)
			nulls := initialized(t.Version)
			nulls["_meta"] = nil
			if t.Version == 2 {
				least["info"] = nulls["info"]
				least["capabilities"] = object("session", object())
			} else {
				nulls["agentInfo"] = nil
				nulls["agentCapabilities"] = object("loadSession", false, "sessionCapabilities", object("list", nil, "resume", nil, "close", nil, "_meta", nil), "_meta", nil)
			}
			for _, result := range []any{least, nulls} {
				answers := handlers(t.Version)
				answers["initialize"] = func(check.Message) any { return result }
				accept(t, answers).Await(0, "session/new", is("session/new"))
			}
		}},
	{ID: "AKC-SESSION-004", Title: "The result of session/new is read with modes and options, and with null in their place.", Tier: check.Must, Fact: "session-setup", In: check.Both, Prompts: []string{"text"},
		Run: func(t *check.T) {
			value := object("value", "a", "name", "A")
			options := []any{object("id", "o", "configId", "o", "name", "O", "type", "select", "currentValue", "a", "options", []any{value}),
				object("id", "g", "configId", "g", "name", "G", "category", "_acptest", "type", "select", "currentValue", "a", "options", []any{object("group", "g", "groupId", "g", "name", "G", "options", []any{value})})}
			results := []map[string]any{object("configOptions", options, "availableCommands", []any{}, "acptestMember", 1)}
			if t.Version == 1 {
				results = []map[string]any{object("modes", nil, "configOptions", nil, "_meta", nil),
					object("modes", object("currentModeId", "a", "availableModes", []any{object("id", "a", "name", "A"), object("id", "b", "name", "B", "description", nil)}), "configOptions", options, "acptestMember", 1)}
			}
			for _, result := range results {
				answers := handlers(t.Version)
				result["sessionId"] = sessionID
				answers["session/new"] = func(check.Message) any { return result }
				accept(t, answers).Await(0, "session/prompt", is("session/prompt"))
			}
		}},
	{ID: "AKC-AUTH-003", Title: "A client that has signed in opens its session.", Tier: check.Should, Fact: "authentication", In: check.Both,
		Run: func(t *check.T) {
			var signedIn atomic.Bool
			answers := handlers(t.Version)
			plain, opened := answers["initialize"], answers["session/new"]
			answers["initialize"] = func(m check.Message) any {
				answer := plain(m).(map[string]any)
				answer["authMethods"] = []any{object("id", "acptest-login", "methodId", "acptest-login", "type", "agent", "name", "Sign in")}
				return answer
			}
			answers["session/new"] = func(m check.Message) any {
				if signedIn.Load() {
					return opened(m)
				}
				return &check.Error{Code: -32000, Message: "Authentication required"}
			}
			answers["authenticate"] = func(check.Message) any {
				signedIn.Store(true)
				return map[string]any{}
			}
			answers["auth/login"] = answers["authenticate"]
			p := accept(t, answers)
			m, ok := p.Arrives(0, func(m *check.Message) bool { return m.Method == "authenticate" || m.Method == "auth/login" })
			t.SkipIf(!ok, "The client does not sign in by itself.")
			p.Await(m.Seq, "session/new after the sign-in", is("session/new"))
		}},
	{ID: "AKC-SESSION-001", Title: "A session is opened in an absolute folder.", Tier: check.Must, Fact: "session-setup", In: check.Both,
		Run: func(t *check.T) {
			m := open(t).Await(0, "session/new", is("session/new"))
			t.FailAtIf(!check.Absolute.MatchString(m.Text("cwd")), m, "The folder of the session is not absolute.")
		}},
	{ID: "AKC-SESSION-002", Title: "A session that the agent refuses gets no prompt.", Tier: check.Must, Fact: "session-setup", In: check.Both, Prompts: []string{"text"},
		Run: func(t *check.T) {
			answers := handlers(t.Version)
			answers["session/new"] = func(check.Message) any { return &check.Error{Code: -32603, Message: "Internal error"} }
			p := accept(t, answers)
			t.Works(func() { p.Await(0, "session/new", is("session/new")) })
			none(t, p, "session/prompt", "A prompt was sent for a session that does not exist.")
		}},
	{ID: "AKC-SESSION-003", Title: "A prompt names the session by the id that the agent gave.", Tier: check.Must, Fact: "session-setup", In: check.Both, Prompts: []string{"text"},
		Run: func(t *check.T) {
			const id = `Acp/test "1"\ é 世 ` + "\u2028"
			answers := handlers(t.Version)
			answers["session/new"] = func(check.Message) any { return object("sessionId", id) }
			m := openWith(t, answers, id).prompt
			t.FailAtIf(m.Text("sessionId") != id, m, "The prompt names another session.")
		}},
	{ID: "AKC-AUTH-002", Title: "A method that needs a terminal is not used without one.", Tier: check.Must, Fact: "authentication", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			answers := handlers(t.Version)
			plain := answers["initialize"]
			answers["initialize"] = func(m check.Message) any {
				answer := plain(m).(map[string]any)
				answer["authMethods"] = []any{object("id", "acptest-terminal", "methodId", "acptest-terminal", "type", "terminal", "name", "Sign in")}
				return answer
			}
			answers["session/new"] = func(check.Message) any { return &check.Error{Code: -32000, Message: "Authentication required"} }
			p := accept(t, answers)
			t.Works(func() { p.Await(0, "session/new", is("session/new")) })
			for _, method := range []string{"authenticate", "auth/login"} {
				none(t, p, method, "The client signs in by a method that needs a terminal.")
			}
		}},
	{ID: "AKC-AUTH-001", Title: "The client signs in by a method that the agent offers.", Tier: check.Must, Fact: "authentication", In: check.Both,
		Run: func(t *check.T) {
			const way = "acptest-login"
			answers := handlers(t.Version)
			plain := answers["initialize"]
			answers["initialize"] = func(m check.Message) any {
				answer := plain(m).(map[string]any)
				answer["authMethods"] = []any{object("id", way, "methodId", way, "type", "agent", "name", "Sign in")}
				return answer
			}
			answers["session/new"] = func(check.Message) any { return &check.Error{Code: -32000, Message: "Authentication required"} }
			answers["authenticate"] = func(check.Message) any { return map[string]any{} }
			answers["auth/login"] = answers["authenticate"]
			m, ok := accept(t, answers).Arrives(0, func(m *check.Message) bool { return m.Method == "authenticate" || m.Method == "auth/login" })
			t.SkipIf(!ok, "The client does not sign in by itself.")
			t.FailAtIf(m.Text("methodId") != way, m, "The client signs in by a method that the agent does not offer.")
		}},
}

// noSession checks that the client opens no session if initialize is answered in this way.
func noSession(t *check.T, answer check.Handler) {
	answers := handlers(t.Version)
	answers["initialize"] = answer
	p := accept(t, answers)
	t.Works(func() { p.Await(0, "initialize", is("initialize")) })
	none(t, p, "session/", "The client goes on as if initialize had succeeded.")
}

// none checks that the client sends no message whose method has a prefix before it ends. A client
// that goes on for its user has the time of an answer.
func none(t *check.T, p *check.Peer, prefix, wrong string) {
	m, ok := p.Arrives(0, func(m *check.Message) bool { return strings.HasPrefix(m.Method, prefix) })
	t.FailAtIf(ok, m, "%s", wrong)
}
