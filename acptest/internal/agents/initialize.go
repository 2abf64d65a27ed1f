package agents

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// tooNew is a version that nothing speaks.
const tooNew = 65535

var initializing = []check.Check{
	{ID: "ACP-INIT-001", Title: "initialize succeeds.", Tier: check.Must, Fact: "initialization", In: check.Both, First: true,
		Run: func(t *check.T) {
			p := t.Connect()
			c := p.Start("initialize", initParams(cmp.Or(t.Version, newest)))
			m, ok := c.Arrives()
			if others := p.Since(c.From()); !ok && len(others) > 0 {
				t.FailAt(others[0], "This came instead of a response to initialize.")
			}
			t.FailIf(!ok && p.Closed(), "The agent has closed the connection instead of answering initialize.")
			t.RequiresTime(ok, "A response to initialize did not come")
			t.FailAtIf(m.Error != nil, m, "initialize failed.")
			got := check.Get[int](&m, "protocolVersion")
			t.FailAtIf(got < 1, m, "The result has no protocol version.")
		}},
	{ID: "ACP-INIT-003", Title: "A client that asks for a version that does not exist yet gets one that does.", Tier: check.Must, Fact: "initialization", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			m := t.Connect().Start("initialize", initParams(tooNew)).Result()
			got := check.Get[int](&m, "protocolVersion")
			t.FailAtIf(got < 1 || got == tooNew, m, "The agent claims to speak version %d.", got)
		}},
	{ID: "AK-INIT-009", Title: "The agent sends nothing before initialize.", Tier: check.Must, Fact: "initialization", In: check.Both,
		Run: func(t *check.T) {
			if early := t.Connect().Quiet(0); len(early) > 0 {
				t.FailAt(early[0], "The message precedes initialize.")
			}
		}},
	{ID: "AK-INIT-001", Title: "The agent does not claim to speak version 0.", Tier: check.Should, Fact: "initialization", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			m := t.Connect().Call("initialize", initParams(0))
			t.FailAtIf(m.Error == nil && check.Get[int](&m, "protocolVersion") == 0, m, "The agent claims to speak version 0.")
		}},
	{ID: "AK-INIT-002", Title: "The error for a version that is too old lists those that the agent speaks.", Tier: check.Should, Fact: "initialization", In: check.V2, Rough: true,
		Run: func(t *check.T) {
			m := t.Connect().Call("initialize", initParams(0))
			t.SkipIf(m.Error == nil, "The agent did not refuse the version.")
			var data struct{ Supported []int }
			if json.Unmarshal(m.Error.Data, &data) != nil || m.Error.Code != -32022 || !slices.Contains(data.Supported, 2) {
				t.FailAt(m, "The error is not -32022 with the versions that are supported.")
			}
		}},
	{ID: "ACP-INIT-202", Title: "A client that asks for version 1 gets version 1, or learns that it is not spoken.", Tier: check.Must, Fact: "initialization", In: check.V2, Rough: true,
		Run: func(t *check.T) {
			m := t.Connect().Call("initialize", initParams(1))
			if got := check.Get[int](&m, "protocolVersion"); m.Error == nil && got != 1 {
				t.FailAt(m, "The agent chose version %d.", got)
			} else if m.Error != nil {
				fails(t, m, -32022)
			}
		}},
	{ID: "ACP-INIT-203", Title: "The agent tells its name and its version.", Tier: check.Must, Fact: "initialization", In: check.V2,
		Run: func(t *check.T) { named(t, "info") }},
	{ID: "AK-INIT-003", Title: "The agent tells its name and its version.", Tier: check.Interop, Fact: "initialization", In: check.V1,
		Run: func(t *check.T) { named(t, "agentInfo") }},
	{ID: "ACP-INIT-204", Title: "Capabilities have the types of the schema: objects in version 2, and true or false where version 1 says so.", Tier: check.Must, Fact: "initialization", In: check.Both,
		Run: func(t *check.T) {
			path := misshapen(t.Caps, "", t.Version)
			t.FailIf(path != "", "The capability %s has the wrong type: a client reads it as absent.", path)
		}},
	{ID: "AK-INIT-004", Title: "After a second initialize, which may be refused, the agent still works.", Tier: check.Should, Fact: "initialization", In: check.Both, Over: check.Bytes,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			p.Call("initialize", initParams(t.Version))
			works(t, p, newParams(t))
		})},
	{ID: "AK-INIT-005", Title: "initialize fails with -32600 after other requests.", Tier: check.Must, Fact: "initialization", In: check.V2, Over: check.Bytes, Rough: true,
		Run: func(t *check.T) { fails(t, open(t).Call("initialize", initParams(2)), -32600) }},
	{ID: "AK-INIT-006", Title: "A request before initialize fails, in version 2 with -32600, and initialize works after it.", Tier: check.Should, Fact: "initialization", In: check.Both, Over: check.Bytes, Rough: true,
		Run: func(t *check.T) {
			p := t.Connect()
			m := p.Call("session/new", newParams(t))
			p.Start("initialize", initParams(t.Version)).Result()
			if t.Version == 2 {
				fails(t, m, -32600)
			}
			fails(t, m)
		}},
	{ID: "AK-INIT-007", Title: "After an initialize that cannot be read the connection can be initialized.", Tier: check.Should, Fact: "initialization", In: check.Both, Over: check.Bytes, Rough: true,
		Run: func(t *check.T) {
			p := t.Connect()
			if m := p.Call("initialize", map[string]any{"protocolVersion": "x"}); m.Error != nil {
				p.Start("initialize", initParams(t.Version)).Result()
			}
		}},
	{ID: "AK-INIT-008", Title: "Members that the agent does not know are ignored.", Tier: check.Must, Fact: "initialization", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			unknown := map[string]any{"acptest": map[string]any{"x": []int{1}}}
			params := initParams(t.Version)
			maps.Copy(params, unknown)
			params["_meta"] = unknown
			for _, caps := range []string{"capabilities", "clientCapabilities"} {
				maps.Copy(params[caps].(map[string]any), unknown)
			}
			p := t.Connect()
			p.Start("initialize", params).Result()
			signIn(t, p)
			params = newParams(t)
			maps.Copy(params, unknown)
			params["_meta"] = unknown
			works(t, p, params)
		}},
	{ID: "AK-NULL-002", Title: "Members that are not required may be absent.", Tier: check.Must, Fact: "schema", In: check.Both,
		Run: func(t *check.T) {
			params := map[string]any{"protocolVersion": t.Version}
			if t.Version == 2 {
				params["info"] = map[string]any{"name": "acptest", "version": "1"}
			}
			p := t.Connect()
			p.Start("initialize", params).Result()
			signIn(t, p)
			params = newParams(t)
			if t.Version == 2 {
				delete(params, "mcpServers")
			}
			works(t, p, params)
		}},
	{ID: "AK-NULL-003", Title: "A request that needs no params may have none.", Tier: check.Should, Fact: "schema", In: check.Both, Needs: lists,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			p.Send(`{"jsonrpc":"2.0","id":601,"method":"session/list"}`)
			m := signedIn(t, p.Await(0, "the response to session/list", func(m *check.Message) bool { return m.IsResponse() && string(m.ID) == "601" }))
			t.FailAtIf(m.Error != nil, m, "session/list failed without params.")
		})},
	{ID: "AK-NULL-004", Title: "A member that a reader must forgive does not fail the message.", Tier: check.Should, Fact: "schema", In: check.V1, Rough: true, Prompts: []string{"text"},
		Run: func(t *check.T) {
			params := initParams(t.Version)
			params["clientInfo"] = 5
			p := t.Connect()
			m := p.Call("initialize", params)
			t.FailAtIf(m.Error != nil, m, "initialize failed because of clientInfo.")
			signIn(t, p)
			s := start(t, p)
			m = s.Start("session/prompt", s.with("prompt", []any{map[string]any{"type": "text", "text": t.Prompt("text"), "annotations": 5}})).Response()
			t.FailAtIf(m.Error != nil && m.Error.Code == -32602, m, "The prompt failed because of annotations.")
		}},
	{ID: "AK-NULL-001", Title: "Null stands for an optional member that is absent.", Tier: check.Must, Fact: "schema", In: check.Both,
		Run: func(t *check.T) {
			params := initParams(t.Version)
			params["_meta"] = nil
			if t.Version == 1 {
				params["clientInfo"] = nil
			}
			p := t.Connect()
			m := p.Call("initialize", params)
			t.FailAtIf(m.Error != nil, m, "initialize failed for null as _meta, or as clientInfo.")
			signIn(t, p)
			params = newParams(t)
			params["_meta"] = nil
			works(t, p, params)
			if t.Has(lists) {
				m := signedIn(t, p.Call("session/list", map[string]any{"cwd": nil, "cursor": nil, "_meta": nil}))
				t.FailAtIf(m.Error != nil, m, "session/list failed for null as cwd and cursor.")
			}
		}},
}

