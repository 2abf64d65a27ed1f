package process

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/wine"
)

func TestKillEndsTheWholeGroup(t *testing.T) {
	leak.Check(t)
	r := &registry{groups: map[*Group]chan struct{}{}}
	g, pids := run(t, r, "family")
	closed := r.groups[g]
	assert.True(t, g.alive())
	g.Kill()
	<-closed
	assert.Len(t, pids, 3)
	requireGone(t, pids)
}

func TestTerminate(t *testing.T) {
	wine.Lacks(t, "GenerateConsoleCtrlEvent for a process group")
	leak.Check(t)
	r := &registry{groups: map[*Group]chan struct{}{}}
	rude, _ := run(t, r, "rude")
	polite, pids := run(t, r, "polite")
	closed := r.groups[polite]
	rude.Terminate()
	polite.Terminate()
	<-closed
	requireGone(t, pids)
	assert.Contains(t, r.groups, rude, "it was asked and goes on")
}

// Processes that the leader leaves behind are still in the group. Only Kill ends them reliably.
func TestProcessesLeftInTheGroup(t *testing.T) {
	leak.Check(t)
	r := &registry{groups: map[*Group]chan struct{}{}}
	cmd, g, pids := begin(t, r, "leaver")
	require.Error(t, cmd.Wait())
	assert.Equal(t, 7, cmd.ProcessState.ExitCode())
	if g.Reaped() {
		g.Kill()
	}
	assert.True(t, g.Vanishes(time.Now().Add(time.Minute)))
	assert.Len(t, pids, 2)
	requireGone(t, pids)
	assert.False(t, g.Reaped())
	g.Kill() // has no effect
	g.release()
	g.Kill()
}

// The tests use a registry of their own, because the real one can be ended only once in a program.

func TestEndAll(t *testing.T) {
	leak.Check(t)
	r := &registry{groups: map[*Group]chan struct{}{}}
	var pids []int
	for _, name := range []string{"polite", "rude", "leaver", "family"} {
		_, of := run(t, r, name)
		pids = append(pids, of...)
	}
	r.endAll(300*time.Millisecond, nil)
	assert.Len(t, pids, 7)
	requireGone(t, pids)
	assert.Empty(t, r.groups)
	_, err := r.start(command("polite"))
	assert.ErrorIs(t, err, ErrEnding)
}

func TestEndAllInAHurry(t *testing.T) {
	leak.Check(t)
	r := &registry{groups: map[*Group]chan struct{}{}}
	_, pids := run(t, r, "rude")
	hurry := make(chan struct{})
	close(hurry)
	began := time.Now()
	r.endAll(time.Hour, hurry)
	assert.Less(t, time.Since(began), time.Minute)
	requireGone(t, pids)
}
