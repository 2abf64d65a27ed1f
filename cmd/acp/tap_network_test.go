package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// serveAgent serves an agent that responds to each request with the request as its result. Clients
// must send the token.
func serveAgent(t *testing.T, token string) (address string) {
	t.Helper()
	handler := remote.NewHandler(func(_ context.Context, s stream.Stream) error {
		for {
			msg, err := s.Read()
			if err != nil {
				return err
			}
			m := stream.ParseMessage(msg)
			if m.Kind != stream.KindRequest {
				continue
			}
			if err := s.Write([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `, "result":` + string(msg) + `}`)); err != nil {
				return err
			}
		}
	}, &remote.Options{Authorize: remote.BearerToken(token)})
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = handler.Shutdown(ctx)
		server.Close()
	})
	return server.Listener.Addr().String()
}

// tapAt starts acp tap before an agent in the network and returns the address that it listens on.
func tapAt(t *testing.T, state, to string, env ...string) (address string, cmd *exec.Cmd) {
	t.Helper()
	cmd = acp(state, "tap", "-listen", "127.0.0.1:0", "-to", to, "-origins", "https://editor.example")
	if cmd.Env = append(cmd.Env, env...); len(env) == 0 {
		cmd.Args = append(cmd.Args, "-no-token")
	}
	said, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewReader(said)
	first, err := lines.ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, first, "acp: recording to ")
	second, err := lines.ReadString('\n')
	require.NoError(t, err)
	_, address, ok := strings.Cut(strings.TrimSpace(second), " at http://")
	require.True(t, ok, second)
	address, _, _ = strings.Cut(address, " ")
	go func() { _, _ = io.Copy(io.Discard, lines) }() // ends with the program
	return address, cmd
}

func dial(t *testing.T, url, token string) stream.Stream {
	t.Helper()
	s, err := remote.Dial(t.Context(), url, &remote.DialOptions{Header: func(context.Context) (http.Header, error) {
		return http.Header{"Authorization": {"Bearer " + token}}, nil
	}})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

const initialize = `{"jsonrpc":"2.0", "id":"a", "method":"initialize","params":{"later":[1.0,"\u00e9"]}}`

// Every message passes as it was sent, over both transports and with the client's own token, and is
// recorded.
func TestNetworkPeers(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"ws://", "http://"} {
		state := t.TempDir()
		address, cmd := tapAt(t, state, scheme+serveAgent(t, "s3cret")+"/acp")
		s := dial(t, scheme+address, "s3cret")
		require.NoError(t, s.Write([]byte(initialize)))
		got, err := s.Read()
		require.NoError(t, err)
		want := `{"jsonrpc":"2.0","id":"a", "result":` + initialize + `}`
		assert.Equal(t, want, string(got))
		require.NoError(t, s.Close())
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		require.NoError(t, cmd.Wait(), scheme)
		_, list := theRecording(t, state)
		require.Len(t, list, 4)
		assert.Equal(t, initialize, string(list[0].Raw))
		assert.Equal(t, want, string(list[1].Raw))
		assert.Equal(t, []recording.Dir{recording.Client, recording.Agent}, []recording.Dir{list[0].Dir, list[1].Dir})
	}
}

// An agent refuses a client through tap that it would refuse without, and what tap is for one client
// is of no use to another.
func TestNetworkClientsThatAreRefused(t *testing.T) {
	t.Parallel()
	agent := serveAgent(t, "s3cret")
	address, _ := tapAt(t, t.TempDir(), "ws://"+agent)
	s := dial(t, "ws://"+address, "wrong")
	require.NoError(t, s.Write([]byte(initialize)))
	_, err := s.Read()
	assert.Error(t, err)

	own, _ := tapAt(t, t.TempDir(), "ws://"+agent, remote.TokenVariable+"=s3cret")
	status := func(address string, header ...string) int {
		req, err := http.NewRequest(http.MethodPost, "http://"+address, strings.NewReader(initialize))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			if req.Header.Set(header[i], header[i+1]); header[i] == "Host" {
				req.Host = header[i+1]
			}
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		return resp.StatusCode
	}
	assert.Equal(t, http.StatusUnauthorized, status(own))
	assert.Equal(t, http.StatusUnauthorized, status(own, "Authorization", "Bearer wrong"))
	assert.Equal(t, http.StatusForbidden, status(own, "Authorization", "Bearer s3cret", "Origin", "https://evil.example"))
	assert.Equal(t, http.StatusForbidden, status(own, "Authorization", "Bearer s3cret", "Host", "evil.example"))
	assert.Equal(t, http.StatusForbidden, status(address, "Origin", "https://evil.example"))
	assert.Equal(t, http.StatusOK, status(own, "Authorization", "Bearer s3cret", "Origin", "https://editor.example"))
}

func TestPortInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	got := run(t, acp(t.TempDir(), "tap", "-listen", l.Addr().String(), "-to", "ws://127.0.0.1:1"), nil)
	assert.Equal(t, "acp: another program listens on "+l.Addr().String()+": end it, or choose another address with -listen\n", got.err)
	assert.Equal(t, "exit status 1", got.state)
}
