//go:build unix

package process

import (
	"bufio"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
)

// The tests look inside because the real list can be ended only once a program.

// run starts a shell script in r. The script must print a line when it is ready.
func run(t *testing.T, r *registry, script string) *Group {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	g, err := r.start(cmd)
	require.NoError(t, err)
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() { // ends with the process
		defer close(ended)
		_ = cmd.Wait()
		for g.Reaped() && !g.Vanishes(time.Now().Add(time.Minute)) {
		}
		g.release()
		r.remove(g)
	}()
	t.Cleanup(func() { g.Kill(); <-ended })
	return g
}

func TestEndAll(t *testing.T) {
	leak.Check(t)
	r := &registry{groups: map[*Group]chan struct{}{}}
	polite := run(t, r, `echo; sleep 1000`)
	rude := run(t, r, `trap "" TERM; echo; sleep 1000; sleep 1000`)
	left := run(t, r, `(trap "" TERM; echo; sleep 1000; sleep 1000) & exit`)
	r.endAll(300*time.Millisecond, nil)
	for _, g := range []*Group{polite, rude, left} {
		leak.CheckProcess(t, g.leader.Pid)
		assert.False(t, g.alive())
	}
	assert.Empty(t, r.groups)
	_, err := r.start(exec.Command("true"))
	assert.ErrorIs(t, err, ErrEnding)
}

func TestEndAllInAHurry(t *testing.T) {
	leak.Check(t)
	r := &registry{groups: map[*Group]chan struct{}{}}
	g := run(t, r, `trap "" TERM; echo; sleep 1000; sleep 1000`)
	hurry := make(chan struct{})
	close(hurry)
	began := time.Now()
	r.endAll(time.Hour, hurry)
	assert.Less(t, time.Since(began), time.Minute)
	assert.False(t, g.alive())
}
