//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The example agent is reached over the network as it is as a child process.
func TestRemoteAgent(t *testing.T) {
	path, err := example()
	require.NoError(t, err)
	agent := exec.Command(path, "-state", t.TempDir(), "-listen", "127.0.0.1:0")
	agent.Env = append(agent.Environ(), "ACP_TOKEN=secret")
	out, err := agent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, agent.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	url := strings.TrimSpace(line)
	t.Setenv("ACP_TOKEN", "secret")
	for _, url := range []string{url, "ws" + strings.TrimPrefix(url, "http")} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a.txt"), "hello\n")
		var screen bytes.Buffer
		require.NoError(t, run(t.Context(), settings{url: url, dir: dir, yes: true, prompt: "read a.txt, then run `echo from the shell`"}, &console{in: strings.NewReader(""), out: &screen, err: &screen}))
		for _, want := range []string{"▸ Read a.txt", "hello", "▸ Run echo from the shell", "from the shell", "Everything is done.", "(end turn)"} {
			assert.Contains(t, screen.String(), want)
		}
	}
	t.Setenv("ACP_TOKEN", "wrong")
	assert.ErrorContains(t, run(t.Context(), settings{url: url, dir: t.TempDir(), prompt: "help"}, noConsole()), "401")
	require.NoError(t, agent.Process.Signal(syscall.SIGTERM))
	assert.NoError(t, agent.Wait(), "it shuts down")
}

func TestOpenAgentNeedsAToken(t *testing.T) {
	path, err := example()
	require.NoError(t, err)
	out, err := exec.Command(path, "-state", t.TempDir(), "-listen", "0.0.0.0:0").CombinedOutput()
	assert.Error(t, err)
	assert.Contains(t, string(out), "set ACP_TOKEN")
}
