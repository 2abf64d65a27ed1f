package hub_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/acptest"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/examples/agent/worker"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/stream"
)

// changed are the checks whose verdict is another one behind the hub, with both. docs/hub.md says why.
var changed = map[int]map[string]string{
	1: {
		// The files and terminals of clients are not offered.
		"AK-FILE-001": "PASS INCONCLUSIVE", "AK-FILE-002": "PASS INCONCLUSIVE", "AK-FILE-003": "PASS INCONCLUSIVE", "AK-FILE-004": "PASS INCONCLUSIVE",
		"AK-TERMINAL-001": "PASS INCONCLUSIVE", "AK-TERMINAL-002": "PASS INCONCLUSIVE", "AK-TERMINAL-003": "PASS INCONCLUSIVE", "AK-TERMINAL-004": "PASS INCONCLUSIVE",
		// A response that is no answer leaves the question to others, and then to Detached.Question.
		"AK-PERM-003": "PASS FAIL", "AK-PERM-004": "PASS FAIL", "AK-PERM-005": "PASS FAIL", "AK-PERM-010": "PASS FAIL",
		// A session keeps its folders.
		"AK-ADDDIRS-001": "PASS FAIL",
	},
	2: {
		"AK-PERM-003": "PASS FAIL", "AK-PERM-004": "PASS FAIL", "AK-PERM-005": "PASS FAIL", "AK-PERM-010": "PASS FAIL",
		"AK-ADDDIRS-001": "PASS FAIL",
	},
}

// An agent is as right behind the hub as it is alone, but for what the hub takes away.
func TestVerdictsBehindTheHub(t *testing.T) {
	prompts := map[string]string{
		"text": "help", "tool": "search x", "ask": "write a.txt: x", "read": "read a.txt", "write": "write a.txt: x",
		"run": "run true", "slow": "run sleep 60", "stream": "", // no text of its own is long
	}
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprintf("version %d", version), func(t *testing.T) {
			t.Parallel()
			a, err := worker.Open(t.TempDir(), true)
			require.NoError(t, err)
			h := hub.New(&hub.Options{Logger: quiet, Agent: supervise.Options{Dial: peertest.Dialer(peertest.Serving(a.Agent, nil))}})
			t.Cleanup(func() {
				ctx, stop := context.WithCancel(context.Background())
				stop() // questions that were dismissed are open
				_ = h.Shutdown(ctx)
			})
			verdicts := func(connect func(*agent.Conn) acp.Agent) map[string]acptest.Verdict {
				report, err := acptest.CheckAgent(t.Context(), acptest.InMemory(func(ctx context.Context, s stream.Stream) error {
					return serve.Serve(ctx, s, connect, &serve.Options{Logger: quiet})
				}), &acptest.Options{Version: version, Prompts: prompts, Wait: 5 * time.Second})
				require.NoError(t, err)
				all := make(map[string]acptest.Verdict)
				for _, r := range report.Results {
					all[r.ID] = r.Verdict
				}
				return all
			}
			alone, behind := verdicts(a.Agent), verdicts(h.Agent)
			got := make(map[string]string)
			for id, v := range alone {
				if behind[id] != v {
					got[id] = fmt.Sprint(v, " ", behind[id])
				}
			}
			assert.Len(t, behind, len(alone))
			assert.Equal(t, changed[version], got)
		})
	}
}
