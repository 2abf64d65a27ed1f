package terminals

import (
	"fmt"
	"os"
	"os/exec"
)

// inFolder starts a command in a folder that is open, whatever has its name by now.
func inFolder(cmd *exec.Cmd, folder *os.File, _ string, start func() error) error {
	conn, err := folder.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		cmd.Dir = fmt.Sprintf("/proc/self/fd/%d", fd) // of the child, before it runs the program
		failed = start()
	})
	if err != nil {
		return err
	}
	return failed
}
