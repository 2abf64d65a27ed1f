//go:build !unix

package command

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
)

// A command without arguments that contains one of ShellCharacters is a line for the shell.
const ShellCharacters = ShellCharactersOfWindows

// SystemShell returns the shell of the system. It has no arguments, because newCmd makes the whole line for cmd.exe.
func SystemShell() []string { return []string{"cmd.exe"} }

func newCmd(c *Command) *exec.Cmd {
	cmd := &exec.Cmd{Path: c.Path, Args: c.Args}
	switch {
	case c.Line != "" && strings.EqualFold(filepath.Base(c.Path), "cmd.exe"):
		setLine(cmd, `cmd.exe /d /s /c "`+c.Line+`"`)
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

func inFolder(cmd *exec.Cmd, _ *os.File, path string, start func() error) error {
	cmd.Dir = path
	return start()
}

// isBatch reports whether a program is a batch file. The system runs it with cmd.exe, which could
// run parts of its arguments as commands.
func isBatch(path string) bool {
	extension := strings.ToLower(filepath.Ext(path))
	return extension == ".bat" || extension == ".cmd"
}

// CheckArguments returns an error for arguments that the program would not receive unchanged. The
// arguments of a batch file are quoted, but cmd.exe replaces variables even between quotes, and
// programs disagree on how to write a quote between quotes.
func (c *Command) CheckArguments() error {
	bad := func(arg string) bool { return strings.ContainsAny(arg, "\"%\r\n") }
	if isBatch(c.Path) && (bad(c.Path) || slices.ContainsFunc(c.Args[1:], bad)) {
		return errors.New("a batch file takes no arguments with quotes, percent signs or line breaks")
	}
	return nil
}

// setBatch makes cmd run a batch file. The shell of a line is not used for it.
func setBatch(cmd *exec.Cmd, c *Command) {
	var line strings.Builder
	line.WriteString(`cmd.exe /e:on /v:off /d /s /c "`)
	line.WriteString(quoted(filepath.FromSlash(c.Path)))
	for _, arg := range c.Args[1:] {
		line.WriteByte(' ')
		line.WriteString(quoted(arg))
	}
	line.WriteByte('"')
	cmd.Path = filepath.Join(os.Getenv("SystemRoot"), "System32", "cmd.exe")
	setLine(cmd, line.String())
}

// quoted puts an argument between quotes. Backslashes at its end are doubled, because a program
// reads a backslash before a quote as an escape.
func quoted(arg string) string {
	end := arg[len(strings.TrimRight(arg, `\`)):]
	return `"` + arg + end + `"`
}
