package interop_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/acpkit/go-sdk/acptest/passive"
)

// tapRecords reads all recordings in a folder: how many messages of each kind they have, and what is
// wrong with the messages.
func tapRecords(t *testing.T, state string) (kinds map[string]int, faults []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(state, "acpkit", "recordings", "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	kinds = map[string]int{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		_, records, _ := strings.Cut(string(text), "\n")
		checker := passive.New()
		var found []passive.Fault
		for line := range strings.Lines(records) {
			var r struct {
				Seq       int64
				Kind, Dir string
				Raw       json.RawMessage
				Line      string
			}
			require.NoError(t, json.Unmarshal([]byte(line), &r))
			if kinds[r.Kind]++; r.Raw != nil || r.Kind == "invalid" {
				found = append(found, checker.Feed(r.Seq, passive.End(r.Dir), append(r.Raw, r.Line...))...)
			}
		}
		for _, f := range append(found, checker.End()...) {
			faults = append(faults, fmt.Sprintf("%d %s: %s: %s", f.Seq, f.By, f.Rule, f.Text))
		}
	}
	return kinds, faults
}

// The client of the TypeScript SDK holds its whole conversation through acp tap.
func TestTapUnderTheTypeScriptClient(t *testing.T) {
	needShell(t)
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	r, got := driven(t, "client.mjs", "agent", append([]string{example(t, "acp"), "tap", "--"}, self(t)...)...)
	assert.True(t, strings.HasPrefix(got.stderr, "acp: recording to "+state), got.stderr)
	assert.Equal(t, 1, strings.Count(got.stderr, "\n"), got.stderr)
	assert.Len(t, r.Checks, 26)
	if assert.NotNil(t, r.Exit.Code, "killed by %v", r.Exit.Signal) {
		assert.Zero(t, *r.Exit.Code)
	}
	kinds, _ := tapRecords(t, state)
	assert.Greater(t, kinds["request"], 20)
	assert.Zero(t, kinds["gap"])
}

// What users install is the command, in the modules that a proxy has, without this repository.
func TestInstall(t *testing.T) {
	need(t, "go")
	const path, version = "github.com/acpkit/go-sdk", "v0.0.1"
	proxy := filepath.Join(t.TempDir(), "proxy")
	root := filepath.Join("..", "..", "..")
	for _, folder := range []string{"", "/draft2", "/acptest", "/agent/journal/jetstream", "/cmd/acp"} {
		publish(t, proxy, module.Version{Path: path + folder, Version: version}, filepath.Join(root, folder))
	}

	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	require.NoError(t, err)
	downloads := filepath.Join(strings.TrimSpace(string(cache)), "cache", "download") // has what go.mod requires
	bin := t.TempDir()
	install := exec.Command("go", "install", path+"/cmd/acp@latest")
	install.Dir = t.TempDir()
	install.Env = append(os.Environ(), "GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(downloads),
		"GONOPROXY=none", "GOPRIVATE=", "GOSUMDB=off", "GOWORK=off", "GOFLAGS=-modcacherw -trimpath", "GOBIN="+bin, "GOMODCACHE="+t.TempDir(), "CGO_ENABLED=0")
	out, err := install.CombinedOutput()
	require.NoError(t, err, "%s", out)
	said, err := exec.Command(filepath.Join(bin, "acp"), "version").CombinedOutput()
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(said), "acp "+version+" go"), "%s", said)
}

var sibling = regexp.MustCompile(`(github\.com/acpkit/go-sdk\S*) v\S+`)

// publish puts the module in a folder into a proxy as .ci/tag leaves it: it requires the other modules of
// this repository in the version that is released.
func publish(t *testing.T, proxy string, m module.Version, dir string) {
	t.Helper()
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	if released := sibling.ReplaceAll(mod, []byte("$1 "+m.Version)); !bytes.Equal(mod, released) {
		own := t.TempDir()
		require.NoError(t, os.CopyFS(own, os.DirFS(dir)))
		require.NoError(t, os.WriteFile(filepath.Join(own, "go.mod"), released, 0o600))
		mod, dir = released, own
	}
	var zipped bytes.Buffer
	require.NoError(t, zip.CreateFromDir(&zipped, m, dir))
	versions := filepath.Join(proxy, m.Path, "@v")
	require.NoError(t, os.MkdirAll(versions, 0o700))
	for name, text := range map[string][]byte{"list": []byte(m.Version + "\n"), m.Version + ".info": []byte(`{"Version":"` + m.Version + `"}`), m.Version + ".mod": mod, m.Version + ".zip": zipped.Bytes()} {
		require.NoError(t, os.WriteFile(filepath.Join(versions, name), text, 0o600))
	}
}

// The checks find defects before programs on the TypeScript SDK as they find them before the
// reference peers, which are ours.
func TestDefectsBeforeOtherPrograms(t *testing.T) {
	if os.Getenv("ACPKIT_TEST_MATRIX") == "" {
		t.Skip("it takes minutes: ACPKIT_TEST_MATRIX is not set")
	}
	needShell(t)
	const prompts = `{"text":"say Hello","stream":"say a b c","slow":"wait","ask":"permission","tool":"permission","read":"files","write":"files","run":"terminal"}`
	for name, c := range map[string]struct {
		command              []string
		version, auth, shown string
	}{
		"an agent of version 1": {node(t, "agent.mjs"), "1", "token", "110"},
		"an agent of version 2": {node(t, "v2/agent.mjs"), "2", "token", "110"},
		"a client of version 1": {node(t, "prompt.mjs", "{cwd}", "{agent}"), "1", "", "60"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), need(t, "go"), "test", "-vet=off", "-count=1", "-v", "-timeout", "15m", "-parallel", "12", ".", "-run", "TestDefectsBeforeAPeer",
				"-peer", strings.Join(c.command, " "), "-peer-version", c.version, "-peer-auth", c.auth, "-peer-prompts", prompts, "-peer-shown", c.shown)
			cmd.Dir, cmd.Env = "../../../acptest", append(os.Environ(), "GOFLAGS=")
			out, err := cmd.CombinedOutput()
			assert.NoError(t, err, "%s", out)
		})
	}
}
