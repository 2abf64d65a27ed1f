//go:build unix

package terminals

import (
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/acpkit/go-sdk/acp"
)

func systemShell() []string { return []string{"/bin/sh", "-c"} }

func newCmd(c *Command) *exec.Cmd { return &exec.Cmd{Path: c.Path, Args: c.argv} }

func extensions(string) []string { return []string{""} }

func executable(info fs.FileInfo, err error) bool {
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
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
