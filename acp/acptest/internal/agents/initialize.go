package agents

import "github.com/acpkit/go-sdk/acp/acptest/internal/check"

// tooNew is a version that nothing speaks.
const tooNew = 65535

var initializing = []check.Check{
	{ID: "ACP-INIT-001", Title: "initialize succeeds.", Tier: check.Must, Fact: "1.1", In: check.Both, First: true,
		Run: func(t *check.T) {
			version := t.Version
			if version == 0 {
				version = newest
			}
			m := t.Connect().Start("initialize", initParams(version)).Result()
			if got := check.Get[int](&m, "protocolVersion"); got < 1 {
				t.FailAt(m, "The result has no protocol version.")
			}
		}},
	{ID: "ACP-INIT-003", Title: "A version that the agent does not speak is not echoed.", Tier: check.Must, Fact: "5.1", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			m := t.Connect().Call("initialize", initParams(tooNew))
			if m.Error == nil && check.Get[int](&m, "protocolVersion") == tooNew {
				t.FailAt(m, "The agent claims to speak version %d.", tooNew)
			}
			if m.Error != nil && t.Version == 1 {
				t.FailAt(m, "initialize failed instead of offering the newest version that the agent speaks.")
			}
		}},
}
