package adapters_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The program that users start from holds a turn with each agent, in each version.
func TestChat(t *testing.T) {
	program := filepath.Join(t.TempDir(), "chat")
	eachAdapter(t, func(t *testing.T, a *adapter) {
		if _, err := os.Stat(program); err != nil {
			out, err := exec.Command("go", "build", "-o", program, "github.com/acpkit/go-sdk/examples/chat").CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
		for _, protocol := range []string{"1", "2", "newest"} {
			t.Run(protocol, func(t *testing.T) {
				place := newWorkplace(t, a)
				agent := place.command()
				args := append([]string{"-yes", "-protocol", protocol, "-prompt", scriptMark + place.writing(t), "--"}, agent.Args...)
				cmd := exec.CommandContext(t.Context(), program, args...)
				cmd.Dir, cmd.Env, cmd.WaitDelay = place.dir, place.env, time.Second
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s", out)
				assert.Contains(t, string(out), "Written.")
				assert.Contains(t, string(out), "  + new\n")
				assert.NotContains(t, string(out), "---", "the head of a patch is no change")
				assert.LessOrEqual(t, strings.Count(string(out), "? write"), 1, "%s", out)
				assert.Equal(t, "new\n", place.text(t))
			})
		}
	})
}
