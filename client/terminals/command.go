package terminals

import (
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
