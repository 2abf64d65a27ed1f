//go:build !windows

package envelope

import "syscall"

// notAFile are the errors for a path of the wrong type.
var notAFile = []error{syscall.EISDIR, syscall.ENOTDIR}

// badPath are the errors for a path that no file can have.
var badPath = []error{syscall.ENAMETOOLONG, syscall.ELOOP, syscall.EINVAL}
