//go:build unix

package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"github.com/acpkit/go-sdk/acp"
)

// A command without arguments that contains one of ShellCharacters is a line for the shell.
const ShellCharacters = " \t\r\n|&;<>()$`\\\"'*?[]{}#~!=%"

// SystemShell returns the shell of the system and the arguments before a line.
func SystemShell() []string { return []string{"/bin/sh", "-c"} }

func newCmd(c *Command) *exec.Cmd { return &exec.Cmd{Path: c.Path, Args: c.Args} }

func literal(string) bool { return true }

// CheckArguments returns an error for arguments that the program would not receive unchanged.
func (*Command) CheckArguments() error { return nil }

func lookUpPath(name string, dir *os.Root, _ string) (string, bool) {
	if filepath.IsAbs(name) {
		return withExtension(name)
	}
	_, err := dir.Lstat(name)
	return name, err == nil || !os.IsNotExist(err) // the system looks whether it can be run
}

// withExtension returns the path if it is a program. Extensions matter only on other systems.
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

// inFolder starts a command in an open folder. On Linux it does so even if another folder has the
// name by then. Elsewhere it fails in that case, but it does not notice a folder that takes the name
// between the check and the start.
func inFolder(cmd *exec.Cmd, folder *os.File, path string, start func() error) error {
	if runtime.GOOS != "linux" {
		want, err := folder.Stat()
		if err != nil {
			return err
		}
		if now, err := os.Stat(path); err != nil || !os.SameFile(want, now) {
			return os.ErrNotExist
		}
		cmd.Dir = path
		return start()
	}
	conn, err := folder.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		cmd.Dir = fmt.Sprintf("/proc/self/fd/%d", fd) // the child resolves it before it runs the program
		failed = start()
	})
	if err != nil {
		return err
	}
	return failed
}
