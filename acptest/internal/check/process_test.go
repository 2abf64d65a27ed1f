package check

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a peer leaves is found, also if it has left the process group of the peer, and it ends with
// the connection.
func TestProcessesThatAreLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells which processes are left")
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		require.Empty(t, os.Getenv("CI"), "setsid is not installed, which CI must have")
		t.Skip("setsid is not installed: the peer of this test starts a process in a session of its own")
	}
	for name, c := range map[string]struct {
		script                  string
		whileItRuns, afterItEnd bool
	}{
		"nothing":      {"cat", false, false},
		"a grandchild": {"(setsid sh -c 'sleep 60 & wait' >/dev/null 2>&1 &); exec cat", false, true},
		"a zombie":     {"true & exec cat", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := start(Command{Args: []string{"sh", "-c", c.script}})
			require.NoError(t, err)
			defer l.Close()
			require.NoError(t, l.Write([]byte("hello\n")))
			_, err = l.Read() // everything was started before
			require.NoError(t, err)
			if c.whileItRuns {
				require.Eventually(t, l.unreaped, time.Minute, time.Millisecond)
			}
			left, known := l.Left()
			assert.True(t, known)
			assert.Equal(t, c.whileItRuns, left, "while it runs")
			require.NoError(t, l.CloseInput())
			<-l.Done()
			left, _ = l.Left()
			assert.Equal(t, c.afterItEnd, left, "after its end")
			require.NoError(t, l.Close())
			require.Eventually(t, func() bool { return l.strays() == nil }, time.Minute, time.Millisecond)
		})
	}
}
