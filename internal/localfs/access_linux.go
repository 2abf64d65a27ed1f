package localfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"unsafe"

	"github.com/acpkit/go-sdk/internal/filename"
)

// aclAttribute is the extended attribute of the POSIX ACL of a file. The bits of the mode that are for the
// group are then the mask of the ACL, and grant less than they say.
const aclAttribute = "system.posix_acl_access"

// longestACL is the maximum size of an extended attribute.
const longestACL = 64 << 10

// copyACL gives the ACL of a file to another one, or takes away the ACL that the other one has from its folder. It
// reports whether both are now the same.
func copyACL(to, from *os.File) bool {
	if from == nil {
		return false
	}
	acl := make([]byte, longestACL)
	n, err := attribute(syscall.SYS_FGETXATTR, from, acl)
	switch {
	case err == nil:
		_, err = attribute(syscall.SYS_FSETXATTR, to, acl[:n])
		return err == nil
	case errors.Is(err, syscall.ENODATA), errors.Is(err, syscall.EOPNOTSUPP):
		_, err = attribute(syscall.SYS_FREMOVEXATTR, to, nil)
		return err == nil || errors.Is(err, syscall.ENODATA) || errors.Is(err, syscall.EOPNOTSUPP)
	}
	return false
}

// attribute reads, sets or removes the ACL of a file.
func attribute(call uintptr, f *os.File, value []byte) (int, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	name, err := syscall.BytePtrFromString(aclAttribute)
	if err != nil {
		return 0, err
	}
	var n uintptr
	var errno syscall.Errno
	err = conn.Control(func(fd uintptr) {
		n, _, errno = syscall.Syscall6(call, fd, uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(unsafe.SliceData(value))), uintptr(len(value)), 0, 0)
	})
	if err == nil && errno != 0 {
		err = errno
	}
	return int(n), err
}

// isAt reports whether the file, which was opened by this name, had it at the time of the call. The name that the
// kernel keeps for an open file does not come back after it was removed, so that this is exact where /proc is mounted.
func isAt(dir *os.Root, f *os.File, name string) bool {
	// The kernel counts the names of a file down before it forgets the name, both under the lock of the folder. This
	// changes nothing, and waits for the lock.
	_ = dir.Rename(name, name)
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	at, failed := "", error(nil)
	if err := conn.Control(func(fd uintptr) { at, failed = os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd))) }); err != nil {
		return false
	}
	if failed != nil {
		return errors.Is(failed, fs.ErrNotExist) // there is no /proc
	}
	return filename.Fold(filepath.Base(at)) == filename.Fold(name)
}
