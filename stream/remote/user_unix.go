//go:build !windows

package remote

import (
	"os"
	"path/filepath"
	"syscall"
)

// isPrivate reports whether nobody but the user may enter a folder, or put another one in its place.
func isPrivate(dir string) bool {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return false
	}
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return false
		}
		status, ok := info.Sys().(*syscall.Stat_t)
		mine := ok && int(status.Uid) == os.Geteuid()
		if at == dir && (!mine || info.Mode().Perm()&0o077 != 0) {
			return false
		}
		if !mine && (!ok || status.Uid != 0) || info.Mode().Perm()&0o022 != 0 && info.Mode()&os.ModeSticky == 0 {
			return false
		}
		if at == filepath.Dir(at) {
			return true
		}
	}
}

// isTerminal reports whether what is written to a file is shown and not stored: it is a character
// device, and not the one that discards all.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && !os.SameFile(info, null)
}
