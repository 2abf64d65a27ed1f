//go:build unix

package stream_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
)

// quick has a short Grace, for tests that wait until it is over.
var quick = &stream.CommandOptions{Grace: 300 * time.Millisecond}

// shell runs a script. Its $0 is the command line of the helper.
func shell(t testing.TB, name, script string) *exec.Cmd {
	cmd := helper(t, name)
	sh := exec.Command("sh", "-c", script, cmd.Path)
	sh.Env = cmd.Env
	return sh
}

func init() { helpers["outside"] = helperOutside }

// helperOutside starts a process outside of the process group that holds the pipes, and exits.
func helperOutside() {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), helperEnv+"=mute")
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("{\"pid\":%d}\n", child.Process.Pid)
	os.Exit(5)
}

func TestCommandGrandchildHoldsPipes(t *testing.T) {
	t.Run("in the group", func(t *testing.T) {
		p := start(t, shell(t, "deaf", `sleep 1000 & echo "{\"pid\":$!}"; echo bye >&2; exit 5`), nil)
		pid := readPID(t, p)
		_, err := p.Read()
		assert.EqualError(t, err, "process exited with status 5: bye")
		require.NoError(t, p.Close())
		leak.CheckProcess(t, pid)
	})
	t.Run("ignoring SIGTERM", func(t *testing.T) {
		cmd := shell(t, "deaf", `trap "" TERM; sleep 1000 & echo "{\"pid\":$!}"; echo bye >&2; exit 5`)
		cmd.WaitDelay = 200 * time.Millisecond
		p := start(t, cmd, quick)
		pid := readPID(t, p)
		_, err := p.Read()
		assert.EqualError(t, err, "process exited with status 5: bye")
		assert.Error(t, p.Wait())
		leak.CheckProcess(t, pid)
	})
	t.Run("outside of the group", func(t *testing.T) {
		cmd := helper(t, "outside")
		cmd.WaitDelay = 200 * time.Millisecond
		p := start(t, cmd, nil)
		pid := readPID(t, p)
		defer syscall.Kill(pid, syscall.SIGKILL)
		_, err := p.Read()
		assert.EqualError(t, err, "process exited with status 5")
		assert.Error(t, p.Wait())
	})
	t.Run("and keeps writing", func(t *testing.T) {
		cmd := shell(t, "deaf", `trap "" TERM; (while :; do echo '{}'; done) & exit 5`)
		cmd.WaitDelay = 100 * time.Millisecond
		p := start(t, cmd, &stream.CommandOptions{Grace: 10 * time.Second})
		defer syscall.Kill(-p.PID(), syscall.SIGKILL)
		err := error(nil)
		for err == nil {
			_, err = p.Read()
		}
		assert.ErrorContains(t, err, "status 5")
		assert.NoError(t, syscall.Kill(-p.PID(), 0), "the group lives")
	})
}

func TestCommandReadsAllThatAnEndedProcessWrote(t *testing.T) {
	cmd := shell(t, "deaf", `trap "" TERM; sleep 1000 & i=0; while [ $i -lt 1000 ]; do echo "{\"n\":$i}"; i=$((i+1)); done; exit 5`)
	cmd.WaitDelay = 10 * time.Millisecond
	p := start(t, cmd, quick)
	<-p.Done() // later than the delay, because Grace is longer
	for i := range 1000 {
		require.Equal(t, `{"n":`+strconv.Itoa(i)+`}`, receive(t, p))
	}
	_, err := p.Read()
	assert.ErrorContains(t, err, "status 5")
}

func TestCommandIgnoringSIGTERM(t *testing.T) {
	p := start(t, shell(t, "deaf", `trap "" TERM; sleep 1000 & echo "{\"pid\":$!}"; while :; do sleep 1; done`), quick)
	pid := readPID(t, p)
	require.NoError(t, p.Close())
	exit, ok := errors.AsType[*stream.ExitError](p.Wait())
	require.True(t, ok)
	assert.Equal(t, "killed", exit.Signal)
	assert.Equal(t, -1, exit.Status)
	leak.CheckProcess(t, pid)
	leak.CheckProcess(t, p.PID())
}

func TestCommandIgnoringEndOfInput(t *testing.T) {
	p := start(t, helper(t, "deaf"), quick)
	receive(t, p)
	require.NoError(t, p.Close())
	exit, ok := errors.AsType[*stream.ExitError](p.Wait())
	require.True(t, ok)
	assert.Equal(t, "terminated", exit.Signal)
}

func TestCommandStopped(t *testing.T) {
	p := start(t, shell(t, "deaf", `trap 'exit 7' TERM; echo '{}'; while :; do sleep 0.05; done`), &stream.CommandOptions{Grace: time.Second})
	receive(t, p)
	require.NoError(t, syscall.Kill(-p.PID(), syscall.SIGSTOP))
	require.NoError(t, p.Close())
	exit, ok := errors.AsType[*stream.ExitError](p.Wait())
	require.True(t, ok)
	assert.Equal(t, 7, exit.Status, "it was woken to hear the signal")
}

func TestCommandKilled(t *testing.T) {
	p := start(t, helper(t, "echo"), nil)
	require.NoError(t, syscall.Kill(p.PID(), syscall.SIGKILL))
	_, err := p.Read()
	assert.EqualError(t, err, "process was ended by signal: killed")
}

func TestCommandContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	script := shell(t, "deaf", `sleep 1000 & echo "{\"pid\":$!}"; wait`)
	cmd := exec.CommandContext(ctx, script.Path, script.Args[1:]...)
	cmd.Env = script.Env
	p := start(t, cmd, nil)
	pid := readPID(t, p)
	cancel()
	<-p.Done()
	leak.CheckProcess(t, pid)
}

// The error for an agent that cannot start contains what the agent has printed.
func ExampleCommand() {
	p, err := stream.Command(exec.Command("sh", "-c", "echo 'no such model: x' >&2; exit 2"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	_, err = p.Read()
	fmt.Println(err)
	// Output: process exited with status 2: no such model: x
}

// Before is called when a signal ends the program, and cannot keep it from ending.
func TestBeforeTheEndBySignal(t *testing.T) {
	cmd := helper(t, "settles")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	require.Equal(t, "ready", lines.Text())
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.True(t, lines.Scan())
	assert.Equal(t, "settled", lines.Text())
	for lines.Scan() {
		assert.Equal(t, "late", lines.Text())
	}
	_ = cmd.Wait() // it is ended by a signal
	assert.Equal(t, syscall.SIGTERM, cmd.ProcessState.Sys().(syscall.WaitStatus).Signal())
}
