//go:build unix

package right_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acptest"
	"github.com/acpkit/go-sdk/examples/agent/worker"
)

func TestWorkerIsRight(t *testing.T) {
	prompts := map[string]string{
		"text": "help", "tool": "search x", "ask": "write a.txt: x", "read": "read a.txt", "write": "write a.txt: x",
		"run": "run true", "slow": "run sleep 60", "stream": "", // no text of its own is long
	}
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprintf("version %d", version), func(t *testing.T) {
			t.Parallel()
			a, err := worker.New(t.TempDir(), true)
			require.NoError(t, err)
			acptest.Agent(t, acptest.InMemory(a.Serve), &acptest.Options{Version: version, Prompts: prompts})
		})
	}
}
