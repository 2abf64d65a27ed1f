package leak_test

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

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

// stateRecorder is a test that may fail.
type stateRecorder struct {
	testing.TB
	failed bool
}

func (r *stateRecorder) Errorf(string, ...any) { r.failed = true }
