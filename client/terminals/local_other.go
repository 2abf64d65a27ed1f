//go:build !unix

package terminals

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
)

// A command without arguments that contains one of shellCharacters is a line for the shell.
// Backslashes are missing because paths have them, and so is the tilde because short names have it.
const shellCharacters = " \t\r\n|&;<>()^$`\"'*?[]{}#!=%"

// systemShell has no arguments: newCmd makes the line for cmd.exe, which has quoting of
// its own.
func systemShell() []string { return []string{"cmd.exe"} }

func newCmd(c *Command) *exec.Cmd {
	cmd := &exec.Cmd{Path: c.Path, Args: c.argv}
	switch {
	case c.Shell && strings.EqualFold(filepath.Base(c.Path), "cmd.exe"):
		setLine(cmd, `cmd.exe /d /s /c "`+c.Argv[0]+`"`)
	case isBatch(c.Path):
		setBatch(cmd, c)
	}
	return cmd
}

// literal reports whether the system takes the name of a program as it is. It does not
// if the name is relative to the folder of a drive or to the drive, is that of a stream,
// or has characters that no name has.
func literal(name string) bool {
	rest := name[len(filepath.VolumeName(name)):]
	if !filepath.IsAbs(name) && (rest != name || strings.IndexFunc(name, isSeparator) == 0) {
		return false
	}
	return !strings.ContainsAny(rest, `<>:"|?*`) && !strings.ContainsFunc(rest, func(r rune) bool { return r < ' ' })
}

func lookUpPath(name string, _ *os.Root, cwd string) (string, bool) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(cwd, name)
	}
	return withExtension(name)
}

// withExtension returns the path of a program. It may lack an extension, as for a shell.
// The result has one, so that the system does not look for another program.
func withExtension(path string) (string, bool) {
	all := extensions()
	if own := strings.ToLower(filepath.Ext(path)); slices.Contains(all, own) {
		all = append([]string{""}, all...)
	}
	for _, extension := range all {
		if info, err := os.Stat(path + extension); err == nil && info.Mode().IsRegular() {
			return path + extension, true
		}
	}
	return "", false
}

// extensions are those that make a file a program, in the order in which they are tried.
func extensions() []string {
	var all []string
	for extension := range strings.SplitSeq(strings.ToLower(os.Getenv("PATHEXT")), ";") {
		if strings.HasPrefix(extension, ".") {
			all = append(all, extension)
		}
	}
	if len(all) == 0 {
		return []string{".com", ".exe", ".bat", ".cmd"}
	}
	return all
}

func exitStatus(state *os.ProcessState) acp.TerminalExitStatus {
	return acp.TerminalExitStatus{ExitCode: new(uint32(state.ExitCode()))}
}

// inFolder starts a command in a folder, by its name.
func inFolder(cmd *exec.Cmd, _ *os.File, path string, start func() error) error {
	cmd.Dir = path
	return start()
}
