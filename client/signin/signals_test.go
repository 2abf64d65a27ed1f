//go:build unix

package signin_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/signin"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
)

// The program, but not its process group, receives a signal while the user signs in.
func TestSignalsEndTheCommand(t *testing.T) {
	const part = "ACPKIT_TEST_SIGNIN_PART"
	again := func(as string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSignalsEndTheCommand$", "--")
		cmd.Env = append(os.Environ(), part+"="+as)
		return cmd
	}
	switch os.Getenv(part) {
	case "login":
		fmt.Println(os.Getpid(), syscall.Getpgrp())
		select {} // the user does not answer
	case "program":
		stream.EndOnSignal(nil)
		_, err := signin.Do(context.Background(), offer(t, terminal), errRequired, &signin.Options{Command: func() *exec.Cmd { return again("login") }, Choose: choose("tty"), Show: show})
		t.Fatal("the program is not to hear of the end:", err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if signal.Ignored(sig) { // the test runs under nohup, and its processes ignore the signal too
			t.Log("not tested: the tests run ignoring", sig)
			continue
		}
		program := again("program")
		program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := program.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, program.Start())
		var pid, group int
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		_, err = fmt.Sscan(line, &pid, &group)
		require.NoError(t, err)
		assert.Equal(t, program.Process.Pid, group, "it can read from the terminal")
		require.NoError(t, program.Process.Signal(sig))
		_ = program.Wait()                                                                     // the state has the result
		if status := program.ProcessState.Sys().(syscall.WaitStatus); sig == syscall.SIGQUIT { // the runtime prints the goroutines
			assert.Equal(t, 2, status.ExitStatus())
		} else {
			assert.Equal(t, sig, status.Signal())
		}
		leak.CheckProcess(t, pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
