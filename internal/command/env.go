package command

import (
	"os"
	"os/user"
	"path"
	"runtime"
	"slices"
	"strings"
)

// Inherited lists variables that programs need and that are unlikely to be secret.
var Inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LANGUAGE", "LC_*", "TZ",
	"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
	"GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE", "CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "NVM_DIR", "PYENV_ROOT", "VIRTUAL_ENV",
	// These are for Windows.
	"SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "TEMP", "TMP", "OS", "USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH",
	"APPDATA", "LOCALAPPDATA", "ProgramData", "ProgramFiles", "ProgramFiles(x86)", "CommonProgramFiles", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
}

// fixed prevents programs from waiting for input, because there is no terminal.
var fixed = []string{"TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat", "GIT_TERMINAL_PROMPT=0"}

// Environment returns the environment of a command: the variables of this program that inherit lists, and
// HOME also if this program has none, those that keep programs from waiting for input, env, PWD and more,
// each as "NAME=value". Later variables replace earlier ones.
func Environment(inherit, env []string, cwd string, more ...string) []string {
	var all []string
	set := func(e string) {
		name, value := splitEnv(e)
		all = slices.DeleteFunc(all, func(old string) bool { n, _ := splitEnv(old); return SameName(n, name) })
		all = append(all, name+"="+value)
	}
	for _, e := range os.Environ() {
		if name, _ := splitEnv(e); Listed(inherit, name) {
			set(e)
		}
	}
	if home := Home(); home != "" && ValueOf(all, "HOME") == "" && Listed(inherit, "HOME") {
		set("HOME=" + home)
	}
	for _, e := range slices.Concat(fixed, env, []string{"PWD=" + cwd}, more) {
		set(e)
	}
	return all
}

// splitEnv splits NAME=value. On Windows a name may begin with "=".
func splitEnv(e string) (name, value string) {
	if i := strings.Index(e[min(1, len(e)):], "="); i >= 0 {
		return e[:i+1], e[i+2:]
	}
	return e, ""
}

// Listed reports whether the name is listed: the last pattern that matches decides.
func Listed(patterns []string, name string) (listed bool) {
	for _, pattern := range patterns {
		pattern, excludes := strings.CutPrefix(pattern, "!")
		if runtime.GOOS == "windows" {
			pattern, name = strings.ToUpper(pattern), strings.ToUpper(name)
		}
		if ok, err := path.Match(pattern, name); ok && err == nil {
			listed = !excludes
		}
	}
	return listed
}

// SameName reports whether the system takes two names for the same variable.
func SameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

// ValueOf returns the value of a variable.
func ValueOf(env []string, name string) string {
	for _, e := range env {
		if n, value := splitEnv(e); SameName(n, name) {
			return value
		}
	}
	return ""
}

// Home returns the home folder of the user, or "" if it is not known. Some editors start programs with
// PATH and little else; then it is that of the account.
func Home() string {
	if home, err := os.UserHomeDir(); err == nil && home != "" {
		return home
	}
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return ""
}
