package leak

import (
	"errors"
	"syscall"
	"testing"
)

// invalidParameter is what OpenProcess returns if no process has the id.
const invalidParameter = syscall.Errno(87)

// CheckProcess fails the test if the process still runs.
func CheckProcess(t testing.TB, pid int) {
	t.Helper()
	handle, err := syscall.OpenProcess(syscall.SYNCHRONIZE, false, uint32(pid))
	if errors.Is(err, invalidParameter) {
		return
	}
	if err != nil {
		t.Fatalf("looking for process %d: %v", pid, err)
	}
	defer syscall.CloseHandle(handle)
	// The id stays in use while something holds a handle of the process that has ended.
	switch event, err := syscall.WaitForSingleObject(handle, 0); event {
	case syscall.WAIT_OBJECT_0:
	case syscall.WAIT_TIMEOUT:
		t.Errorf("process %d is still there", pid)
	default:
		t.Fatalf("asking for the state of process %d: %v", pid, err)
	}
}
