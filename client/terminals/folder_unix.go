//go:build unix && !linux

package terminals

import (
	"os"
	"os/exec"
)

// inFolder starts a command in a folder, by its name. It fails if another folder has the name. It
// does not notice a folder that takes the name between the check and the start.
func inFolder(cmd *exec.Cmd, folder *os.File, path string, start func() error) error {
	want, err := folder.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(want, now) {
		return os.ErrNotExist
	}
	cmd.Dir = path
	return start()
}
