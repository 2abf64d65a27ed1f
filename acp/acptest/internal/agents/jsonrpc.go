package agents

import "github.com/acpkit/go-sdk/acp/acptest/internal/check"

var jsonrpc = []check.Check{
	{ID: "ACP-JSONRPC-004", Title: "A request for an unknown method fails with -32601.", Tier: check.Must, Fact: "1.1", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			m := begin(t).Call("acptest/unknown", map[string]any{})
			if m.Error == nil || m.Error.Code != -32601 {
				t.FailAt(m, "The request did not fail with -32601.")
			}
		}},
	{ID: "ACP-JSONRPC-003", Title: "A notification is not responded to.", Tier: check.Must, Fact: "3.1", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			p := begin(t)
			from := p.Mark()
			p.Notify("acptest/unknown", map[string]any{})
			for _, m := range p.Quiet(from) {
				if m.IsResponse() {
					t.FailAt(m, "A notification was responded to.")
				}
			}
		}},
	{ID: "AK-PARSE-001", Title: "A line that is not JSON does not end the connection.", Tier: check.Must, Fact: "3.2", In: check.Both, Over: check.Bytes, Rough: true,
		Run: func(t *check.T) {
			p := begin(t)
			p.Send("{nonsense")
			p.Alive()
		}},
}

// passiveRules are decided by the rules that are passive, on the traffic of all checks.
var passiveRules = []check.Check{
	{ID: "ACP-JSONRPC-001", Title: "A response has the id of a request in flight.", Tier: check.Must, Fact: "3.3", In: check.Both, Passive: "unknown-id"},
	{ID: "ACP-SCHEMA-001", Title: "Every message is valid by the schema of its method.", Tier: check.Must, Fact: "2", In: check.Both, Passive: "schema"},
	{ID: "AK-ORDER-001", Title: "The updates of a turn precede its end.", Tier: check.Should, Fact: "1.5.1", In: check.Both, Passive: "late-update"},
}
