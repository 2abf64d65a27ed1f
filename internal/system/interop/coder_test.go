package interop_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
)

// coderModule is another Go SDK, whose example agent and client the tests talk to. It
// is installed beside the project and never part of its module.
const (
	coderModule  = "github.com/coder/acp-go-sdk"
	coderVersion = "v0.13.5"
)

var installCoder = sync.OnceValues(func() ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "install",
		coderModule+"/example/agent@"+coderVersion, coderModule+"/example/client@"+coderVersion)
	bin := filepath.Join(builds, "other")
	cmd.Env = append(os.Environ(), "GOBIN="+bin)
	if err := os.Mkdir(bin, 0o700); err != nil {
		return nil, err
	}
	return cmd.CombinedOutput()
})

// coder is one of the two programs.
func coder(t *testing.T, program string) string {
	t.Helper()
	return built(t, installCoder, filepath.Join("other", program))
}

// Our client drives their agent, with either answer to its question.
func TestCoderAgent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		allow acp.PermissionOptionKind
		last  string
	}{
		"allowed":  {acp.PermissionOptionKindAllowOnce, "successfully"},
		"rejected": {acp.PermissionOptionKindRejectOnce, "skip"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), conversationTimeout)
			defer cancel()
			h := newGoClient(t)
			h.reset(test.allow)
			conn := connected(t, spawn(t, exec.Command(coder(t, "agent"))), h.of)
			_, err := conn.Initialize(ctx, &acp.InitializeRequest{})
			require.NoError(t, err)
			session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: h.dir})
			require.NoError(t, err)
			turn := session.Prompt(ctx, acp.Text("Hello, agent!"))
			text, err := turn.Text()
			require.NoError(t, err)
			assert.Contains(t, text, test.last)
			res, err := turn.Wait()
			require.NoError(t, err)
			assert.Equal(t, acp.StopReasonEndTurn, res.StopReason)
			updates, asked := h.recorded()
			assert.Len(t, asked, 1)
			kinds := map[string]int{}
			for _, u := range updates {
				switch u := u.(type) {
				case *acp.ToolCall:
					kinds["call"]++
				case *acp.ToolCallUpdate:
					kinds[string(u.Status)]++
				}
			}
			assert.Equal(t, 2, kinds["call"])
			assert.Positive(t, kinds["completed"])
		})
	}
}

// The session of their agent is cancelled; its turn ends as the protocol says.
func TestCoderAgentCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), conversationTimeout)
	defer cancel()
	h := newGoClient(t)
	conn := connected(t, spawn(t, exec.Command(coder(t, "agent"))), h.of)
	_, err := conn.Initialize(ctx, nil)
	require.NoError(t, err)
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: h.dir})
	require.NoError(t, err)
	turn := session.Prompt(ctx, acp.Text("Hello, agent!"))
	for _, err := range turn.Updates() {
		require.NoError(t, err)
		require.NoError(t, turn.Cancel(ctx))
	}
	res, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonCancelled, res.StopReason)
}

// Their client drives our agent. It asks on its stdin which option to choose.
func TestCoderClient(t *testing.T) {
	t.Parallel()
	dir := pairtest.TempDir(t)
	got := run(t, dir, selfEnv("agent"), "1\n", append([]string{coder(t, "client")}, self(t)...)...)
	assert.Zero(t, got.code)
	assert.NotContains(t, got.stderr, "level=")
	for _, want := range []string{
		"Connected to agent (protocol v1)", "Created session: session-1", "Permission requested: Edit a.txt", "1. allow_once",
		"selected id-allow_once", "[Client] Wrote 19 bytes to " + filepath.Join(dir, "file.txt"), "[Client] ReadTextFile", "Agent completed",
	} {
		assert.Contains(t, got.stdout, want, "stderr: %s", got.stderr)
	}
	b, err := os.ReadFile(filepath.Join(dir, "file.txt"))
	require.NoError(t, err)
	assert.Equal(t, "one\ntwo\nthree\nfour\n", string(b))
}
