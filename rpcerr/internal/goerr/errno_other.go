//go:build !windows

package goerr

import (
	"syscall"

	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// system knows no numbers where they have the names of POSIX.
func system(syscall.Errno) kind.Kind { return "" }

// errnoWords are the words of numbers that say more than their kind.
var errnoWords = map[syscall.Errno]string{syscall.EISDIR: "not_a_file", syscall.ENOTDIR: "not_a_file", syscall.EFBIG: "too_large"}
