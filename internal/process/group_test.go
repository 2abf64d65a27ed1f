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
	gone(t, pids)
}

func TestTerminate(t *testing.T) {
	wine.Lacks(t, "GenerateConsoleCtrlEvent for a process group")
	leak.Check(t)
	needConsole(t)
	r := &registry{groups: map[*Group]chan struct{}{}}
	rude, _ := run(t, r, "rude")
	polite, pids := run(t, r, "polite")
	closed := r.groups[polite]
	rude.Terminate()
	polite.Terminate()
	<-closed
	gone(t, pids)
	assert.Contains(t, r.groups, rude, "it was asked and goes on")
}

// Processes that the leader leaves behind are still in the group. Only Kill ends them reliably.
func TestTheRestOfTheGroup(t *testing.T) {
	leak.Check(t)
	r := &registry{groups: map[*Group]chan struct{}{}}
	cmd := command("leaver")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	g, err := r.start(cmd)
	require.NoError(t, err)
	pids := readPIDs(t, out, cmd.Process.Pid)
	require.Error(t, cmd.Wait())
	assert.Equal(t, 7, cmd.ProcessState.ExitCode())
	if g.Reaped() {
		g.Kill()
	}
	assert.True(t, g.Vanishes(time.Now().Add(time.Minute)))
	assert.Len(t, pids, 2)
	gone(t, pids)
	assert.False(t, g.Reaped())
	g.Kill() // has no effect
	g.release()
	g.Kill()
}
