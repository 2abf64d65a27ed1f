package process

import (
	"fmt"
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func init() {
	plays["owner"] = owner
	plays["in a job?"] = inJob
	_, _, _ = kernel32.NewProc("AllocConsole").Call() // events need a console; fails if there is one
}

// owner starts a group and waits until it is killed.
func owner() error {
	cmd := command("family")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if _, err := Start(cmd); err != nil {
		return err
	}
	if err := passOn(out, cmd.Process.Pid); err != nil {
		return err
	}
	return ready()
}

// inJob reports whether this process is in a job object, as early as possible.
func inJob() error {
	var in int32
	self, _, _ := kernel32.NewProc("GetCurrentProcess").Call()
	ok, _, err := kernel32.NewProc("IsProcessInJob").Call(self, 0, uintptr(unsafe.Pointer(&in)))
	if ok == 0 {
		return err
	}
	fmt.Println(in != 0)
	os.Exit(0)
	return nil
}

// The system ends the group when this program dies.
func TestTheGroupEndsWithItsOwner(t *testing.T) {
	cmd := command("owner")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	pids := readPIDs(t, out, cmd.Process.Pid)
	assert.Len(t, pids, 4)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	requireGone(t, pids)
}

// A process is in the group before it runs, so that everything it starts is in the group too.
func TestInTheGroupFromTheStart(t *testing.T) {
	for range 20 {
		cmd := command("in a job?")
		out, err := os.CreateTemp(t.TempDir(), "")
		require.NoError(t, err)
		cmd.Stdout = out
		g, err := Start(cmd)
		require.NoError(t, err)
		require.NoError(t, cmd.Wait())
		g.Reaped()
		g.Close()
		said, err := os.ReadFile(out.Name())
		require.NoError(t, err)
		out.Close()
		assert.Equal(t, "true\n", string(said))
	}
}
