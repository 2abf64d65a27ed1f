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

// keepOwner gives f the owner of the file that it replaces, if the system permits it.
func keepOwner(f *os.File, info fs.FileInfo) {
	st, ok := info.Sys().(*syscall.Stat_t)
	now, err := f.Stat()
	if !ok || err != nil {
		return
	}
	mine, ok := now.Sys().(*syscall.Stat_t)
	if ok && (mine.Uid != st.Uid || mine.Gid != st.Gid) {
		_ = f.Chown(int(st.Uid), int(st.Gid))
	}
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
