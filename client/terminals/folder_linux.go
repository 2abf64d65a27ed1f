package terminals

import (
	"fmt"
	"os"
	"os/exec"
)

// inFolder starts a command in an open folder, even if another one has its name by then.
func inFolder(cmd *exec.Cmd, folder *os.File, _ string, start func() error) error {
	conn, err := folder.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		cmd.Dir = fmt.Sprintf("/proc/self/fd/%d", fd) // the child resolves it before it runs the program
		failed = start()
	})
	if err != nil {
		return err
	}
	return failed
}
