package goerr

import (
	"syscall"

	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// systemErrnos has the numbers that Windows returns: the constants with the
// names of POSIX are mostly inventions of package syscall there. ENOTDIR is the number
// of ERROR_PATH_NOT_FOUND, which also stands for a missing folder.
var systemErrnos = map[syscall.Errno]kind.Kind{
	syscall.ERROR_PATH_NOT_FOUND: kind.NotFound,
	1:                            kind.Validation, // ERROR_INVALID_FUNCTION, of reading a folder
	87:                           kind.Validation, // ERROR_INVALID_PARAMETER
	123:                          kind.Validation, // ERROR_INVALID_NAME
	206:                          kind.Validation, // ERROR_FILENAME_EXCED_RANGE
	223:                          kind.Validation, // ERROR_FILE_TOO_LARGE
	267:                          kind.Validation, // ERROR_DIRECTORY

	19:   kind.Forbidden, // ERROR_WRITE_PROTECT
	1314: kind.Forbidden, // ERROR_PRIVILEGE_NOT_HELD

	32:    kind.Conflict, // ERROR_SHARING_VIOLATION
	33:    kind.Conflict, // ERROR_LOCK_VIOLATION
	10048: kind.Conflict, // WSAEADDRINUSE

	121:   kind.Timeout, // ERROR_SEM_TIMEOUT
	258:   kind.Timeout, // WAIT_TIMEOUT
	10060: kind.Timeout, // WSAETIMEDOUT

	4:     kind.ServiceUnavailable, // ERROR_TOO_MANY_OPEN_FILES
	8:     kind.ServiceUnavailable, // ERROR_NOT_ENOUGH_MEMORY
	14:    kind.ServiceUnavailable, // ERROR_OUTOFMEMORY
	39:    kind.ServiceUnavailable, // ERROR_HANDLE_DISK_FULL
	112:   kind.ServiceUnavailable, // ERROR_DISK_FULL
	109:   kind.ServiceUnavailable, // ERROR_BROKEN_PIPE
	232:   kind.ServiceUnavailable, // ERROR_NO_DATA, of a closed pipe
	10050: kind.ServiceUnavailable, // WSAENETDOWN
	10051: kind.ServiceUnavailable, // WSAENETUNREACH
	10053: kind.ServiceUnavailable, // WSAECONNABORTED
	10054: kind.ServiceUnavailable, // WSAECONNRESET
	10061: kind.ServiceUnavailable, // WSAECONNREFUSED
	10065: kind.ServiceUnavailable, // WSAEHOSTUNREACH
}

// errnoWords are the words of numbers that say more than their kind.
var errnoWords = map[syscall.Errno]string{
	syscall.EISDIR: notAFile,
	1:              notAFile,
	267:            notAFile,
	syscall.EFBIG:  tooLarge,
	223:            tooLarge,
}
