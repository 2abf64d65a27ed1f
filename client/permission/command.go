package permission

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
)

// runners are programs that run their arguments or their input, so the first word of such a command
// does not tell what it does. The list cannot be complete.
var runners = []string{
	"sh", "bash", "rbash", "dash", "zsh", "fish", "ksh", "rksh", "mksh", "csh", "tcsh", "ash", "busybox", "toybox", "nu", "elvish", "xonsh",
	"cmd", "powershell", "pwsh", "wsl", "env", "exec", "eval", "command", "builtin", "xargs", "parallel", "find", "nohup", "setsid", "nice", "ionice",
	"time", "timeout", "stdbuf", "script", "watch", "strace", "ltrace", "sudo", "doas", "su", "runuser", "pkexec", "setpriv", "capsh", "taskset", "chrt",
	"prlimit", "systemd-run", "chroot", "unshare", "nsenter", "bwrap", "proot", "fakeroot", "flock", "unbuffer", "expect", "awk", "gawk", "mawk", "nawk",
	"gtimeout", "genv", "gnice", "gnohup", "gxargs", "gfind", "gstdbuf", "setarch", "linux32", "linux64", "numactl", "cpulimit", "valgrind", "perf", "gdb", "lldb",
	"firejail", "gosu", "su-exec", "tini", "dumb-init", "start-stop-daemon", "daemonize", "dbus-run-session", "xvfb-run", "entr", "chronic", "torsocks", "proxychains",
	"proxychains4", "sshpass", "rlwrap", "socat", "ccache", "sccache", "distcc", "at", "batch", "screen", "tmux", "ssh", "sqlite3", "ed", "ex", "dc", "m4",
	"start", "call", "forfiles", "rundll32", "wscript", "cscript", "mshta",
}

// manyInOne are runners that act as the program whose name they are called by. A link to one of
// them is that program.
var manyInOne = []string{"busybox", "toybox"}

// loaders are prefixes of the names of programs that start the program in their arguments.
var loaders = []string{"ld-", "ld.so", "ld64.so"}

// inline are options by which interpreters run a text of the command line, by the name of
// the interpreter without its version. Letters may stand together, as in -ne.
var inline = map[string]struct {
	letters string
	words   []string
}{
	"perl": {"eE", nil}, "python": {"c", nil}, "pypy": {"c", nil}, "ruby": {"e", nil}, "lua": {"e", nil}, "luajit": {"e", nil}, "php": {"rBRE", nil},
	"node": {"ep", []string{"--eval", "--print"}}, "nodejs": {"ep", []string{"--eval", "--print"}}, "bun": {"ep", []string{"--eval", "--print"}},
	"deno": {"", []string{"eval"}}, "osascript": {"e", nil}, "tclsh": {"c", nil},
	// A variable of git may be an alias or a pager, which is a command line.
	"git": {"c", []string{"--config-env", "--exec-path"}},
}

