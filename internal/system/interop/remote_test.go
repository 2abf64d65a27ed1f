package interop_test

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
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

// theirServer starts the agent on the TypeScript SDK as a server and returns its URL.
func theirServer(t *testing.T) string {
	t.Helper()
	url, _ := theirMortalServer(t, "agent.mjs")
	return url
}

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

// ourServer serves our agent of version 1 and returns its URL.
func ourServer(t *testing.T) string { return ourServerOf(t, "agent") }

// ourServerOf serves the agent of a role of main_test.go and returns its URL.
func ourServerOf(t *testing.T, role string) string {
	t.Helper()
	log := pairtest.StrictLogger(t)
	handler := remote.NewHandler(func(ctx context.Context, s stream.Stream) error {
		return serve(ctx, role, s, log)
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

var servers = map[string]func(*testing.T) string{"their server": theirServer, "our server": ourServer}

// dialRemote connects our client to a server.
func dialRemote(t *testing.T, url string, c acp.Client) *client.Conn {
	t.Helper()
	conn := dialMortal(t, url, c)
	t.Cleanup(func() {
		assert.NoError(t, conn.Close())
		assert.NoError(t, conn.Wait())
	})
	return conn
}

// dialMortal is dialRemote for a server that is killed.
func dialMortal(t *testing.T, url string, c acp.Client) *client.Conn {
	t.Helper()
	s, err := remote.Dial(t.Context(), url, nil)
	require.NoError(t, err)
	conn := client.New(s, func(*client.Conn) acp.Client { return c }, &client.Options{
		Unstable: true, Logger: pairtest.StrictLogger(t), OnDropped: noDrop(t),
	})
	require.NoError(t, conn.Start(context.Background()))
	t.Cleanup(func() {
		conn.Close()
		conn.Wait()
	})
	return conn
}

// Our client holds its whole conversation over the network, with their server and ours.
func TestConversationRemote(t *testing.T) {
	t.Parallel()
	needShell(t)
	for server, start := range servers {
		for profile, address := range map[string]func(string) string{"HTTP": func(url string) string { return url }, "WebSocket": webSocket} {
			t.Run(server+" over "+profile, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), conversationTimeout)
				defer cancel()
				h := newGoClient()
				c := conversationWith(ctx, t, dialRemote(t, address(start(t)), h), h)
				if profile == "HTTP" {
					c.all(t)
				} else {
					c.all(t, "before initialize") // it ends the connection
				}
			})
		}
	}
}

// The client of the TypeScript SDK holds its whole conversation over the network.
func TestTypeScriptClientRemote(t *testing.T) {
	t.Parallel()
	needShell(t)
	for server, start := range servers {
		for profile, address := range map[string]func(string) string{"HTTP": func(url string) string { return url }, "WebSocket": webSocket} {
			t.Run(server+" over "+profile, func(t *testing.T) {
				t.Parallel()
				r, got := driven(t, "client.mjs", "", address(start(t)))
				assert.Empty(t, got.stderr, "nothing of this is worth a warning")
				assert.Len(t, r.Checks, 25, "a check that was not made proves nothing: %q", r.Checks)
			})
		}
	}
}
