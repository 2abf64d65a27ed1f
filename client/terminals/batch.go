//go:build !unix

package terminals

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// isBatch reports whether a program is a batch file. The system runs it with cmd.exe, which could
// run parts of its arguments as commands.
func isBatch(path string) bool {
	extension := strings.ToLower(filepath.Ext(path))
	return extension == ".bat" || extension == ".cmd"
}

// checkArguments returns an error for arguments that the program would not receive unchanged. The
// arguments of a batch file are quoted, but cmd.exe replaces variables even between quotes, and
// programs disagree on how to write a quote between quotes.
func (c *Command) checkArguments() error {
	bad := func(arg string) bool { return strings.ContainsAny(arg, "\"%\r\n") }
	if isBatch(c.Path) && (bad(c.Path) || slices.ContainsFunc(c.argv[1:], bad)) {
		return &Error{What: c.Argv[0] + ": a batch file takes no arguments with quotes, percent signs or line breaks", Err: ErrCommand}
	}
	return nil
}

// setBatch makes cmd run a batch file. Options.Shell is not used for it.
func setBatch(cmd *exec.Cmd, c *Command) {
	var line strings.Builder
	line.WriteString(`cmd.exe /e:on /v:off /d /s /c "`)
	line.WriteString(quoted(filepath.FromSlash(c.Path)))
	for _, arg := range c.argv[1:] {
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
