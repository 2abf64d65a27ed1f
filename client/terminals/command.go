package terminals

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/command"
)

// command decides what will run. dir is the folder of the command, for a program that is named
// relative to it. Without consent, unlisted variables are an error.
func (o *Options) command(req *acp.CreateTerminalRequest, dir *os.Root, cwd string, consent bool) (*Command, error) {
	bad := func(s string) bool { return strings.Contains(s, "\x00") }
	if req.Command == "" || bad(req.Command) || slices.ContainsFunc(req.Args, bad) {
		return nil, &Error{What: strings.ReplaceAll(req.Command, "\x00", ""), Err: ErrCommand}
	}
	unlisted, err := o.unlisted(req.Env)
	if err != nil {
		return nil, err
	}
	if len(unlisted) > 0 && !consent {
		return nil, &Error{What: unlisted[0], Err: ErrEnv}
	}
	c := &Command{
		Session: req.SessionID, Cwd: cwd, AgentEnv: effective(req.Env), Unlisted: unlisted,
		Env: o.environment(cwd, req.Env),
	}
	c.Shell = len(req.Args) == 0 && strings.ContainsAny(req.Command, command.ShellCharacters)
	if c.Shell {
		c.Argv = []string{req.Command}
		c.argv = append(slices.Clone(o.Shell), req.Command)
	} else {
		c.Argv = append([]string{req.Command}, req.Args...)
		c.argv = c.Argv
	}
	if o.Exec != nil {
		c.Path = c.argv[0] // the files in that other place are not known
		return c, nil
	}
	if c.Path, err = command.LookUp(c.argv[0], command.ValueOf(c.Env, "PATH"), dir, cwd); err != nil {
		return nil, &Error{What: c.argv[0], Err: err}
	}
	if err := c.local().CheckArguments(); err != nil {
		return nil, &Error{What: c.Argv[0] + ": " + err.Error(), Err: ErrCommand}
	}
	return c, nil
}

// local returns the command as a child process.
func (c *Command) local() *command.Command {
	local := &command.Command{Path: c.Path, Args: c.argv, Cwd: c.Cwd, Env: c.Env}
	if c.Shell {
		local.Line = c.Argv[0]
	}
	return local
}

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
