package interop_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The checks find defects before programs on the TypeScript SDK as they find them before the
// reference peers, which are ours.
func TestDefectsBeforeOtherPrograms(t *testing.T) {
	needShell(t)
	const prompts = `{"text":"say Hello","stream":"say a b c","slow":"wait","ask":"permission","tool":"permission","read":"files","write":"files","run":"terminal"}`
	for name, c := range map[string]struct {
		command        []string
		version, shown string
	}{
		"an agent of version 1": {node(t, "agent.mjs"), "1", "70"},
		"an agent of version 2": {node(t, "v2/agent.mjs"), "2", "80"},
		"a client of version 1": {node(t, "prompt.mjs", "{cwd}", "{agent}"), "1", "45"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), need(t, "go"), "test", "-vet=off", "-count=1", "-v", "-timeout", "8m", "-parallel", "6", "./acp/acptest", "-run", "TestDefectsBeforeAPeer",
				"-peer", strings.Join(c.command, " "), "-peer-version", c.version, "-peer-prompts", prompts, "-peer-shown", c.shown)
			cmd.Dir, cmd.Env = "../../..", append(os.Environ(), "GOFLAGS=")
			out, err := cmd.CombinedOutput()
			assert.NoError(t, err, "%s", out)
		})
	}
}
