package terminals

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/command"
)

// harmless is the default list of Options.AgentEnv.
var harmless = []string{
	"CI", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "COLUMNS", "LINES", "LANG", "LC_*", "TZ",
	"RUST_BACKTRACE", "PYTHONUNBUFFERED", "CLAUDECODE",
}

// environment returns the environment of a command. Later variables replace earlier ones.
func (o *Options) environment(cwd string, agent []acp.EnvVariable) []string {
	var own []string
	for _, v := range agent {
		own = append(own, v.Name+"="+v.Value)
	}
	return command.Environment(o.Inherit, o.Env, cwd, own...)
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
		if !command.Listed(o.AgentEnv, v.Name) && !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
		}
	}
	return names, nil
}

// effective keeps the last of several variables with the same name.
func effective(agent []acp.EnvVariable) []acp.EnvVariable {
	var env []acp.EnvVariable
	for _, v := range agent {
		env = slices.DeleteFunc(env, func(old acp.EnvVariable) bool { return command.SameName(old.Name, v.Name) })
		env = append(env, v)
	}
	return env
}
