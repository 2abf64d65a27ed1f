package interop_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// theirMortalServer starts one of the peers' scripts as a server. kill ends it early.
// The variables are added to its environment.
func theirMortalServer(t *testing.T, script string, variables ...string) (url string, kill func()) {
	t.Helper()
	command := node(t, script, "--listen")
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), variables...)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = testWriter{t}
	require.NoError(t, cmd.Start())
	killed := false
	t.Cleanup(func() {
		in.Close()
		if killed {
			return
		}
		kill := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		defer kill.Stop()
		assert.NoError(t, cmd.Wait(), "it ends with its input")
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line), func() {
		killed = true
		cmd.Process.Kill()
		cmd.Wait()
	}
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Logf("%s", b)
	return len(b), nil
}

// ourServer serves the agent of a role of TestMain and returns its URL.
func ourServer(t *testing.T, role string) string {
	t.Helper()
	log := pairtest.StrictLogger(t)
	handler := remote.NewHandler(func(ctx context.Context, s stream.Stream) error {
		return serveRole(ctx, role, s, log)
	}, &remote.Options{Logger: log})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- handler.Serve(ctx, listener) }() // ends with ctx
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-served)
	})
	return "http://" + listener.Addr().String() + "/acp"
}

func webSocket(url string) string { return "ws" + strings.TrimPrefix(url, "http") }

// way is a way to an agent. It can be gone more than once.
type way func(context.Context) (stream.Stream, error)

// waysTo are the ways to a script of the peers, over each transport. The variables are added to its
// environment.
func waysTo(t *testing.T, script string, variables ...string) map[string]way {
	start := func() *exec.Cmd {
		command := node(t, script)
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = append(os.Environ(), variables...)
		return cmd
	}
	return ways(t, start, func() string {
		url, _ := theirMortalServer(t, script, variables...)
		return url
	})
}

// waysToOurs are the ways to our agent of a role.
func waysToOurs(t *testing.T, role string) map[string]way {
	start := func() *exec.Cmd {
		cmd := exec.Command(self(t)[0])
		cmd.Env = selfEnv(role)
		return cmd
	}
	return ways(t, start, func() string { return ourServer(t, role) })
}

func ways(t *testing.T, start func() *exec.Cmd, listen func() string) map[string]way {
	over := func(address func(string) string) way {
		url := sync.OnceValue(listen)
		return func(ctx context.Context) (stream.Stream, error) { return remote.Dial(ctx, address(url()), nil) }
	}
	return map[string]way{
		"stdio":     func(context.Context) (stream.Stream, error) { return spawn(t, start()), nil },
		"HTTP":      over(func(url string) string { return url }),
		"WebSocket": over(webSocket),
	}
}

// eachWay runs a test for each way to agents, which are named.
func eachWay(t *testing.T, agents map[string]map[string]way, test func(t *testing.T, agent, transport string, s stream.Stream)) {
	t.Parallel()
	for agent, ways := range agents {
		for transport, dial := range ways {
			t.Run(agent+" over "+transport, func(t *testing.T) {
				t.Parallel()
				s, err := dial(t.Context())
				require.NoError(t, err)
				test(t, agent, transport, s)
			})
		}
	}
}

// eachRemote holds a conversation with their server and ours, and opens a session.
func eachRemote(t *testing.T, test func(*testing.T, *conversation)) {
	agents := map[string]map[string]way{"their server": waysTo(t, "agent.mjs"), "our server": waysToOurs(t, "agent")}
	for _, ways := range agents {
		delete(ways, "stdio")
	}
	eachWay(t, agents, func(t *testing.T, _, _ string, s stream.Stream) {
		c := converse(t, s, connected)
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
