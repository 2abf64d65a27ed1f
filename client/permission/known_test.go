package permission_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/client/permission"
)

// A rule that allows go test lets an agent run it that asks first, with no one there; what a
// shell could read as more is denied.
func TestKnownAgentsRunWithoutAPerson(t *testing.T) {
	const claude, codex = "@agentclientprotocol/claude-agent-acp", "@agentclientprotocol/codex-acp"
	for _, c := range []struct {
		agent, tool, input string
		by                 permission.Reason
	}{
		{claude, "Bash", `{"command":"go test ./...","description":"Run the tests"}`, permission.ByRule},
		{claude, "Bash", `{"command":"go test -run=TestA ./a","timeout":60000,"run_in_background":true}`, permission.ByRule},
		{codex, "exec_command", `{"command":"go test ./...","cwd":"/srv/acp/ws"}`, permission.ByRule},
		{claude, "Bash", `{"command":"go vet ./..."}`, permission.ByNoOne},
		{claude, "Bash", `{"command":"go test ./...; rm x"}`, permission.ByNoOne},
		{claude, "Bash", `{"command":"go test ./...\nrm x"}`, permission.ByNoOne},
		{claude, "Bash", `{"command":"go test $(rm x)"}`, permission.ByNoOne},
		{claude, "Bash", `{"command":"go test -exec 'rm x'"}`, permission.ByNoOne},
		{claude, "Bash", `{"command":"GOFLAGS=-exec=x go test"}`, permission.ByNoOne},
		{claude, "Bash", `{"command":"go test ~ > x"}`, permission.ByNoOne},
		{claude, "Bash", `{"command":"go test","dangerouslyDisableSandbox":true}`, permission.ByNoOne},
		{claude, "Bash", `{"command":"go test","args":"x"}`, permission.ByNoOne},
		{claude, "Bash", `{"command":" "}`, permission.ByNoOne},
		{claude, "mcp__box__run", `{"command":"go test"}`, permission.ByNoOne},
		{"another", "Bash", `{"command":"go test"}`, permission.ByNoOne},
		{claude, "Bash", `{"command":"go test ./... && git push"}`, permission.ByRule},
	} {
		rules := []permission.Rule{{Decision: permission.Allow, Commands: []string{"go test *"}}, {Name: "push", Decision: permission.Deny, Commands: []string{"git push"}}}
		d := newDesk(t, permission.Options{Rules: rules, Extract: permission.ExtractKnown})
		q := question(permission.Tool{Name: c.tool, Kind: "execute", Input: json.RawMessage(c.input)})
		q.Agent = c.agent
		o := d.Decide(t.Context(), q)
		assert.Equal(t, c.by, o.By, c.input)
		assert.Equal(t, c.by == permission.ByRule && d.last().Rule != "push", o.Decision == permission.Allow, c.input)
	}
}
