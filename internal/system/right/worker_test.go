//go:build unix

package right_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acptest"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/examples/agent/worker"
	"github.com/acpkit/go-sdk/stream"
)

func TestWorkerIsRight(t *testing.T) {
	prompts := map[string]string{
		"text": "help", "tool": "search x", "ask": "write a.txt: x", "read": "read a.txt", "write": "write a.txt: x",
		"run": "run true", "slow": "run sleep 60", "stream": "", // no text of its own is long
	}
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprintf("version %d", version), func(t *testing.T) {
			t.Parallel()
			a, err := worker.Open(t.TempDir(), true)
			require.NoError(t, err)
			acptest.Agent(t, acptest.InMemory(func(ctx context.Context, s stream.Stream) error { return serve.Serve(ctx, s, a.Agent, nil) }), &acptest.Options{Version: version, Prompts: prompts})
		})
	}
}
