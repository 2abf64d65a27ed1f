package acptest

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acptest/internal/agents"
	"github.com/acpkit/go-sdk/acptest/internal/check"
	"github.com/acpkit/go-sdk/acptest/internal/clients"
	"github.com/acpkit/go-sdk/acptest/internal/defect"
)

var (
	peer        = flag.String("peer", "", "the command of a program of others, before which the defects stand; its words are separated by spaces, and it is a client if {agent} is one of them")
	peerPrompts = flag.String("peer-prompts", "{}", "the prompts that an agent understands, as a JSON object")
	peerVersion = flag.Int("peer-version", 1, "the version of the protocol that the program speaks")
	peerAuth    = flag.String("peer-auth", "", "the method by which an agent is signed in")
	peerShown   = flag.Int("peer-shown", 0, "how many defects must be found at least")
)

// What a program of others does right, a defect before it makes wrong, and the checks find it: the
// checks and the reference peers are not of one hand only. It is for -peer.
func TestDefectsBeforeAPeer(t *testing.T) {
	if *peer == "" {
		t.Skip("-peer is not set: this test runs the program that it names, as the system tests do")
	}
	opts := check.Options{Version: *peerVersion, Cwd: t.TempDir(), Auth: *peerAuth}
	require.NoError(t, json.Unmarshal([]byte(*peerPrompts), &opts.Prompts))
	command := check.Command{Args: strings.Fields(*peer)}
	suite, target, defects := agents.Suite(), check.Start(command), defect.Agents
	if strings.Contains(*peer, check.AgentWord) {
		self, err := os.Executable()
		require.NoError(t, err)
		suite, target, defects = clients.Suite(), check.StartClient(command, self), slices.Concat(defect.Clients, defect.Terminals)
	}
	passes := map[string]bool{}
	for _, r := range suite.Run(t.Context(), target, &opts).Results {
		passes[r.ID] = r.Verdict == check.Pass
		if r.Verdict == check.Fail || r.Verdict == check.Inconclusive {
			t.Logf("%s without a defect: %s: %s\n  sent %s\n  read %s", r.ID, r.Verdict, r.Reason, r.Sent, r.Read)
		}
	}
	shown := 0
	for _, d := range defects {
		opts := opts
		for _, c := range suite.Checks {
			// The rules of package passive are tested on recordings of others, and would run all checks.
			if passes[c.ID] && c.Passive == "" && d.Found(c.ID, *peerVersion) {
				opts.Only = append(opts.Only, c.ID)
			}
		}
		if d.ToPeer == nil && d.ToCheck == nil && d.Early == "" || d.Own || !d.In.Has(*peerVersion) && d.In != 0 || opts.Only == nil {
			continue
		}
		shown++
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			results := suite.Run(t.Context(), defect.Wrap(target, &d, opts.Prompts), &opts).Results
			assert.True(t, slices.ContainsFunc(results, func(r check.Result) bool { return r.Verdict == check.Fail }), "none of %v finds it: %v", opts.Only, results)
		})
	}
	t.Logf("%d of %d defects were shown", shown, len(defects))
	assert.GreaterOrEqual(t, shown, *peerShown)
}
