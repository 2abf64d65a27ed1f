package agent_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/agent"
)

// needGit skips a test that applies patches if git is not installed. In CI the test fails instead.
func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		require.Empty(t, os.Getenv("CI"), "git is not installed, which CI must have")
		t.Skip("git is not installed: the test applies patches with it")
	}
}

// Git applies each patch to the old text; the result must be the new text.
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

// A patch of the protocol names files by their absolute paths, without prefixes.
func TestDiffNamesFiles(t *testing.T) {
	for name, test := range map[string]struct{ path, want string }{
		"plain":                  {"/work/a.txt", "/work/a.txt"},
		"with a space":           {"/work/new file.txt", `"/work/new file.txt"`},
		"with quotes":            {`/work/a"b.txt`, `"/work/a\"b.txt"`},
		"with a backslash":       {`/work/a\b.txt`, `"/work/a\\b.txt"`},
		"with a line break":      {"/work/a\nb.txt", `"/work/a\012b.txt"`},
		"not ASCII":              {"/work/ä.txt", "/work/ä.txt"},
		"of Windows":             {`C:\work\a.txt`, "C:/work/a.txt"},
		"of a server of Windows": {`\\server\work\a b.txt`, `"//server/work/a b.txt"`},
	} {
		t.Run(name, func(t *testing.T) {
			d := agent.Diff(test.path, new("old\n"), new("new\n"))
			require.NotNil(t, d.Patch)
			assert.Equal(t, "diff --git "+test.want+" "+test.want+"\n"+
				"--- "+test.want+"\n+++ "+test.want+"\n@@ -1 +1 @@\n-old\n+new\n", d.Patch.Text)
		})
	}
	created := agent.Diff("/work/a.txt", nil, new("x\n"))
	assert.Equal(t, "diff --git /work/a.txt /work/a.txt\nnew file mode 100644\n--- /dev/null\n+++ /work/a.txt\n@@ -0,0 +1 @@\n+x\n", created.Patch.Text)
	removed := agent.Diff("/work/a.txt", new("x\n"), nil)
	assert.Equal(t, "diff --git /work/a.txt /work/a.txt\ndeleted file mode 100644\n--- /work/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", removed.Patch.Text)
	assert.Nil(t, agent.Diff("/work/a.txt", new("x\n"), new("x\n")).Patch, "git has no patch that changes nothing")
}

// Git finds the file of each patch at its absolute path, whatever its name.
func TestDiffAppliesAtAbsolutePath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not allow the file names of this test")
	}
	needGit(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	// Git removes a folder with the last file in it.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "another"), nil, 0o600))
	apply := func(path string, before, after *string) {
		cmd := exec.Command("git", "apply", "--unsafe-paths", "--whitespace=nowarn", "--directory=/")
		cmd.Dir = dir
		patch := agent.Diff(path, before, after).Patch.Text
		cmd.Stdin = strings.NewReader(patch)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", out, patch)
	}
	for _, name := range []string{"plain", "a space", "ä", "tab\there", "line\nbreak", `quo"te`, `back\slash`, "del\x7f", `"all" of\	it`} {
		path := filepath.Join(dir, name)
		for _, texts := range [][2]string{{"one\ntwo\n", "one\nTWO\n"}, {"", "x"}, {"x", ""}, {"\r\n\r\n", "\r\n\n"}} {
			apply(path, nil, &texts[0])
			apply(path, &texts[0], &texts[1])
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, texts[1], string(got), "%q", name)
			apply(path, &texts[1], nil)
			assert.NoFileExists(t, path)
		}
	}
}
