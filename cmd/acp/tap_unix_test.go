//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
)

// begin starts a program outside of the terminal's foreground, and returns its input and output.
func begin(t *testing.T, cmd *exec.Cmd) (in io.WriteCloser, out *bufio.Reader) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.NoError(t, pipe.(*os.File).SetReadDeadline(time.Now().Add(time.Minute)))
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // nothing is left if the test has passed
		_ = cmd.Wait()
	})
	return in, bufio.NewReader(pipe)
}

func next(t *testing.T, out *bufio.Reader) string {
	t.Helper()
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSuffix(line, "\n")
}

// The agent gets each signal once, whether it is sent to tap alone or to both.
func TestSignalsPass(t *testing.T) {
	t.Parallel()
	all := watched() // without those that are ignored, such as SIGHUP under nohup
	cmd := tapped(t.TempDir(), agent("signals", strconv.Itoa(len(all))))
	_, out := begin(t, cmd)
	assert.Equal(t, "ready", next(t, out))
	for _, sig := range all {
		require.NoError(t, cmd.Process.Signal(sig))
		assert.Equal(t, sig.String(), next(t, out))
	}
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	assert.Equal(t, 5, exit.ExitCode())
}

// A signal to the process group, which clients and terminals send, reaches the agent once.
func TestSignalsToTheGroupPassOnce(t *testing.T) {
	t.Parallel()
	all := watched()
	state := t.TempDir()
	cmd := tapped(state, agent("signals", strconv.Itoa(2*len(all))))
	_, out := begin(t, cmd) // the leader of a group
	assert.Equal(t, "ready", next(t, out))
	recorded := func() (signals int) {
		files, err := recording.List(state + "/acpkit/recordings")
		require.NoError(t, err)
		r, err := recording.Open(files[0].Path)
		require.NoError(t, err)
		defer r.Close()
		for rec, err := r.Next(); err == nil; rec, err = r.Next() {
			if rec.Kind == recording.Signal {
				signals++
			}
		}
		return signals
	}
	sent := 0
	for _, sig := range all {
		for _, to := range []int{-cmd.Process.Pid, cmd.Process.Pid} { // to all, and to tap alone
			require.NoError(t, syscall.Kill(to, sig.(syscall.Signal)))
			assert.Equal(t, sig.String(), next(t, out))
			sent++
			if sent < 2*len(all) { // the agent exits after the last one
				require.Eventually(t, func() bool { return recorded() == sent }, time.Minute, time.Millisecond, "a second one at the same time would be the same signal")
			}
		}
	}
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	assert.Equal(t, 5, exit.ExitCode())
}

// A signal to the process group reaches the agent once also if it is sent as soon as the agent can tell.
func TestEarlySignalsToTheGroup(t *testing.T) {
	t.Parallel()
	for range 5 {
		cmd := tapped(t.TempDir(), agent("signals", "2"))
		_, out := begin(t, cmd)
		assert.Equal(t, "ready", next(t, out))
		require.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGUSR1))
		assert.Equal(t, syscall.SIGUSR1.String(), next(t, out))
		require.NoError(t, syscall.Kill(cmd.Process.Pid, syscall.SIGUSR2)) // behind a second SIGUSR1, if there is one
		assert.Equal(t, syscall.SIGUSR2.String(), next(t, out))
		require.Error(t, cmd.Wait())
	}
}

// An agent that a signal ends looks as it would without tap.
func TestAgentEndedByASignal(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGINT, syscall.SIGSEGV} {
		state := t.TempDir()
		cmd := tapped(state, []string{"sh", "-c", fmt.Sprintf("kill -%d $$", sig)})
		begin(t, cmd)
		_ = cmd.Wait()
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if sig == syscall.SIGSEGV { // which the Go runtime does not pass on
			assert.Equal(t, 128+int(sig), status.ExitStatus())
			continue
		}
		assert.True(t, status.Signaled())
		assert.Equal(t, sig, status.Signal())
		_, list := theRecording(t, state)
		assert.Equal(t, cmd.ProcessState.String(), list[len(list)-1].Line)
	}
}

// Kill -9 leaves neither an agent nor a recording that cannot be read, and the recording has every message
// that was passed on.
func TestKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("this system does not end a process with its parent, as Linux does: the agent ends with its input")
	}
	for round := range 10 {
		state := t.TempDir()
		cmd := tapped(state, agent("hang"))
		in, out := begin(t, cmd)
		var pid int
		_, err := fmt.Sscan(next(t, out), &pid)
		require.NoError(t, err)
		reply := tapped(t.TempDir(), agent("reply"))
		if round > 0 { // the messages of a client that waits for each response
			require.NoError(t, cmd.Process.Kill())
			state = t.TempDir()
			reply = tapped(state, agent("reply"))
			in, out = begin(t, reply)
		}
		passed := 2 * round * round
		for i := range passed / 2 {
			_, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"a"}`+"\n", i)
			require.NoError(t, err)
			next(t, out)
		}
		if round == 0 {
			reply, passed = cmd, 1 // the line of the agent
		}
		require.NoError(t, reply.Process.Kill())
		require.Error(t, reply.Wait())
		assert.Eventually(t, func() bool { return isGone(pid) }, time.Minute, time.Millisecond)
		_, list := theRecording(t, state)
		require.Len(t, list, passed)
	}
}

// isGone reports whether a process has ended, also if nobody has waited for it.
func isGone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) || strings.Contains(string(stat), ") Z ")
}
