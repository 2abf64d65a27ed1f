//go:build unix

package examples_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An account without a home, for which an editor starts a program with PATH alone, gets its sessions in a
// temporary folder, and is told so.
func TestNoHome(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become an account without a home")
	}
	require.NoError(t, os.Chmod(programs, 0o755))
	temp := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(temp), 0o755))
	require.NoError(t, os.Chmod(temp, 0o777))
	for _, name := range []string{"coder", "agent"} {
		cmd := exec.Command(filepath.Join(programs, name))
		cmd.Dir, cmd.Env = "/", []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + temp, "BASE_URL=http://127.0.0.1:1/v1"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"` + temp + `","mcpServers":[]}}` + "\n")
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		require.NoError(t, err, said.String())
		assert.Contains(t, string(out), `"sessionId"`, said.String())
		assert.Contains(t, said.String(), "There is no folder for sessions")
		assert.Contains(t, said.String(), "so they are in "+temp)
	}
}
