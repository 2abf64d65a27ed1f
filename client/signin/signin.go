// Package signin signs a user in at an agent, in each of the ways that agents offer: by a call, by running the agent's
// command on the user's terminal, and by variables for the environment of the agent, which older agents ask for.
// Experimental: it may change in any release.
//
//	_, err := conn.StartSession(ctx, req)
//	if errors.Is(err, rpcerr.ErrAuthRequired) {
//		done, err := signin.Do(ctx, conn, err, &signin.Options{Command: agentCommand, Choose: chooseOnTerminal, Show: showOnTerminal})
//		...
//		if done.Reconnect {
//			// start the agent again, with done.Env, and connect anew
//		}
//	}
package signin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/command"
)

// Conn has the methods of a connection that this package needs. A *client.Conn implements
// it.
type Conn interface {
	AuthMethods() []acp.AuthMethod
	Authenticate(context.Context, *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error)
}

// Options configure [Do]. With the zero value, only ways of [KindAgent] can be used. A nil
// *Options is equivalent to it.
type Options struct {
	// Command returns the command of the agent, as it was started. Nil means that the user
	// cannot sign in on a terminal, not even with a command that the agent names.
	Command func() *exec.Cmd
	// Show shows the user which command will run, before it runs, as a line for a POSIX shell with its
	// variables. The agent chooses the arguments and the variables, and may choose the program. It does not run
	// if Show returns an error. Nil means the same as for Command.
	Show func(ctx context.Context, w *Way, line string) error
	// Run runs a command on the user's terminal and returns when it has ended. Nil runs it
	// on the standard streams of this program, and a signal that ends the program ends the
	// command too if main has called stream.EndOnSignal.
	Run func(context.Context, *exec.Cmd) error
	// Variables asks the user for the values of w.Variables. Nil means that ways of this kind
	// cannot be used.
	Variables func(ctx context.Context, w *Way) (map[string]string, error)
	// Choose returns the ID of one of the ways. required is the error of the agent; show its
	// reason (see client.Explain), because it may say that a way has been tried and why it
	// failed. Nil takes the only way that can be used, and fails if there are several. A way
	// with a command is never taken without Choose.
	Choose func(ctx context.Context, required error, ways []Way) (acp.AuthMethodID, error)
}

// Result is the result of [Do].
type Result struct {
	// Way is the way that was chosen.
	Way Way
	// Reconnect reports whether the agent must be started again, with Env added to its
	// environment. It is false after a call of authenticate; if the agent still requires
	// sign-in after that, start it again too.
	Reconnect bool
	// Env are variables in the form name=value. They may be secret.
	Env []string
}

// ErrNoWay is the error of [Do] if the agent offers no way that the Options can use.
var ErrNoWay = errors.New("signin: the agent offers no way to sign in that can be used here")

// Do signs the user in. required is the error of the agent that requires it.
func Do(ctx context.Context, conn Conn, required error, opts *Options) (*Result, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	w, err := o.choose(ctx, required, Ways(conn.AuthMethods()))
	if err != nil {
		return nil, err
	}
	r := &Result{Way: *w}
	switch w.Kind {
	case KindAgent:
		_, err = conn.Authenticate(ctx, &acp.AuthenticateRequest{MethodID: w.ID})
	case KindTerminal:
		r.Reconnect, err = true, o.run(ctx, w)
	case KindVariables:
		r.Reconnect = true
		r.Env, err = o.ask(ctx, w)
	}
	if err != nil {
		return nil, fmt.Errorf("signin: signing in with %q: %w", w.ID, err)
	}
	return r, nil
}

// RunsCommands reports whether the user can sign in on a terminal: whether Command, Show and Choose are
// set. A client advertises it.
func (o *Options) RunsCommands() bool { return o.Command != nil && o.Show != nil && o.Choose != nil }

func (o *Options) usable(w *Way) bool {
	switch w.Kind {
	case KindAgent:
		return true
	case KindTerminal:
		return o.RunsCommands()
	case KindVariables:
		return o.Variables != nil
	}
	return false
}

func (o *Options) choose(ctx context.Context, required error, ways []Way) (*Way, error) {
	ways = slices.DeleteFunc(ways, func(w Way) bool { return !o.usable(&w) })
	if len(ways) == 0 {
		return nil, ErrNoWay
	}
	if o.Choose == nil {
		if len(ways) > 1 {
			return nil, fmt.Errorf("signin: the agent offers %d ways to sign in: set Options.Choose", len(ways))
		}
		return &ways[0], nil
	}
	id, err := o.Choose(ctx, required, slices.Clone(ways))
	if err != nil {
		return nil, fmt.Errorf("signin: choosing how to sign in: %w", err)
	}
	chosen := slices.DeleteFunc(ways, func(w Way) bool { return w.ID != id })
	if len(chosen) == 0 {
		return nil, fmt.Errorf("signin: Options.Choose chose %q, which was not offered", id)
	}
	for _, other := range chosen[1:] {
		if !chosen[0].does(&other) {
			return nil, fmt.Errorf("signin: the agent offers different ways to sign in with the same id %q, so it is not known which was chosen", id)
		}
	}
	return &chosen[0], nil
}

func (o *Options) run(ctx context.Context, w *Way) error {
	if err := ctx.Err(); err != nil { // ctx may have ended while the user decided
		return err
	}
	cmd := o.Command()
	line := w.Instruction(quotedAll(cmd.Args))
	if w.Command != "" {
		own := exec.Command(w.Command, w.Args...)
		own.Dir = cmd.Dir
		own.Env = command.Environment(command.Inherited, []string{"TERM=" + os.Getenv("TERM")}, folder(cmd.Dir))
		cmd = own
	} else {
		cmd.Args = append(slices.Clone(cmd.Args), w.Args...)
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(slices.Clone(cmd.Env), pairs(w.Env)...)
	if err := cmp.Or(o.Show(ctx, w, strings.TrimPrefix(line, "run ")), ctx.Err()); err != nil {
		return err
	}
	if o.Run != nil {
		return o.Run(ctx, cmd)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	ended, err := start(cmd)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // the process may have ended
	defer stop()
	err = cmd.Wait()
	ended()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// folder returns the folder of a command.
func folder(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	return abs
}

func (o *Options) ask(ctx context.Context, w *Way) ([]string, error) {
	values, err := o.Variables(ctx, w)
	if err != nil {
		return nil, err
	}
	given := map[string]string{}
	for _, v := range w.Variables {
		if value := values[v.Name]; value != "" {
			given[v.Name] = value
		} else if !v.Optional {
			return nil, fmt.Errorf("the variable %s has no value", v.Name)
		}
	}
	return pairs(given), nil
}

func pairs(env map[string]string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		all = append(all, name+"="+env[name])
	}
	return all
}
