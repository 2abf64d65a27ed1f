package right_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/acptest"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/stream"
)

// An agent that keeps its sessions on disk, and has the tools of a workspace, is right.
func TestKitIsRight(t *testing.T) {
	turn := func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
		switch text := acp.PlainText(p.Blocks...); text {
		case "slow":
			err := s.Text(ctx, "Wait.")
			<-ctx.Done()
			return "", err
		case "stream":
			for i := range 100 {
				if err := s.Text(ctx, fmt.Sprintf("%d\n", i)); err != nil {
					return "", err
				}
			}
		default:
			if _, err := s.Run(ctx, tools.Request{Name: text, Input: []byte(`{"path":"a.txt","text":"x","command":"true"}`)}); err != nil {
				return "", err
			}
		}
		return "", s.Text(ctx, "Done.")
	}
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprintf("version %d", version), func(t *testing.T) {
			t.Parallel()
			store, err := journal.OpenFiles(t.TempDir(), nil)
			require.NoError(t, err)
			a := kit.New(&kit.Options{Info: acp.Implementation{Name: "right", Version: "1"}, Store: store, Turn: turn, Audio: true, Logger: slog.New(slog.DiscardHandler),
				Tools: func(s *kit.Session) []tools.Tool { return workspace.Tools(s.Workspace()) }})
			acptest.Agent(t, acptest.InMemory(func(ctx context.Context, s stream.Stream) error { return serve.Serve(ctx, s, a.Agent, nil) }), &acptest.Options{Version: version, Prompts: map[string]string{
				"text": "hello", "slow": "slow", "stream": "stream", "tool": "read_file", "read": "read_file",
				"ask": "write_file", "write": "write_file", "run": "run_command",
			}})
		})
	}
}
