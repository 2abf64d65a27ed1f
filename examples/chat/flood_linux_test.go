package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// flooded starts chat with a flooder.
func flooded(t *testing.T, what string) *session {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return onPTY(t, []string{floodEnv + "=" + what}, "-dir", t.TempDir(), "--", self)
}

// An agent whose tool call, plan or terminal is large costs the process, after that, no more than another: the
// thousand updates that follow cost what they change. The CPU time of both processes together is compared with
// that of an agent with a small title.
func TestFloodOnATerminal(t *testing.T) {
	cpu := func(what string) time.Duration {
		s := flooded(t, what)
		s.reply("> ", "go\r")
		s.expect("u999")
		s.expect("(end turn)")
		s.quit()
		return s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
	}
	small := cpu("a small title")
	for what := range floods {
		large := cpu(what)
		t.Logf("%s: %v, a small title %v", what, large, small)
		assert.Less(t, large, 6*small, what)
	}
}

// Ctrl-C cancels the turn of such an agent as soon as that of another.
func TestCtrlCInAFlood(t *testing.T) {
	wait := func(what string) time.Duration {
		s := flooded(t, what)
		s.reply("> ", "on\r")
		s.expect("u501 ")
		s.send("\x03")
		sent := time.Now()
		s.expect("(cancelled)")
		took := time.Since(sent)
		s.quit()
		return took
	}
	small := wait("a small title")
	for what := range floods {
		large := wait(what)
		t.Logf("%s: %v, a small title %v", what, large, small)
		assert.Less(t, large, 10*max(small, 200*time.Millisecond), what)
	}
}
