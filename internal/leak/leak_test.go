package leak

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorder replaces the test that Check watches.
type recorder struct {
	testing.TB
	cleanup []func()
	errors  []string
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanup = append(r.cleanup, f) }
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
func (r *recorder) end() {
	for _, v := range slices.Backward(r.cleanup) {
		v()
	}
}

func blockOn(ch chan struct{}) { <-ch }

func TestCheckIsQuietWhenAllEnded(t *testing.T) {
	r := &recorder{TB: t}
	Check(r)
	ch := make(chan struct{})
	go blockOn(ch) // ends with the close below
	close(ch)
	r.end()
	assert.Empty(t, r.errors)
}

func TestCheckIgnoresWhatWasThereBefore(t *testing.T) {
	ch := make(chan struct{})
	go blockOn(ch) // ends with the close below
	r := &recorder{TB: t}
	Check(r)
	r.end()
	close(ch)
	assert.Empty(t, r.errors)
}

func TestCheckWaitsForLateOnes(t *testing.T) {
	r := &recorder{TB: t}
	Check(r)
	ch := make(chan struct{})
	time.AfterFunc(50*time.Millisecond, func() { close(ch) })
	go blockOn(ch) // ends with the timer
	r.end()
	assert.Empty(t, r.errors)
}

func TestCheckNamesTheGoroutineInABubble(t *testing.T) {
	outside := make(chan struct{})
	go blockOn(outside) // ends with the close at the end
	defer close(outside)
	synctest.Test(t, func(t *testing.T) {
		Check(t)
		r := &recorder{TB: t}
		Check(r)
		ch := make(chan struct{})
		go blockOn(ch) // ends with the close below
		start := time.Now()
		r.end()
		require.Len(t, r.errors, 1)
		assert.Contains(t, r.errors[0], "leak.blockOn")
		assert.Zero(t, time.Since(start), "no time may pass in the bubble")
		close(ch)
	})
}

func TestCheckNamesTheGoroutine(t *testing.T) {
	patience = 50 * time.Millisecond
	defer func() { patience = 5 * time.Second }()
	r := &recorder{TB: t}
	Check(r)
	ch := make(chan struct{})
	go blockOn(ch) // ends with the close below
	r.end()
	close(ch)
	require.Len(t, r.errors, 1)
	assert.Contains(t, r.errors[0], "leak.blockOn")
}

// If this variable is set, the test binary is a process that waits.
const playEnv = "LEAK_TEST_WAITS"

func TestMain(m *testing.M) {
	if os.Getenv(playEnv) != "" {
		over := make(chan os.Signal, 1)
		signal.Notify(over, syscall.SIGHUP) // no test sends SIGHUP
		<-over
	}
	os.Exit(m.Run())
}

func TestCheckProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playEnv+"=1")
	require.NoError(t, cmd.Start())
	r := &recorder{TB: t}
	CheckProcess(r, cmd.Process.Pid)
	assert.NotEmpty(t, r.errors, "a process that runs is found")

	require.NoError(t, cmd.Process.Kill())
	_, err := cmd.Process.Wait() // has ended, but the id may stay in use
	require.NoError(t, err)
	CheckProcess(t, cmd.Process.Pid)
}
