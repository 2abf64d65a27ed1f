package wine

import "syscall"

// running reports whether this is wine, whose ntdll.dll has a function that says so.
func running() bool {
	return syscall.NewLazyDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}
