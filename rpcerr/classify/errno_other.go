//go:build !windows

package classify

import (
	"syscall"

	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// systemErrnos is empty where the numbers have the names of POSIX; see errnos.
var systemErrnos map[syscall.Errno]kind.Kind
