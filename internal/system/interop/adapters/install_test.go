// Package adapters holds tests against the two most used agents of version 2 of the protocol,
// claude-agent-acp and codex-acp, which adapt Claude Code and Codex. They run with a language
// model on the loopback interface whose answers are known. The
package adapters_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
)

// adaptersVar asks for the tests with the agents of this folder. They are not run
// otherwise: npm installs almost two gigabytes for them.
const adaptersVar = "ACPKIT_INTEROP_ADAPTERS"

// installedAdapters is the output and the error of npm ci. It runs once, and only if the
// packages are not installed or are older than package-lock.json.
var installedAdapters = sync.OnceValues(func() ([]byte, error) {
	want, err := os.Stat("package-lock.json")
	if err != nil {
		return nil, err
	}
	if have, err := os.Stat("node_modules/.package-lock.json"); err == nil && !have.ModTime().Before(want.ModTime()) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	// The programs of the agents are optional dependencies, one for each platform.
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = "."
	return cmd.CombinedOutput()
})

// adapter is an agent that other people wrote, and how to make it use a scripted model.
type adapter struct {
	name    string // the folder of its package, and of its recordings
	version string // as in its response to initialize
	script  string // below node_modules
	dialect dialect
	// prepare fills the home of the agent, and returns what its environment has besides.
	prepare func(t *testing.T, home, model string) []string
	// asking are values of the option mode: one with which the agent asks before each edit, and another.
	asking, other string
	// askingMode is the value of the option collaboration_mode with which the model may ask
	// the user; empty if it always may.
	askingMode string
	// lists reports whether the agent sends its list of background work, and has subagents.
	lists bool
	// forgets is what a replay leaves out.
	forgets []string
}

var adapters = []adapter{
	{
		name: "claude-agent-acp", version: "0.100.0", script: "@agentclientprotocol/claude-agent-acp/dist/index.js",
		dialect: anthropic{}, prepare: prepareClaude, asking: "default", other: "plan", lists: true,
	},
	{
		name: "codex-acp", version: "2.6.0", script: "@agentclientprotocol/codex-acp/dist/index.js",
		dialect: openai{}, prepare: prepareCodex, asking: "read-only", other: "workspace-write", askingMode: "plan",
		forgets: []string{"agent: I wait."}, // it was cancelled
	},
}

// needAdapters installs the agents, if the tests with them were asked for.
func needAdapters(t *testing.T) {
	t.Helper()
	if os.Getenv(adaptersVar) == "" {
		t.Skipf("%s is not set: this test installs agents with npm, which takes two gigabytes", adaptersVar)
	}
	need(t, "npm")
	need(t, "node")
	if out, err := installedAdapters(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
}

// eachAdapter runs a test for each agent of version 2.
func eachAdapter(t *testing.T, test func(t *testing.T, a *adapter)) {
	needAdapters(t)
	for _, a := range adapters {
		t.Run(a.name, func(t *testing.T) { test(t, &a) })
	}
}

// workplace is a home and a folder for an agent, and the model that it uses. Processes of the
// agent share it.
type workplace struct {
	adapter   *adapter
	model     *scriptedModel
	dir, home string
	env       []string
	file      string // that the agent changes
	files     int
}

func newWorkplace(t *testing.T, a *adapter) *workplace {
	t.Helper()
	p := &workplace{adapter: a, dir: pairtest.TempDir(t), home: pairtest.TempDir(t)}
	p.model = newScriptedModel(t, a.dialect, p.dir)
	p.env = append(a.prepare(t, p.home, p.model.url()), baseEnv(p.home)...)
	return p
}

// baseEnv is what each agent has in its environment. Whoever tries to reach another computer must fail.
func baseEnv(home string) []string {
	nowhere := "http://127.0.0.1:9"
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "USERPROFILE=" + home, "TMPDIR=" + home, "NO_BROWSER=1",
		"HTTP_PROXY=" + nowhere, "HTTPS_PROXY=" + nowhere, "ALL_PROXY=" + nowhere, "NO_PROXY=127.0.0.1",
	}
}

// writing returns the prompt that makes the agent change a file, which is a new one each time:
// claude-agent-acp refuses to write a file that someone else has changed since.
func (p *workplace) writing(t *testing.T) string {
	t.Helper()
	p.files++
	p.file = fmt.Sprint("out", p.files, ".txt")
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, p.file), []byte("old\n"), 0o600))
	return "write " + p.file
}

// text returns what is in that file.
func (p *workplace) text(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, p.file))
	require.NoError(t, err)
	return string(b)
}

// command starts the agent.
func (p *workplace) command() *exec.Cmd {
	cmd := exec.Command("node", filepath.Join("node_modules", filepath.FromSlash(p.adapter.script)))
	cmd.Path, _ = exec.LookPath("node") // which eachAdapter has found
	if dir, err := filepath.Abs("."); err == nil {
		cmd.Args[1] = filepath.Join(dir, cmd.Args[1])
	}
	cmd.Dir, cmd.Env = p.dir, p.env
	return cmd
}

func prepareClaude(_ *testing.T, _, model string) []string {
	return []string{
		"ANTHROPIC_BASE_URL=" + model, "ANTHROPIC_API_KEY=fake",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
	}
}

func prepareCodex(t *testing.T, home, model string) []string {
	dir := filepath.Join(home, ".codex")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.toml"), fmt.Appendf(nil, `model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "%s/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
`, model), 0o600))
	return nil
}

// need fails a test if a program is not installed.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Fatalf("%s is not installed: the agents need it", program)
	}
}