// program returns the name of a program without its folder and extension.
func program(word string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/")))
	for _, ext := range []string{".exe", ".com", ".bat", ".cmd"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// isRunner reports whether a program runs its arguments, by its name. A batch file does:
// its arguments go through a shell.
func isRunner(word string) bool {
	name, lower := program(word), strings.ToLower(word)
	return slices.Contains(runners, name) || strings.HasSuffix(lower, ".bat") || strings.HasSuffix(lower, ".cmd") ||
		slices.ContainsFunc(loaders, func(l string) bool { return strings.HasPrefix(name, l) })
}

// runsArguments reports whether the command, which must not be a line for a shell, may run its
// arguments or its input. It judges the program by its name and by the name of the file that the
// name leads to.
func (o *Operation) runsArguments() bool {
	name := o.Argv[0]
	if isRunner(name) || runsInline(name, o.Argv[1:]) {
		return true
	}
	file := o.file()
	return file != "" && (isRunner(file) && !slices.Contains(manyInOne, program(file)) || runsInline(file, o.Argv[1:]))
}

// plainShells are the shells whose argument after -c rules look into.
var plainShells = []string{"sh", "bash", "dash", "zsh"}

// asLine returns the operation, with the line that is the argument of the system's shell as a line for a shell.
// It removes what an agent puts around a line so that clients that join arguments without quotes run it too: a
// first line with the command ":", which has no effect, and a line break at the end.
func (o *Operation) asLine() Operation {
	line := ""
	switch n := len(o.Argv); {
	case o.Shell:
	case n == 3 && o.Argv[0] == "/bin/sh" && o.Argv[1] == "-c":
		line = unmarked(o.Argv[2])
	case n == 4 && runtime.GOOS == "windows" && slices.Equal(o.Argv[:3], []string{"cmd.exe", "/d", "/c"}) && !strings.ContainsAny(o.Argv[3], readByCmd):
		line = o.Argv[3]
	}
	if line == "" {
		return *o
	}
	as := *o
	as.Argv, as.Shell, as.Program = []string{line}, true, ""
	return as
}

// readByCmd are the characters of which cmd.exe may make something else, at least where an argument is quoted for
// it.
const readByCmd = " \t\r\n|&;<>()^$`\"'*?[]{}#!=%"

func unmarked(text string) string {
	line, marked := strings.CutPrefix(text, ":\n")
	if rest, ok := strings.CutSuffix(line, "\n"); marked && ok && !strings.HasSuffix(rest, `\`) {
		return rest
	}
	return line
}

// takenApart returns the command that a rule that allows may match: the command itself, or the one
// in a line for a shell. It returns nil if there is none.
func (o *Operation) takenApart() *Operation {
	if len(o.Argv) == 0 {
		return nil
	}
	o = new(o.asLine())
	folder, name := path.Split(o.Argv[0])
	dashC := len(o.Argv) == 3 && o.Argv[1] == "-c" && slices.Contains(plainShells, name) && slices.Contains([]string{"", "/bin/", "/usr/bin/"}, folder)
	if !o.Shell && !dashC {
		return o
	}
	words := plainWords(o.Argv[len(o.Argv)-1])
	if words == nil {
		return nil
	}
	return &Operation{Action: ActionCommand, Argv: words, Cwd: o.Cwd, Env: o.Env, EnvDigest: o.EnvDigest}
}

// plainWords returns the words of a line that every shell reads as one command with
// arguments; nil for other lines. It knows none if a shell may find the program in the folder
// that the command runs in, which the agent may have written: by a PATH with relative
// folders, or on Windows.
func plainWords(line string) []string {
	relative := func(folder string) bool { return !filepath.IsAbs(folder) }
	if runtime.GOOS == "windows" || slices.ContainsFunc(filepath.SplitList(os.Getenv("PATH")), relative) {
		return nil
	}
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) == 0 || isNoWord(words[0]) || slices.ContainsFunc(words[1:], isNoArgument) {
		return nil
	}
	return words
}

// isNoArgument reports whether a shell may read the text as anything but an argument. A
// leading "=" or "@" means something to zsh and to PowerShell.
func isNoArgument(text string) bool {
	return strings.ContainsAny(text[:1], "=@") || isNoWord(strings.Map(func(r rune) rune {
		if strings.ContainsRune("=:@+,", r) {
			return '_'
		}
		return r
	}, text))
}

// isInert reports whether a variable only tells a program which session started it. Goose
// sets one for each command.
func isInert(name string) bool { return name == "AGENT_SESSION_ID" }

// file returns the file of the program of a command without symlinks; empty if it is not
// known.
func (o *Operation) file() string {
	name := o.Program
	switch {
	case name != "":
	case !strings.ContainsFunc(o.Argv[0], isSeparator):
		name, _ = exec.LookPath(o.Argv[0])
	default:
		name = below(o.Cwd, o.Argv[0])
	}
	return realPath(name)
}

// runsInline reports whether an interpreter may get its program as an argument. It does not
// distinguish options of the interpreter from those of the program.
func runsInline(name string, args []string) bool {
	name = program(name)
	option, ok := inline[name]
	if !ok {
		option, ok = inline[strings.TrimRight(name, "0123456789.-")]
	}
	return ok && slices.ContainsFunc(args, func(arg string) bool {
		word, _, _ := strings.Cut(arg, "=")
		short := strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--")
		return short && strings.ContainsAny(arg, option.letters) || slices.Contains(option.words, word)
	})
}

// beginsWith reports whether the command, or any command that may be in a shell line or
// in the arguments of a runner, begins with the words of the pattern. If options follow its last "*", any of
// them may follow anywhere.
func beginsWith(pattern []string, o *Operation) bool {
	head, options, open := parts(pattern)
	if len(o.Argv) == 0 {
		return false
	}
	words := o.Argv
	anywhere := o.Shell || o.runsArguments()
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
		if len(words)-i < len(head) || !slices.EqualFunc(head, words[i:i+len(head)], sameWord) {
			continue
		}
		if !open || len(options) == 0 || slices.ContainsFunc(words[i+len(head):], func(w string) bool { return hasOption(options, w) }) {
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
