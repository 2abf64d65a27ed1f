//go:build unix

package leak

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

// ProcessState returns the letter by which the system says what a process does, such
// as T for one that was stopped and Z for one that has ended and waits to be asked for
// its status; it is empty when there is none.
func ProcessState(t testing.TB, pid int) string {
	t.Helper()
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return ""
	}
	// "pid (name) state ...", and the name may hold anything.
	if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
		return string(bytes.TrimSpace(stat[bytes.LastIndexByte(stat, ')')+1:])[:1])
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return "" // it ended just now
	}
	if err != nil || len(out) == 0 {
		t.Fatalf("asking for the state of process %d: %v", pid, err)
	}
	return string(out[:1])
}

// CheckProcess fails the test when the process is still there; one that only waits to
// be asked for its status is not.
func CheckProcess(t testing.TB, pid int) {
	t.Helper()
	if state := ProcessState(t, pid); state != "" && state != "Z" && state != "X" {
		t.Errorf("process %d is still there: %s", pid, state)
	}
}
