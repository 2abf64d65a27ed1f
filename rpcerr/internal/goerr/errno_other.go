//go:build !windows

package goerr

import (
	"syscall"

	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// system returns no kinds, because the error numbers of this system have the names of POSIX.
func system(syscall.Errno) kind.Kind { return "" }

// errnoWords has the codes of error numbers that are more specific than their kind.
var errnoWords = map[syscall.Errno]string{syscall.EISDIR: "not_a_file", syscall.ENOTDIR: "not_a_file", syscall.EFBIG: "too_large"}
