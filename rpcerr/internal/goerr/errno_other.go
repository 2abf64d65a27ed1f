//go:build !windows

package goerr

import (
	"syscall"

	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// systemErrnos is empty where the numbers have the names of POSIX; see posix.
var systemErrnos map[syscall.Errno]kind.Kind

// errnoWords are the words of numbers that say more than their kind.
var errnoWords = map[syscall.Errno]string{
	syscall.EISDIR:  notAFile,
	syscall.ENOTDIR: notAFile,
	syscall.EFBIG:   tooLarge,
}
