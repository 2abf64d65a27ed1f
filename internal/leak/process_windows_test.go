package leak_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
)

func TestCheckProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playEnv+"=1")
	require.NoError(t, cmd.Start())
	failed := &stateRecorder{TB: t}
	leak.CheckProcess(failed, cmd.Process.Pid)
	assert.True(t, failed.failed, "a process that runs is found")

	require.NoError(t, cmd.Process.Kill())
	_, err := cmd.Process.Wait() // has ended, but the id may stay in use
	require.NoError(t, err)
	leak.CheckProcess(t, cmd.Process.Pid)
}
