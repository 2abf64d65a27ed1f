package agents

import (
	"regexp"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
)

// secret is a value in params that the agent cannot read.
const secret = "acptest-secret-5b1c9e"

// traces are what a stack trace, or a file of a program, looks like.
var traces = regexp.MustCompile(`\n\s+at \S|goroutine \d+ \[|Traceback \(most recent|panicked at |\.(go|js|mjs|cjs|ts|py|rs|kt|java):\d+`)

// codes are the codes to which the protocol gives a meaning, in the ranges that it reserves.
var codes = []int64{-32700, -32600, -32601, -32602, -32603, -32800, -32000, -32002, -32022}

var failing = []check.Check{
	{ID: "ACP-ERROR-001", Title: "An error has a code, and a message that is not empty.", Tier: check.Must, Fact: "3.1", In: check.Both, Rough: true,
		Run: provoking(func(t *check.T, m check.Message) {
			t.FailAtIf(m.Error.Code == 0 || strings.TrimSpace(m.Error.Message) == "", m, "The error has no code or no message.")
		})},
	{ID: "AK-ERROR-001", Title: "An error shows no stack trace and no line of the program.", Tier: check.Should, Fact: "3.3", In: check.Both, Rough: true,
		Run: provoking(func(t *check.T, m check.Message) {
			found := traces.FindString(m.Error.Message + "\n" + strings.ReplaceAll(string(m.Error.Data), `\n`, "\n"))
			t.FailAtIf(found != "", m, "The error shows %q.", strings.TrimSpace(found))
		})},
	{ID: "AK-ERROR-002", Title: "An error does not show variables of MCP servers, which hold secrets.", Tier: check.Should, Fact: "3.3", In: check.Both, Rough: true,
		Run: provoking(func(t *check.T, m check.Message) {
			t.FailAtIf(strings.Contains(string(m.Raw), secret), m, "The error shows the value of a variable.")
		})},
	{ID: "AK-ERROR-003", Title: "The codes of errors are those of the protocol, or outside of the ranges that it reserves.", Tier: check.Should, Fact: "3.1", In: check.Both, Rough: true,
		Run: provoking(func(t *check.T, m check.Message) {
			reserved := m.Error.Code >= -32768 && m.Error.Code <= -32000 || m.Error.Code >= -32899 && m.Error.Code <= -32800
			t.FailAtIf(reserved && !slices.Contains(codes, m.Error.Code), m, "The code %d is reserved.", m.Error.Code)
		})},
}

// provoking returns a check of the errors of requests that cannot succeed.
func provoking(f func(t *check.T, m check.Message)) func(*check.T) {
	return check.With(unknown, func(t *check.T, s *session) {
		broken := newParams(t)
		broken["mcpServers"] = []any{map[string]any{"type": "stdio", "name": "acptest", "command": 5, "args": "x", "env": []any{map[string]any{"name": "KEY", "value": secret}}}}
		failed := false
		for _, c := range []*check.Call{
			s.Start("acptest/unknown", map[string]any{}),
			s.Start("session/new", broken),
			s.Start("session/new", []any{}),
			s.Start("session/prompt", map[string]any{}),
			s.prompt("hello"),
		} {
			if m := c.Response(); m.Error != nil {
				f(t, m)
				failed = true
			}
		}
		t.Requires(failed, "The agent has answered all requests with results.")
	})
}
