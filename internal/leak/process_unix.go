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

// processState returns the letter that the system uses for the state of a process, such as T for
// stopped and Z for a process that has ended and was not waited for. It is empty if there is no
// such process.
func processState(t testing.TB, pid int) string {
	t.Helper()
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return ""
	}
	// The line is "pid (name) state ...", and the name may contain any character.
	if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
		return string(bytes.TrimSpace(stat[bytes.LastIndexByte(stat, ')')+1:])[:1])
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return "" // it has just ended
	}
	if err != nil || len(out) == 0 {
		t.Fatalf("asking for the state of process %d: %v", pid, err)
	}
	return string(out[:1])
}

// CheckProcess fails the test if the process still runs. A process that has ended and was not
// waited for does not count.
func CheckProcess(t testing.TB, pid int) {
	t.Helper()
	if state := processState(t, pid); state != "" && state != "Z" && state != "X" {
		t.Errorf("process %d is still there: %s", pid, state)
	}
}
