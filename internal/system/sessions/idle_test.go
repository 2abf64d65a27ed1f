package sessions_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream/remote"
)

// nobody is a client that looks at nothing.
type nobody struct{}

func (nobody) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

func (nobody) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return &acp.RequestPermissionResponse{Outcome: &acp.CancelledPermissionOutcome{}}, nil
}

func used() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// openFiles returns how many files the process has open; 0 if the system does not say.
func openFiles() int {
	all, _ := os.ReadDir("/proc/self/fd")
	return len(all)
}

// raceEnabled reports whether the race detector is on.
var raceEnabled = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}()

// A thousand idle sessions of one connection, each of which has said a long text, hold little
// memory, both ends counted, and one open file each.
func TestIdleSessions(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector needs memory of its own: the test needs a build without it, which CI makes as well")
	}
	const sessions = 1000
	store, err := journal.OpenFiles(t.TempDir(), nil)
	require.NoError(t, err)
	text := strings.Repeat("a word ", 30_000)
	a := kit.New(&kit.Options{Store: store, Logger: slog.New(slog.DiscardHandler), Turn: func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
		return "", s.Text(ctx, text)
	}})
	server := httptest.NewServer(remote.NewHandler(a.Serve, nil))
	t.Cleanup(server.Close)
	s, err := remote.Dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), nil)
	require.NoError(t, err)
	c, err := client.Connect(t.Context(), s, func(*client.Conn) acp.Client { return nobody{} }, nil)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	session := func() {
		s, err := c.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/w"})
		require.NoError(t, err)
		_, err = c.Prompt(t.Context(), &acp.PromptRequest{SessionID: s.SessionID, Prompt: []acp.ContentBlock{acp.Text("go")}})
		require.NoError(t, err)
	}
	session() // what is allocated once
	before, files := used(), openFiles()
	for range sessions {
		session()
	}
	each := (int64(used()) - int64(before)) / sessions
	t.Logf("%d bytes each, %d more files", each, openFiles()-files)
	assert.Less(t, each, int64(64<<10))
	assert.LessOrEqual(t, openFiles()-files, sessions+4)
}
