//go:build unix

package hub_test

import (
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/natsserver"
)

// A prompt for which the stream of the servers has no room is refused: neither the agent nor a client gets anything of it. The session goes
// on, also with what is shorter, and with all when there is room.
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
	long := strings.Repeat("x", 100_000)
	require.ErrorContains(t, c.prompt(t.Context(), id, long), "the sessions cannot be stored")
	require.NoError(t, c.prompt(t.Context(), id, "shorter"))
	limit(-1)
	require.NoError(t, c.prompt(t.Context(), id, "after"))
	want := []string{"user: short", "agent: answer to short", "user: shorter", "agent: answer to shorter", "user: after", "agent: answer to after"}
	assert.Equal(t, want, x.load(0, id))
	x.signal(0, syscall.SIGTERM)
	x.run(0)
	assert.Equal(t, want, x.load(0, id))
	assert.Equal(t, "short\nshorter\nafter\n", x.prompts())
}

// prompts returns what the agent got.
func (x *nodes) prompts() string {
	text, err := os.ReadFile(x.count)
	require.NoError(x.t, err)
	return string(text)
}

// A prompt that is longer than the servers' maximum payload is stored whole. One of which nobody knows whether they have stored it, because they have
// no leader, is refused: neither the agent nor a later client gets anything of it, at no node.
func TestNodesWithoutLeader(t *testing.T) {
	servers := natsserver.Start(t, natsserver.Options{Servers: 3, Config: "max_payload: 16KB\n"})
	x := startNodes(t, servers, 2)
	long := strings.Repeat("x", 100_000)
	var ids []string
	var clients []*v1
	for i := range 3 {
		ids = append(ids, x.create(0))
		c, err := x.connect(t.Context(), i%2)
		require.NoError(t, err)
		defer c.close()
		require.NoError(t, c.load(t.Context(), ids[i]))
		require.NoError(t, c.prompt(t.Context(), ids[i], long))
		clients = append(clients, c)
	}
	servers.Kill(1)
	servers.Kill(2)
	var work sync.WaitGroup
	for i, c := range clients {
		work.Go(func() { assert.Error(t, c.prompt(t.Context(), ids[i], "refused "+long)) }) // ends after 30 s
	}
	work.Wait()
	servers.Run(1)
	servers.Run(2)
	want := []string{"user: " + long, "agent: answer to " + long}
	for i, id := range ids {
		assert.Equal(t, want, x.load((i+1)%2, id))
		assert.Equal(t, want, x.load(i%2, id))
	}
	assert.Equal(t, strings.Repeat(long+"\n", 3), x.prompts())
}
