package kit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// ignoring is a client that ignores updates.
var ignoring = &peertest.Client{OnUpdate: func(context.Context, *acp.SessionNotification) error { return nil }}

// turns makes turns with the kit and the given store, or without the kit. Each turn calls f.
func turns(b *testing.B, store journal.Store, f func(ctx context.Context, kit *kit.Session, plain *agent.Session) error) (c *client.Conn, ask func() acp.SessionID) {
	if store == nil {
		c = peertest.Connect(b, peertest.Serving(peertest.Turns(func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) error {
			return f(ctx, nil, s)
		}), nil), ignoring, nil)
	} else {
		c = peertest.Connect(b, kit.New(&kit.Options{Store: store, Turn: func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
			return "", f(ctx, s, nil)
		}}).Serve, ignoring, nil)
	}
	s, err := c.NewSession(b.Context(), &acp.NewSessionRequest{Cwd: b.TempDir()})
	require.NoError(b, err)
	return c, func() acp.SessionID {
		_, err := c.Prompt(b.Context(), &acp.PromptRequest{SessionID: s.SessionID, Prompt: []acp.ContentBlock{acp.Text("go")}})
		require.NoError(b, err)
		return s.SessionID
	}
}

func files(b *testing.B, dir string) *journal.Files {
	store, err := journal.OpenFiles(dir, nil)
	require.NoError(b, err)
	return store
}

// The limit for a delta that is joined is 1 µs and no allocation.
func BenchmarkDelta(b *testing.B) {
	_, ask := turns(b, files(b, b.TempDir()), func(ctx context.Context, s *kit.Session, _ *agent.Session) error {
		b.ReportAllocs()
		for b.Loop() {
			if err := s.Text(ctx, "four"); err != nil {
				return err
			}
		}
		return nil
	})
	ask()
}

// A turn of 10 000 chunks that are sent one by one may take at most three times as long with the
// kit and its journal as without.
func BenchmarkTurn(b *testing.B) {
	for _, size := range []int{20, 2 << 10} {
		text := strings.Repeat("x", size)
		for name, with := range map[string]struct {
			store journal.Store
			say   func(ctx context.Context, s *kit.Session, plain *agent.Session) error
		}{
			"plain":       {nil, func(ctx context.Context, _ *kit.Session, s *agent.Session) error { return s.Message(ctx, text) }},
			"kit, chunks": {files(b, b.TempDir()), func(ctx context.Context, s *kit.Session, _ *agent.Session) error { return s.Text(ctx, text) }},
			"kit, whole messages": {files(b, b.TempDir()), func(ctx context.Context, s *kit.Session, _ *agent.Session) error {
				_ = s.Text(ctx, text)
				return s.EndMessage()
			}},
		} {
			b.Run(fmt.Sprintf("%d bytes/%s", size, name), func(b *testing.B) {
				_, ask := turns(b, with.store, func(ctx context.Context, s *kit.Session, plain *agent.Session) error {
					for range 10_000 {
						if err := with.say(ctx, s, plain); err != nil {
							return err
						}
					}
					return nil
				})
				for b.Loop() {
					ask()
				}
			})
		}
	}
}

// The limit for loading a session of 10 000 records is 150 ms.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	c, ask := turns(b, files(b, dir), func(ctx context.Context, s *kit.Session, _ *agent.Session) error {
		for i := range 2500 {
			id := acp.ToolCallID(fmt.Sprint("call", i))
			if err := s.Text(ctx, strings.Repeat("word ", 40)); err != nil {
				return err
			}
			for _, u := range []acp.SessionUpdate{
				&acp.ToolCall{ToolCallID: id, Title: "Read go.mod", Kind: acp.ToolKindRead},
				&acp.ToolCallUpdate{ToolCallID: id, Status: acp.ToolCallStatusInProgress},
				&acp.ToolCallUpdate{ToolCallID: id, Status: acp.ToolCallStatusCompleted, Content: []acp.ToolCallContent{acp.ToolText(strings.Repeat("line\n", 40))}},
			} {
				if err := s.Update(ctx, u); err != nil {
					return err
				}
			}
		}
		return nil
	})
	id := ask()
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			_, err := c.LoadSession(b.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: dir})
			require.NoError(b, err)
		}
	})
	b.Run("read of the file", func(b *testing.B) {
		logs, err := filepath.Glob(filepath.Join(dir, "*", "log.jsonl"))
		require.NoError(b, err)
		for b.Loop() {
			_, err := os.ReadFile(logs[0])
			require.NoError(b, err)
		}
	})
}
