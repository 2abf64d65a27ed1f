//go:build !unix

package terminals

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/acpkit/go-sdk/acp"
)

// systemShell is nil: newCmd makes the line for cmd.exe, which has quoting of its own.
func systemShell() []string { return []string{"cmd.exe"} }

func newCmd(c *Command) *exec.Cmd {
	cmd := &exec.Cmd{Path: c.Path, Args: c.argv}
	if name := strings.ToLower(filepath.Base(c.Path)); c.Shell && name == "cmd.exe" {
		setLine(cmd, `cmd.exe /d /s /c "`+c.Argv[0]+`"`)
	}
	return cmd
}

// extensions are those that make a file a program, in the order in which they are tried.
func extensions(name string) []string {
	all := filepath.SplitList(os.Getenv("PATHEXT"))
	if len(all) == 0 {
		all = []string{".com", ".exe", ".bat", ".cmd"}
	}
	if filepath.Ext(name) != "" {
		return append([]string{""}, all...)
	}
	return all
}

func executable(info fs.FileInfo, err error) bool { return err == nil && info.Mode().IsRegular() }

func exitStatus(state *os.ProcessState) acp.TerminalExitStatus {
	return acp.TerminalExitStatus{ExitCode: new(uint32(state.ExitCode()))}
}

// inFolder starts a command in a folder, by its name.
func inFolder(cmd *exec.Cmd, _ *os.File, path string, start func() error) error {
	cmd.Dir = path
	return start()
}
