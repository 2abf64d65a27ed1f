//go:build unix

package hub_test

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/natsserver"
)

// A prompt for which the stream of the servers has no room is refused: the agent does not get it, its message is in the conversation whole,
// and the session goes on when there is room.
func TestNodeWithoutRoom(t *testing.T) {
	servers := natsserver.Start(t, natsserver.Options{})
	x := startNodes(t, servers, 1)
	id := x.create(0)
	conn, err := nats.Connect(servers.URL())
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	limit := func(bytes int64) {
		stream, err := js.Stream(t.Context(), "acp_sessions")
		require.NoError(t, err)
		cfg := stream.CachedInfo().Config
		cfg.MaxBytes = bytes
		_, err = js.UpdateStream(t.Context(), cfg)
		require.NoError(t, err)
	}
	limit(64 << 10)
	c, err := x.connect(t.Context(), 0)
	require.NoError(t, err)
	defer c.close()
	require.NoError(t, c.load(t.Context(), id))
	require.NoError(t, c.prompt(t.Context(), id, "short"))
	long := "long " + strings.Repeat("x", 100_000)
	require.ErrorContains(t, c.prompt(t.Context(), id, long), "the sessions cannot be stored")
	limit(-1)
	require.NoError(t, c.prompt(t.Context(), id, "after"))
	x.signal(0, syscall.SIGTERM)
	x.run(0)
	lines := x.load(0, id)
	require.Len(t, lines, 5)
	assert.True(t, lines[2] == "user: "+long, "a part of the message: %.20s", lines[2])
	assert.Equal(t, []string{"user: short", "agent: answer to short", "user: after", "agent: answer to after"}, slices.Delete(lines, 2, 3))
	text, err := os.ReadFile(x.count)
	require.NoError(t, err)
	assert.Equal(t, "short\nafter\n", string(text))
}
