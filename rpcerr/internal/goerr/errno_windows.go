package goerr

import (
	"syscall"

	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// system knows the numbers that Windows returns: the constants with the names of POSIX are
// mostly inventions of package syscall there. ENOTDIR is the number of
// ERROR_PATH_NOT_FOUND, which also stands for a missing folder.
func system(n syscall.Errno) kind.Kind {
	switch n {
	case syscall.ERROR_PATH_NOT_FOUND:
		return kind.NotFound
	case 1, // ERROR_INVALID_FUNCTION, of reading a folder
		87,  // ERROR_INVALID_PARAMETER
		123, // ERROR_INVALID_NAME
		206, // ERROR_FILENAME_EXCED_RANGE
		223, // ERROR_FILE_TOO_LARGE
		267: // ERROR_DIRECTORY
		return kind.Validation
	case 19, // ERROR_WRITE_PROTECT
		1314: // ERROR_PRIVILEGE_NOT_HELD
		return kind.Forbidden
	case 32, 33, // ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION
		10048: // WSAEADDRINUSE
		return kind.Conflict
	case 121, 258, // ERROR_SEM_TIMEOUT, WAIT_TIMEOUT
		10060: // WSAETIMEDOUT
		return kind.Timeout
	case 4, 8, 14, // ERROR_TOO_MANY_OPEN_FILES, ERROR_NOT_ENOUGH_MEMORY, ERROR_OUTOFMEMORY
		39, 112, // ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL
		109, 232, // ERROR_BROKEN_PIPE, ERROR_NO_DATA of a closed pipe
		10050, 10051, 10053, 10054, 10061, 10065: // WSAENETDOWN, ENETUNREACH, ECONNABORTED, ECONNRESET, ECONNREFUSED, EHOSTUNREACH
		return kind.ServiceUnavailable
	}
	return ""
}

// errnoWords has the codes of error numbers that are more specific than their kind.
var errnoWords = map[syscall.Errno]string{
	syscall.EISDIR: "not_a_file", 1: "not_a_file", 267: "not_a_file",
	syscall.EFBIG: "too_large", 223: "too_large",
}