func named(t *check.T, member string) {
	named := check.At(t.Init, member, "name") != nil && check.At(t.Init, member, "version") != nil
	t.FailIf(!named, "The member %s of the result of initialize has no name or no version.", member)
}

// works fails the check if no session can be started, unless the agent wants the user to sign in.
func works(t *check.T, p *check.Peer, params map[string]any) {
	if m := p.Call("session/new", params); m.Error != nil && m.Error.Code != -32000 {
		t.FailAt(m, "session/new failed with %d (%s).", m.Error.Code, m.Error.Message)
	}
}

// flags are the capabilities of version 1 that are true or false. The other ones are objects.
var flags = []string{"loadSession", "promptCapabilities.image", "promptCapabilities.audio", "promptCapabilities.embeddedContext", "mcpCapabilities.http", "mcpCapabilities.sse", "mcpCapabilities.acp"}

// groups are the capabilities of version 1 whose members the schema knows.
var groups = []string{"promptCapabilities", "mcpCapabilities", "sessionCapabilities", "auth"}

// misshapen returns the path of a capability that has a wrong type, or "".
func misshapen(raw json.RawMessage, path string, version int) string {
	var members map[string]json.RawMessage
	switch first := strings.TrimSpace(string(raw) + "?")[:1]; {
	case len(raw) == 0, string(raw) == "null":
		return ""
	case version == 1 && slices.Contains(flags, path):
		if first != "t" && first != "f" {
			return path
		}
		return ""
	case json.Unmarshal(raw, &members) != nil:
		return path
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		child := strings.TrimPrefix(path+"."+name, ".")
		known := version == 2 || path == "" && (slices.Contains(flags, name) || slices.Contains(groups, name)) || slices.Contains(groups, path)
		if name == "_meta" || !known {
			continue
		}
		if wrong := misshapen(members[name], child, version); wrong != "" {
			return wrong
		}
	}
	return ""
}

