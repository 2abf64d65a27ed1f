//go:build unix

package terminals_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSignalsEndTheCommands(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			self, err := os.Executable()
			require.NoError(t, err)
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), playEnv+"="+t.TempDir())
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			pids := make([]int, 2)
			for lines, i := bufio.NewReader(out), 0; i < 2; i++ {
				_, err := fmt.Fscanln(lines, &pids[i])
				require.NoError(t, err)
			}
			require.NoError(t, cmd.Process.Signal(sig))
			exit, ok := errors.AsType[*exec.ExitError](cmd.Wait())
			require.True(t, ok)
			assert.Equal(t, sig, exit.Sys().(syscall.WaitStatus).Signal())
			gone(t, pids)
		})
	}
}
