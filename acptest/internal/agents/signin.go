package agents

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// method is a way to sign in, in one of the versions.
type method struct {
	ID, MethodID, Name, Type string
	Args, Env                json.RawMessage
}

func (m *method) id() string { return m.ID + m.MethodID }

var signingIn = []check.Check{
	{ID: "ACP-AUTH-001", Title: "The methods to sign in have ids of their own.", Tier: check.Must, Fact: "authentication", In: check.Both,
		Run: func(t *check.T) {
			var ids []string
			for _, m := range methods(t, t.Init) {
				t.FailIf(slices.Contains(ids, m.id()), "Two methods have the id %q.", m.id())
				ids = append(ids, m.id())
			}
		}},
	{ID: "ACP-AUTH-202", Title: "Methods that need a terminal are offered only to clients that have one.", Tier: check.Must, Fact: "authentication", In: check.Both,
		Run: func(t *check.T) {
			for _, m := range methods(t, t.Init) {
				t.FailIf(m.Type == "terminal", "The method %q needs a terminal.", m.id())
			}
		}},
	{ID: "ACP-AUTH-206", Title: "The type of a method to sign in is known, or begins with an underscore.", Tier: check.Should, Fact: "authentication", In: check.V2,
		Run: func(t *check.T) {
			for _, m := range methods(t, t.Init) {
				known := m.Type == "agent" || m.Type == "terminal" || strings.HasPrefix(m.Type, "_")
				t.FailIf(!known, "The method %q has the type %q.", m.id(), m.Type)
			}
		}},
	{ID: "ACP-AUTH-207", Title: "The arguments and variables of a method that needs a terminal can be read, and no variable is set twice.", Tier: check.Must, Fact: "authentication", In: check.Both,
		Run: func(t *check.T) {
			p := t.Connect()
			params := initParams(t.Version)
			params["clientCapabilities"] = map[string]any{"auth": map[string]any{"terminal": true}}
			params["capabilities"] = map[string]any{"auth": map[string]any{"terminal": map[string]any{}}}
			var m check.Message
			t.Works(func() { m = p.Start("initialize", params).Result() })
			all := methods(t, m.Result)
			t.SkipIf(!slices.ContainsFunc(all, func(m method) bool { return m.Type == "terminal" }), "No method needs a terminal.")
			for _, one := range all {
				wrong := one.Type == "terminal" && !launches(one, t.Version)
				t.FailAtIf(wrong, m, "The arguments or variables of the method %q cannot be used.", one.id())
			}
		}},
	{ID: "ACP-AUTH-003", Title: "A user who signs in by a method that is offered can start a session.", Tier: check.Must, Fact: "authentication", In: check.Both,
		Run: func(t *check.T) {
			t.SkipIf(t.Opts.Auth == "", "Nothing is known that signs in without a user: set -auth METHOD.")
			if m := begin(t).Call("session/new", newParams(t)); m.Error != nil {
				t.FailAt(m, "session/new failed with %d (%s).", m.Error.Code, m.Error.Message)
			}
		}},
	{ID: "AK-AUTH-004", Title: "A session that needs a sign-in fails with -32000 before it.", Tier: check.Must, Fact: "authentication", In: check.Both,
		Run: func(t *check.T) {
			t.SkipIf(t.Opts.Auth == "", "Nothing is known that signs in without a user: set -auth METHOD.")
			t.Requires(t.Blocked == "", "No session can be started after the sign-in either.")
			p := t.Connect()
			t.Works(func() { p.Start("initialize", initParams(t.Version)).Result() })
			if m := p.Call("session/new", newParams(t)); m.Error != nil {
				fails(t, m, -32000)
			}
		}},
	{ID: "AK-AUTH-001", Title: "A method that is not offered cannot be used.", Tier: check.Should, Fact: "authentication", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			name := map[int]string{1: "authenticate", 2: "auth/login"}[t.Version]
			fails(t, begin(t).Call(name, map[string]any{"methodId": "acptest-no-such-method"}))
		}},
	{ID: "AK-AUTH-002", Title: "auth/status tells whether the user is signed in, before a sign-in too; one who is, or need not be, can start a session.", Tier: check.Must, Fact: "authentication", In: check.Both, Needs: "auth.status",
		Run: func(t *check.T) {
			p := t.Connect()
			t.Works(func() { p.Start("initialize", initParams(t.Version)).Result() })
			status := func() check.Message {
				m := p.Start("auth/status", map[string]any{}).Result()
				if state := m.Text("state"); state == "authenticated" || state == "not_required" {
					one := p.Call("session/new", newParams(t))
					t.FailAtIf(one.Error != nil && one.Error.Code == -32000, one, "The state is %q, and session/new wants the user to sign in.", state)
				}
				return m
			}
			if status(); t.Opts.Auth == "" {
				return
			}
			t.Works(func() { p.Start(signInBy[t.Version], map[string]any{"methodId": t.Opts.Auth}).Result() })
			m := status()
			t.FailAtIf(m.Text("state") == "unauthenticated", m, "Nobody is signed in after the sign-in by %q has succeeded.", t.Opts.Auth)
		}},
}

// signedIn returns a response. The check is inconclusive if the request failed because nobody is
// signed in.
func signedIn(t *check.T, m check.Message) check.Message {
	t.Requires(m.Error == nil || m.Error.Code != -32000, "The agent wants the user to sign in: set -auth METHOD.")
	return m
}

// methods returns the methods to sign in, or ends the check.
func methods(t *check.T, result json.RawMessage) []method {
	t.Show("", string(result))
	m := check.Message{Result: result}
	all := check.Get[[]method](&m, "authMethods")
	t.SkipIf(len(all) == 0, "The agent offers no method to sign in.")
	return all
}

// launches reports whether a client can use a method that needs a terminal.
func launches(m method, version int) bool {
	var args []string
	var names []string
	var list []struct{ Name, Value string }
	var object map[string]string
	env := any(&list)
	if version == 1 {
		env = &object
	}
	if m.Args != nil && json.Unmarshal(m.Args, &args) != nil || m.Env != nil && json.Unmarshal(m.Env, env) != nil {
		return false
	}
	for _, v := range list {
		if v.Name == "" || slices.Contains(names, v.Name) {
			return false
		}
		names = append(names, v.Name)
	}
	return true
}
