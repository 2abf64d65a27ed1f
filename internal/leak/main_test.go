package leak_test

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// The test binary plays a process that waits, if this variable is set.
const playEnv = "LEAK_TEST_WAITS"

func TestMain(m *testing.M) {
	if os.Getenv(playEnv) != "" {
		over := make(chan os.Signal, 1)
		signal.Notify(over, syscall.SIGHUP) // no test sends SIGHUP
		<-over
	}
	os.Exit(m.Run())
}
