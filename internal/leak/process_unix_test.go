//go:build unix

package leak_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
)

func TestProcessState(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	require.NoError(t, cmd.Start())
	assert.Contains(t, []string{"S", "R", "D"}, leak.ProcessState(t, cmd.Process.Pid))
	failed := &stateRecorder{TB: t}
	leak.CheckProcess(failed, cmd.Process.Pid)
	assert.True(t, failed.failed, "a process that runs is found")

	require.NoError(t, cmd.Process.Kill())
	assert.Error(t, cmd.Wait())
	assert.Empty(t, leak.ProcessState(t, cmd.Process.Pid))
	leak.CheckProcess(t, cmd.Process.Pid)
}
