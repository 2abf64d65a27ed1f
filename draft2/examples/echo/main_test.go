package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

const playEnv = "ACPKIT_TEST_ECHO" // set for the test's own binary, which then is the agent

func TestMain(m *testing.M) {
	if os.Getenv(playEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program returns the command that starts the agent.
func program(t *testing.T, args ...string) *exec.Cmd {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), playEnv+"=1")
	return cmd
}

func TestHelp(t *testing.T) {
	out, err := program(t, "-h").CombinedOutput()
	assert.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(out), "usage: echo"), "%s", out)
}

// SIGTERM ends the agent, though its input stays open.
func TestSignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGTERM")
	}
	cmd := program(t)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer in.Close()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`+"\n")
	require.NoError(t, err)
	_, err = bufio.NewReader(out).ReadString('\n') // it serves now
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	assert.ErrorContains(t, cmd.Wait(), "signal: terminated")
}

// viewer is a client of version 2 that shows nothing.
type viewer struct{}

func (viewer) SessionUpdate(context.Context, *acp.UpdateSessionNotification) error { return nil }
func (viewer) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Cancelled(), nil
}

// The smallest agent of version 2 keeps the promises of the protocol.
func TestConversation(t *testing.T) {
	leak.Check(t)
	process, err := stream.Command(program(t), nil)
	require.NoError(t, err)
	conn, err := client.Connect(t.Context(), process, func(*client.Conn) acp.Client { return viewer{} }, nil)
	require.NoError(t, err)
	session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
	require.NoError(t, err)
	first, second := session.Prompt(t.Context(), acp.Text("one")), session.Prompt(t.Context(), acp.Text("two"))
	for turn, want := range map[*client.Turn]string{first: "You said: one", second: "You said: two"} {
		text, err := turn.Text()
		require.NoError(t, err)
		assert.Equal(t, want, text)
		end, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonEndTurn, end.StopReason)
	}
	for range conn.Sessions(t.Context(), nil) {
		t.Error("it stores no sessions")
	}
	_, err = conn.StartResumedSession(t.Context(), &acp.ResumeSessionRequest{SessionID: "other", Cwd: "/"}, nil)
	assert.ErrorIs(t, err, rpcerr.ErrSessionNotFound)
	require.NoError(t, session.Close(t.Context()))
	require.NoError(t, conn.Close())
	assert.NoError(t, conn.Wait())
}
