package interop_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The checks find defects before agents on the TypeScript SDK as they find them before the
// reference agent, which is ours.
func TestDefectsBeforeOtherAgents(t *testing.T) {
	needShell(t)
	for name, c := range map[string]struct{ script, version, prompts string }{
		"version 1": {"agent.mjs", "1",
			`{"text":"say Hello","stream":"say a b c","slow":"wait","ask":"permission","tool":"permission","read":"files","write":"files","run":"terminal"}`},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), need(t, "go"), "test", "-vet=off", "-count=1", "-v", "-timeout", "8m", "./acp/acptest", "-run", "TestDefectsBeforeAPeer",
				"-peer", strings.Join(node(t, c.script), " "), "-peer-version", c.version, "-peer-prompts", c.prompts, "-peer-shown", "70")
			cmd.Dir, cmd.Env = "../../..", append(os.Environ(), "GOFLAGS=")
			out, err := cmd.CombinedOutput()
			assert.NoError(t, err, "%s", out)
		})
	}
}
