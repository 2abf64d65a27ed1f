// Package command runs commands on this machine: it finds the program, makes its environment, and
// starts it in a process group in an open folder.
package command

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// KillPatience is how long to wait for the end of a command after it was killed.
const KillPatience = 5 * time.Second

// ShellCharactersOfWindows are the ShellCharacters of Windows. Backslashes are missing because paths have
// them, and so is the tilde because short names have it.
const ShellCharactersOfWindows = " \t\r\n|&;<>()^$`\"'*?[]{}#!=%"

// The errors of LookUp. Their texts are sent to peers.
var (
	ErrNotFound = errors.New("command not found")
	ErrInvalid  = errors.New("not a valid command")
)

// Command is a command that can be started.
type Command struct {
	Path string   // the program, from LookUp
	Args []string // with the name of the program; those of the shell for a line
	Line string   // what the shell reads, if Args are those of a shell
	Cwd  string   // the folder, without symlinks
	Env  []string // the whole environment, as "NAME=value"
}

// LookUp finds a program in the folders of a PATH. A name with a separator is a path relative to
// the folder of the command, which is dir and has the path cwd.
func LookUp(name, path string, dir *os.Root, cwd string) (string, error) {
	if !literal(name) {
		return "", ErrInvalid
	}
	if strings.ContainsFunc(name, isSeparator) {
		if file, ok := lookUpPath(name, dir, cwd); ok {
			return file, nil
		}
		return "", ErrNotFound
	}
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			continue // a relative folder would depend on the folder of the command
		}
		if file, ok := withExtension(filepath.Join(folder, name)); ok {
			return file, nil
		}
	}
	return "", ErrNotFound
}

func isSeparator(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }

// Within reports whether done is closed within d.
func Within(d time.Duration, done <-chan struct{}) bool {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-done:
			return true
		case <-timer.C:
			return false
		}
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}
