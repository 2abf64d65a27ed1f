package agent_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/v2"
)

// needGit skips a test that applies patches where git is not installed, but not in CI.
func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		require.Empty(t, os.Getenv("CI"), "git is not installed, which CI must have")
		t.Skip("git is not installed: the test applies patches with it")
	}
}

// Git itself says whether a patch is right: applied to the old text it must give the new.
func TestDiffAppliesWithGit(t *testing.T) {
	needGit(t)
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range random.IntN(30) {
			b.WriteString(strings.Repeat("x", random.IntN(4)) + "\n")
		}
		if random.IntN(3) == 0 {
			b.WriteString("the end")
		}
		return b.String()
	}
	change := func(s string) string {
		parts := strings.SplitAfter(s, "\n")
		for range random.IntN(4) {
			i := random.IntN(len(parts))
			switch random.IntN(3) {
			case 0:
				parts[i] = "changed\n"
			case 1:
				parts[i] = ""
			case 2:
				parts[i] += "added\n"
			}
		}
		return strings.Join(parts, "")
	}
	dir := t.TempDir()
	git := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	git("init", "-q")
	file := filepath.Join(dir, "a.txt")
	for i := range 60 {
		before := text()
		after := change(before)
		if before == "" || after == "" || before == after {
			continue
		}
		require.NoError(t, os.WriteFile(file, []byte(before), 0o600))
		diff := agent.Diff("/a.txt", &before, &after)
		patch := filepath.Join(dir, "p.patch")
		require.NoError(t, os.WriteFile(patch, []byte(diff.Patch.Text), 0o600))
		git("apply", "--whitespace=nowarn", "p.patch")
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, after, string(got), "round %d\n%s", i, diff.Patch.Text)
	}
	t.Run("created and removed", func(t *testing.T) {
		body := "one\ntwo\n"
		require.NoError(t, os.Remove(file))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "p.patch"), []byte(agent.Diff("/a.txt", nil, &body).Patch.Text), 0o600))
		git("apply", "p.patch")
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, body, string(got))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "p.patch"), []byte(agent.Diff("/a.txt", &body, nil).Patch.Text), 0o600))
		git("apply", "p.patch")
		assert.NoFileExists(t, file)
	})
}