// How long an agent may take to end: without work, and with a turn that must be stored.
const (
	endTime     = 5 * time.Second
	busyEndTime = 10 * time.Second
)

var starting = []check.Check{
	{ID: "ACP-TRANSPORT-001", Title: "Nothing but messages is sent, such as a banner or a log.", Tier: check.Must, Fact: "transports", In: check.Both, Passive: "message"},
	{ID: "ACP-TRANSPORT-002", Title: "All messages are UTF-8.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.Bytes, Passive: "utf8"},
	{ID: "ACP-SHUTDOWN-001", Title: "The agent ends within 5 s of the end of its input.", Tier: check.Should, Fact: "transports", In: check.Both, Over: check.Bytes,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			p.CloseInput()
			t.FailIf(!p.Ends(t.Patience(endTime)), "The agent was running %v after the end of its input.", endTime)
		})},
	{ID: "AK-START-001", Title: "The agent ends within 10 s of the end of its input also if a turn runs.", Tier: check.Should, Fact: "transports", In: check.Both, Over: check.Bytes, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			s.CloseInput()
			t.FailIf(!s.Ends(t.Patience(busyEndTime)), "The agent was running %v after the end of its input.", busyEndTime)
		})},
	{ID: "AK-START-002", Title: "The agent waits for the processes that it has started, and none is left when it has ended.", Tier: check.Should, Fact: "transports", In: check.Both, Over: check.Bytes, Prompts: []string{"text"},
		Run: check.With(talked, func(t *check.T, s *session) {
			left, known := s.Left()
			t.SkipIf(!known, "It is not known which processes such a peer has started.")
			t.FailIf(left, "The agent has not waited for a process that has ended.")
			s.CloseInput()
			t.Requires(s.Ends(busyEndTime), "The agent did not end with its input.")
			left, _ = s.Left()
			t.FailIf(left, "Processes that the agent has started are still running.")
		})},
}
