package envelope

import "syscall"

// notAFile are the errors for a path of the wrong type. ENOTDIR is not among them: it is
// the number of ERROR_PATH_NOT_FOUND, which also stands for a missing folder.
var notAFile = []error{
	syscall.EISDIR,
	syscall.Errno(1),   // ERROR_INVALID_FUNCTION, of reading a folder
	syscall.Errno(267), // ERROR_DIRECTORY
}

// badPath are the errors for a path that no file can have.
var badPath = []error{
	syscall.EINVAL,
	syscall.Errno(87),  // ERROR_INVALID_PARAMETER
	syscall.Errno(123), // ERROR_INVALID_NAME
	syscall.Errno(206), // ERROR_FILENAME_EXCED_RANGE
}
