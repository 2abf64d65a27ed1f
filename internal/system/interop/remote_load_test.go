package interop_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// eachRemote holds a conversation with their server and ours, and opens a session.
func eachRemote(t *testing.T, test func(*testing.T, *conversation)) {
	agents := map[string]map[string]way{"their server": waysTo(t, "agent.mjs"), "our server": waysToOurs(t, "agent")}
	for _, ways := range agents {
		delete(ways, "stdio")
	}
	eachWay(t, agents, func(t *testing.T, _, _ string, s stream.Stream) {
		c := converse(t, s, connect)
		c.start(t)
		test(t, c)
	})
}

// The replay of a session was handled when the call returns, whatever stream the
// response comes on.
func TestRemoteReplayComesFirst(t *testing.T) {
	eachRemote(t, func(t *testing.T, c *conversation) {
		words := strings.TrimSpace(strings.Repeat("word ", 2000))
		c.session.OnUpdate(func(context.Context, acp.SessionUpdate) {}) // the handler records them
		c.say(t, "say "+words)
		for range 3 {
			c.handler.reset("")
			_, err := c.conn.LoadSession(c.ctx, &acp.LoadSessionRequest{SessionID: c.session.ID(), Cwd: c.dir})
			require.NoError(t, err)
			chunks := 0
			updates, _ := c.handler.recorded()
			for _, u := range updates {
				if _, ok := u.(*acp.AgentMessageChunk); ok {
					chunks++
				}
			}
			assert.Equal(t, 2000, chunks, "of the replay were handled when the call returned")
		}
	})
}

func TestRemoteLongMessages(t *testing.T) {
	eachRemote(t, func(t *testing.T, c *conversation) {
		for _, size := range []int{1 << 20, 20 << 20} {
			word := strings.Repeat("x", size)
			said, _ := c.say(t, "say "+word)
			assert.True(t, word == strings.TrimSpace(said), "%d bytes", size)
		}
	})
}

func TestRemoteSessionsAtOnce(t *testing.T) {
	eachRemote(t, func(t *testing.T, c *conversation) {
		other, err := c.conn.StartSession(c.ctx, &acp.NewSessionRequest{Cwd: c.dir})
		require.NoError(t, err)
		var all sync.WaitGroup
		for n, session := range []*client.Session{c.session, other} {
			all.Go(func() { // ends with its turns
				for i := range 10 {
					word := fmt.Sprintf("s%d-%d", n, i)
					text, err := session.Prompt(c.ctx, acp.Text("say "+strings.TrimSpace(strings.Repeat(word+" ", 50)))).Text()
					assert.NoError(t, err)
					assert.Equal(t, 50, strings.Count(text, word))
				}
			})
		}
		all.Wait()
	})
}

// A server that is killed fails the turn at once, and the next one is reached anew.
func TestRemoteRestart(t *testing.T) {
	t.Parallel()
	for profile, address := range map[string]func(string) string{"HTTP": func(url string) string { return url }, "WebSocket": webSocket} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			server := func() (*conversation, func()) {
				url, kill := theirMortalServer(t, "agent.mjs")
				s, err := remote.Dial(t.Context(), address(url), nil)
				require.NoError(t, err)
				c := converse(t, s, connectMortal)
				c.start(t)
				return c, kill
			}
			c, kill := server()
			turn := c.session.Prompt(c.ctx, acp.Text("wait"))
			for range turn.Updates() {
				break // it runs
			}
			kill()
			began := time.Now()
			_, err := turn.Wait()
			assert.Error(t, err)
			assert.Less(t, time.Since(began), 5*time.Second)
			again, _ := server()
			said, _ := again.say(t, "say back")
			assert.Equal(t, "back", strings.TrimSpace(said))
		})
	}
}
