//go:build unix

package right_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acptest"
)

// The peers of testdata/peers were written by hand in Python, from the rules of the protocol alone. A
// defect of one is told by one check.
func TestPeersOfOthersWithADefect(t *testing.T) {
	for name, finds := range map[string]string{
		"a01_bare_content":             "ACP-SCHEMA-002",
		"a05_list_prefix":              "ACP-LIST-002",
		"a12_negative_ids":             "AK-ID-009",
		"a24_new_messageid_each_chunk": "AK-MESSAGE-001",
		"c04_bom":                      "AKC-READ-011",
		"c10_env_replaced":             "AKC-TERM-016",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, []string{finds}, failures(checkPeer(t, name, nil), acptest.Interop), "the checks that fail")
		})
	}
}

// Peers that are right and unusual, also on a machine with other work, fail no check of the tier must:
// one with three methods, one whose turns are silent for 12 s or send a part each second, and a client that takes
// 0.3 s for each request.
func TestPeersOfOthersThatAreRight(t *testing.T) {
	if os.Getenv("ACPKIT_TEST_MATRIX") == "" {
		t.Skip("it takes minutes: ACPKIT_TEST_MATRIX is not set")
	}
	for range 6 {
		busy := exec.Command("sh", "-c", "while :; do :; done")
		require.NoError(t, busy.Start())
		t.Cleanup(func() {
			_ = busy.Process.Kill()
			_ = busy.Wait() // it was killed
		})
	}
	t.Run("peers", func(t *testing.T) { // ends before the busy loops
		for name, env := range map[string][]string{"o2_minimal": nil, "p4_two_sessions_slow": nil, "slowturn": nil, "slowturn that streams": {"STREAM=1"}} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				peer, _, _ := strings.Cut(name, " ")
				report := checkPeer(t, peer, env)
				assert.Empty(t, failures(report, acptest.Must))
				assert.Empty(t, report.Blocked)
				passed := slices.ContainsFunc(report.Results, func(r acptest.Result) bool { return r.Verdict == acptest.Pass })
				assert.True(t, passed)
			})
		}
	})
}

// atOnce is how many checks of a peer run at the same time: these peers mostly wait.
const atOnce = 32

// checkPeer runs all checks of version 1 on a peer, whose name begins with the role that it has: c and
// p are clients.
func checkPeer(t *testing.T, name string, env []string) *acptest.Report {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		require.Empty(t, os.Getenv("CI"), "python3 is not installed, which CI must have")
		t.Skip("python3 is not installed: the peer is a program in Python")
	}
	script, err := filepath.Abs(filepath.Join("testdata", "peers", name+".py"))
	require.NoError(t, err)
	env = append(env, "PYTHONDONTWRITEBYTECODE=1", "PEER_STATE="+t.TempDir())
	opts := &acptest.Options{Version: 1, Prompts: map[string]string{}, AtOnce: atOnce}
	if name[0] == 'c' || name[0] == 'p' {
		self, err := os.Executable()
		require.NoError(t, err)
		report, err := acptest.CheckClient(t.Context(), acptest.ClientCommand([]string{"python3", script, "{cwd}", "{agent}"}, self, env...), opts)
		require.NoError(t, err)
		return report
	}
	for prompt := range acptest.PromptNames() {
		opts.Prompts[prompt] = prompt // the peers do what the first word of a prompt says
	}
	report, err := acptest.CheckAgent(t.Context(), acptest.Command([]string{"python3", script}, env...), opts)
	require.NoError(t, err)
	return report
}

// failures returns the checks of a tier, or a more serious one, that have failed.
func failures(report *acptest.Report, tier acptest.Tier) (ids []string) {
	tiers := []acptest.Tier{acptest.Must, acptest.Should, acptest.Interop}
	for _, r := range report.Results {
		if r.Verdict == acptest.Fail && slices.Index(tiers, r.Tier) <= slices.Index(tiers, tier) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}
