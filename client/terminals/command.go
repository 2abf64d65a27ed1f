package terminals

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
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
	c.Shell = len(req.Args) == 0 && strings.ContainsAny(req.Command, shellCharacters)
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
	if c.Path, err = lookUp(c.argv[0], valueOf(c.Env, "PATH"), dir, cwd); err != nil {
		return nil, err
	}
	return c, c.checkArguments()
}

// lookUp finds a program in the folders of a PATH. A name with a separator is a path relative to
// the folder of the command, which is dir and has the path cwd.
func lookUp(name, path string, dir *os.Root, cwd string) (string, error) {
	if !literal(name) {
		return "", &Error{What: name, Err: ErrCommand}
	}
	if strings.ContainsFunc(name, isSeparator) {
		if file, ok := lookUpPath(name, dir, cwd); ok {
			return file, nil
		}
		return "", &Error{What: name, Err: ErrNotFound}
	}
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			continue // a relative folder would depend on the folder of the command
		}
		if file, ok := withExtension(filepath.Join(folder, name)); ok {
			return file, nil
		}
	}
	return "", &Error{What: name, Err: ErrNotFound}
}

func isSeparator(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }
