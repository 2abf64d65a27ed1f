package wine

import "syscall"

func init() {
	// The ntdll.dll of wine has a function that says so.
	running = func() bool {
		return syscall.NewLazyDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
	}
}
