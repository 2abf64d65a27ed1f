package process

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
)

// run starts a command in r and returns its group and the ids of its processes.
func run(t *testing.T, r *registry, name string) (*Group, []int) {
	t.Helper()
	cmd := command(name)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	g, err := r.start(cmd)
	require.NoError(t, err)
	pids := readPIDs(t, out, cmd.Process.Pid)
	ended := make(chan struct{})
	go func() { // ends with the group
		defer close(ended)
		_ = cmd.Wait()
		for g.Reaped() && !g.Vanishes(time.Now().Add(time.Minute)) {
		}
		g.release()
		r.remove(g)
	}()
	t.Cleanup(func() { g.Kill(); <-ended })
	return g, pids
}

// readPIDs reads the ids of processes up to last, which is known.
func readPIDs(t *testing.T, out io.Reader, last int) (pids []int) {
	t.Helper()
	for lines := bufio.NewReader(out); len(pids) == 0 || pids[len(pids)-1] != last; {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		require.NoError(t, err)
		pids = append(pids, pid)
	}
	return pids
}

func gone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		leak.CheckProcess(t, pid)
	}
}
