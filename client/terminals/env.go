package terminals

import (
	"fmt"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
)

// These are variables for Options.Inherit: those of a proxy, which may contain a password, and the
// one that lets commands sign with the keys of the user.
const (
	Proxy    = "*_[pP][rR][oO][xX][yY]"
	SSHAgent = "SSH_AUTH_SOCK"
)

// inherited is the default list of Options.Inherit.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LANGUAGE", "LC_*", "TZ",
	"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
	"GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE", "CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "NVM_DIR", "PYENV_ROOT", "VIRTUAL_ENV",
	// These are for Windows.
	"SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "TEMP", "TMP", "OS", "USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH",
	"APPDATA", "LOCALAPPDATA", "ProgramData", "ProgramFiles", "ProgramFiles(x86)", "CommonProgramFiles", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
}

// harmless is the default list of Options.AgentEnv.
var harmless = []string{
	"CI", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "COLUMNS", "LINES", "LANG", "LC_*", "TZ",
	"RUST_BACKTRACE", "PYTHONUNBUFFERED", "CLAUDECODE",
}

// fixed prevents programs from waiting for input, because there is no terminal.
var fixed = []string{"TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat", "GIT_TERMINAL_PROMPT=0"}

// environment returns the environment of a command. Later variables replace earlier ones.
func (o *Options) environment(cwd string, agent []acp.EnvVariable) []string {
	var env []string
	set := func(name, value string) {
		env = slices.DeleteFunc(env, func(old string) bool { n, _ := splitEnv(old); return sameName(n, name) })
		env = append(env, name+"="+value)
	}
	for _, e := range os.Environ() {
		if name, value := splitEnv(e); matchesAny(o.Inherit, name) {
			set(name, value)
		}
	}
	for _, e := range slices.Concat(fixed, o.Env, []string{"PWD=" + cwd}) {
		set(splitEnv(e))
	}
	for _, v := range agent {
		set(v.Name, v.Value)
	}
	return env
}

// maxEnv is how many variables an agent may set. Systems limit the environment to a few MiB, but a
// larger one would cost work before it is refused.
const maxEnv = 1000

// unlisted returns the names of the variables that need a Check.
func (o *Options) unlisted(agent []acp.EnvVariable) (names []string, err error) {
	if len(agent) > maxEnv {
		return nil, &Error{What: fmt.Sprintf("%d of them are too many", len(agent)), Err: ErrEnv}
	}
	for _, v := range agent {
		if v.Name == "" || strings.ContainsAny(v.Name, "=\x00") || strings.Contains(v.Value, "\x00") {
			return nil, &Error{What: strings.ToValidUTF8(v.Name, ""), Err: ErrEnv}
		}
		if !matchesAny(o.AgentEnv, v.Name) && !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
		}
	}
	return names, nil
}

// effective keeps the last of several variables with the same name.
func effective(agent []acp.EnvVariable) []acp.EnvVariable {
	var env []acp.EnvVariable
	for _, v := range agent {
		env = slices.DeleteFunc(env, func(old acp.EnvVariable) bool { return sameName(old.Name, v.Name) })
		env = append(env, v)
	}
	return env
}

// splitEnv splits NAME=value. On Windows a name may begin with "=".
func splitEnv(e string) (name, value string) {
	if i := strings.Index(e[min(1, len(e)):], "="); i >= 0 {
		return e[:i+1], e[i+2:]
	}
	return e, ""
}

// matchesAny reports whether the name is listed: the last pattern that matches decides.
func matchesAny(patterns []string, name string) (listed bool) {
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

func sameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

func valueOf(env []string, name string) string {
	for _, e := range env {
		if n, value := splitEnv(e); sameName(n, name) {
			return value
		}
	}
	return ""
}
