//go:build linux || darwin

package localfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// doNotBlock makes opening a FIFO return at once.
const doNotBlock = syscall.O_NONBLOCK

func deviceOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}

func linksOf(_ *os.File, info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// keepOwner gives f the owner and the group of the file that it replaces, as far as the system permits it, and
// returns which of them it has.
func keepOwner(f *os.File, info fs.FileInfo) (owner, group bool) {
	now, err := f.Stat()
	if err != nil {
		return false, false
	}
	old, ok1 := info.Sys().(*syscall.Stat_t)
	mine, ok2 := now.Sys().(*syscall.Stat_t)
	if !ok1 || !ok2 {
		return false, false
	}
	owner, group = mine.Uid == old.Uid, mine.Gid == old.Gid
	if !owner || !group {
		if f.Chown(int(old.Uid), int(old.Gid)) == nil {
			return true, true
		}
		group = group || f.Chown(-1, int(old.Gid)) == nil
	}
	return owner, group
}

func isTextBusy(err error) bool { return errors.Is(err, syscall.ETXTBSY) }

// refusePseudo returns an error for a folder of a file system that the kernel generates.
func refusePseudo(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return refusePseudoFile(f)
}

func refusePseudoFile(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var st syscall.Statfs_t
	var failed error
	if err := conn.Control(func(fd uintptr) { failed = syscall.Fstatfs(int(fd), &st) }); err != nil {
		return err
	}
	if failed != nil {
		return os.NewSyscallError("fstatfs", failed)
	}
	if isPseudo(&st) {
		return ErrNotFile
	}
	return nil
}
