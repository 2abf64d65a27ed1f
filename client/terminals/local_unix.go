//go:build unix

package terminals

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/acpkit/go-sdk/acp"
)

// A command without arguments that contains one of shellCharacters is a line for the shell.
const shellCharacters = " \t\r\n|&;<>()$`\\\"'*?[]{}#~!=%"

func systemShell() []string { return []string{"/bin/sh", "-c"} }

func newCmd(c *Command) *exec.Cmd { return &exec.Cmd{Path: c.Path, Args: c.argv} }

// literal reports whether the system takes the name of a program as it is.
func literal(string) bool { return true }

// checkArguments looks for arguments that the program would not get as they are.
func (*Command) checkArguments() error { return nil }

func lookUpPath(name string, dir *os.Root, _ string) (string, bool) {
	if filepath.IsAbs(name) {
		return withExtension(name)
	}
	_, err := dir.Lstat(name)
	return name, err == nil || !os.IsNotExist(err) // the system looks whether it can be run
}

// withExtension returns the path of a program; extensions are a matter of other systems.
func withExtension(path string) (string, bool) {
	info, err := os.Stat(path)
	return path, err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func exitStatus(state *os.ProcessState) acp.TerminalExitStatus {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return acp.TerminalExitStatus{Signal: signalName(status.Signal())}
	}
	return acp.TerminalExitStatus{ExitCode: new(uint32(state.ExitCode()))}
}

func signalName(sig syscall.Signal) string {
	if name := signals[sig]; name != "" {
		return name
	}
	return "SIG" + strconv.Itoa(int(sig))
}

var signals = map[syscall.Signal]string{
	syscall.SIGHUP: "SIGHUP", syscall.SIGINT: "SIGINT", syscall.SIGQUIT: "SIGQUIT", syscall.SIGILL: "SIGILL",
	syscall.SIGTRAP: "SIGTRAP", syscall.SIGABRT: "SIGABRT", syscall.SIGBUS: "SIGBUS", syscall.SIGFPE: "SIGFPE",
	syscall.SIGKILL: "SIGKILL", syscall.SIGSEGV: "SIGSEGV", syscall.SIGPIPE: "SIGPIPE", syscall.SIGALRM: "SIGALRM",
	syscall.SIGTERM: "SIGTERM", syscall.SIGUSR1: "SIGUSR1", syscall.SIGUSR2: "SIGUSR2", syscall.SIGXCPU: "SIGXCPU",
	syscall.SIGXFSZ: "SIGXFSZ", syscall.SIGSYS: "SIGSYS", syscall.SIGVTALRM: "SIGVTALRM", syscall.SIGPROF: "SIGPROF",
}
