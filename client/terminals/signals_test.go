//go:build unix

package terminals_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/stream"
)

func init() { plays["client"] = playClient }

// playClient runs a command that ignores SIGTERM and passes its output on.
func playClient(args []string) error {
	stream.EndOnSignal(&stream.SignalOptions{Grace: 100 * time.Millisecond})
	folders, err := files.Open(&files.Options{Roots: args})
	if err != nil {
		return err
	}
	pool := terminals.New(folders, &terminals.Options{OnOutput: func(o terminals.Output) { os.Stdout.Write(o.Data) }})
	conn := peertest.NewSessions(args[0], "s")
	h := &runner{Terminals: pool.Terminals(conn, nil), conn: conn, session: "s"}
	if _, err := h.tryCreate(acp.CreateTerminalRequest{Command: "sh", Args: []string{"-c", stubborn + `trap "" TERM; echo $$; while :; do sleep 0.05; done`}}); err != nil {
		return err
	}
	return wait() // until the signal
}

func TestSignalsEndTheCommands(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			if signal.Ignored(sig) {
				t.Skip("this signal is ignored, as under nohup: the processes of the test would ignore it too")
			}
			self, err := os.Executable()
			require.NoError(t, err)
			cmd := exec.Command(self, "play", "client", t.TempDir())
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
			requireGone(t, pids)
		})
	}
}
