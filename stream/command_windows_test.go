package stream_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/wine"
	"github.com/acpkit/go-sdk/stream"
)

func init() {
	helpers["leaver"] = func() { startMute(); fmt.Fprintln(os.Stderr, "bye"); os.Exit(5) }
	helpers["wrapper"] = func() { startMute(); stay() }
}

// startMute starts a process that ignores the end of its input and holds the pipes. It writes the
// process id in a message.
func startMute() {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), helperEnv+"=mute")
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("{\"pid\":%d}\n", child.Process.Pid)
}

// Processes that an agent leaves behind end with it, and do not delay its error.
func TestCommandLeavesNothingBehind(t *testing.T) {
	p := start(t, helper(t, "leaver"), nil)
	pid := readPID(t, p)
	began := time.Now()
	_, err := p.Read()
	assert.EqualError(t, err, "process exited with status 5: bye")
	assert.Error(t, p.Wait())
	assert.Less(t, time.Since(began), 4*time.Second)
	leak.CheckProcess(t, pid)
}

// An agent behind a wrapper, such as npx, ends with the wrapper.
func TestCommandIgnoringEndOfInput(t *testing.T) {
	p := start(t, helper(t, "wrapper"), &stream.CommandOptions{Grace: 100 * time.Millisecond})
	pid := readPID(t, p)
	require.NoError(t, p.Close())
	exit, ok := errors.AsType[*stream.ExitError](p.Wait())
	require.True(t, ok)
	assert.NotZero(t, exit.Status)
	assert.Empty(t, exit.Signal)
	leak.CheckProcess(t, pid)
	leak.CheckProcess(t, p.PID())
}

// A Ctrl-Break ends a process that does not handle it.
func TestCommandIsAskedToEnd(t *testing.T) {
	wine.Lacks(t, "GenerateConsoleCtrlEvent for a process group")
	p := start(t, helper(t, "wrapper"), &stream.CommandOptions{Grace: 3 * time.Second})
	pid := readPID(t, p)
	began := time.Now()
	require.NoError(t, p.Close())
	assert.Less(t, time.Since(began), 6*time.Second, "it was not killed")
	leak.CheckProcess(t, pid)
}
