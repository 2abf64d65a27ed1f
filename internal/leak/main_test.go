package leak_test

import (
	"os"
	"testing"
	"time"
)

// The test binary plays a process that waits, if this variable is set.
const playEnv = "LEAK_TEST_WAITS"

func TestMain(m *testing.M) {
	if os.Getenv(playEnv) != "" {
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}
