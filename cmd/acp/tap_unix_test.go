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

// Kill -9 leaves neither an agent nor a recording that cannot be read.
func TestKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("this system does not end a process with its parent, as Linux does: the agent ends with its input")
	}
	state := t.TempDir()
	cmd := tapped(state, agent("hang"))
	in, out := begin(t, cmd)
	_, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"a"}`+"\n")
	require.NoError(t, err)
	var pid int
	_, err = fmt.Sscan(next(t, out), &pid)
	require.NoError(t, err)
	dir := state + "/acpkit/recordings/"
	require.Eventually(t, func() bool { // the recording may come a moment later
		names, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, names, 1)
		text, err := os.ReadFile(dir + names[0].Name())
		return err == nil && strings.Count(string(text), "\n") == 3
	}, time.Minute, time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	assert.Eventually(t, func() bool { return isGone(pid) }, time.Minute, time.Millisecond)
	_, list := theRecording(t, state)
	require.Len(t, list, 2)
}

// isGone reports whether a process has ended, also if nobody has waited for it.
func isGone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) || strings.Contains(string(stat), ") Z ")
}
