package permission

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// runners are programs that run what stands in their arguments or their input. The first
// word of such a command says nothing of what it does.
var runners = []string{
	"sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "csh", "tcsh", "ash", "busybox", "nu", "elvish", "xonsh",
	"cmd", "powershell", "pwsh", "wsl", "env", "exec", "eval", "command", "builtin", "xargs", "parallel", "find", "nohup", "setsid", "nice", "ionice",
	"time", "timeout", "stdbuf", "script", "watch", "strace", "ltrace", "sudo", "doas", "su", "runuser", "pkexec",
	"chroot", "unshare", "nsenter", "flock", "start", "call", "forfiles", "rundll32", "wscript", "cscript", "mshta",
}

// program returns the name of a program without its folder and extension.
func program(word string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/")))
	for _, ext := range []string{".exe", ".com", ".bat", ".cmd"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// runsArguments reports whether the program runs its arguments. A batch file does: its
// arguments go through a shell.
func runsArguments(word string) bool {
	lower := strings.ToLower(word)
	return slices.Contains(runners, program(word)) || strings.HasSuffix(lower, ".bat") || strings.HasSuffix(lower, ".cmd")
}

// beginsWith reports whether the command, or any command that may be in a shell line or
// in the arguments of a runner, begins with the words of the pattern.
func beginsWith(pattern []string, o *Operation) bool {
	if len(pattern) > 1 && pattern[len(pattern)-1] == "*" {
		pattern = pattern[:len(pattern)-1]
	}
	if len(o.Argv) == 0 {
		return false
	}
	words := o.Argv
	anywhere := o.Shell || runsArguments(o.Argv[0])
	if anywhere {
		words = nil
		for _, arg := range o.Argv {
			words = append(words, strings.FieldsFunc(arg, separates)...)
		}
	}
	for i := range words {
		if i > 0 && !anywhere {
			break
		}
		if len(words)-i >= len(pattern) && slices.EqualFunc(pattern, words[i:i+len(pattern)], sameWord) {
			return true
		}
	}
	return false
}

// separates reports whether a shell may end a word there.
func separates(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("'\"`;&|()<>{}$=\\,", r)
}

// sameWord compares a word of a pattern with one of a command. A program may be written
// with its folder.
func sameWord(pattern, word string) bool {
	return pattern == "*" || pattern == word || program(pattern) == program(word)
}
