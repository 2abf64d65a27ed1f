package terminals

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/command"
)

const (
	defaultOutput     = 64 << 10 // bytes of output that are kept if the agent sets no limit
	maxOutput         = 1 << 20  // for any limit
	defaultPerSession = 16
	defaultGrace      = 2 * time.Second
)

// Options configure [New], which copies them. The zero value selects the defaults.
type Options struct {
	// Shell is the shell and its arguments; the command line is appended. It runs commands
	// without arguments that contain white space or shell characters, because some agents send
	// command lines. Nil means /bin/sh -c, and on Windows cmd.exe.
	Shell []string

	// Inherit lists variables of this program's environment that commands get, as names or
	// patterns of path.Match, after a default list of variables that programs need and that are
	// unlikely to be secret, such as PATH, HOME and LC_*. A pattern that begins with "!" excludes
	// variables that earlier ones list; "!*" clears the default list. The list has neither
	// "*_[pP][rR][oO][xX][yY]", because the address of a proxy may contain a password, nor
	// "SSH_AUTH_SOCK", which lets commands sign with the keys of the user.
	Inherit []string
	// Env lists further variables, as "NAME=value".
	Env []string
	// AgentEnv lists variables that an agent may set, as Inherit does, after a default list of
	// harmless ones, such as CI and NO_COLOR. All others require the consent of a [Check],
	// because many make a program run other programs: LD_PRELOAD, PATH, BASH_ENV, NODE_OPTIONS,
	// GIT_SSH_COMMAND. A request with more than 1000 is refused.
	AgentEnv []string

	// PerSession is the number of terminals that a session may have at once; 0 means 16. A
	// released terminal counts until its command has ended.
	PerSession int
	// Grace is how long a command may take to end after it was asked to (SIGTERM),
	// before it is killed. 0 means 2 s, a negative value no time at all.
	Grace time.Duration

	// Exec runs commands elsewhere, for example in a container or on a pseudo-terminal.
	// It starts the command, returns at once, and writes what the command prints to
	// output. Ctx ends with the request, and when the command is to end before it has started.
	// Nil means that commands run as child processes.
	Exec func(ctx context.Context, c *Command, output io.Writer) (Process, error)

	// OnOutput is called with the output of commands, without delay. The calls for one terminal are
	// in order. A slow OnOutput slows its command down. The end of the command is reported after
	// the last call of OnOutput has returned, so OnOutput must not wait for the end.
	OnOutput func(Output)
}

// Output is a piece of the output of a command.
type Output struct {
	Session  acp.SessionID
	Terminal acp.TerminalID
	// Data is valid during the call only. It may begin and end within a character.
	Data []byte
}

// Command is a command before it is run.
type Command struct {
	Session  acp.SessionID
	Terminal acp.TerminalID
	// Argv is the program and its arguments. If Shell is set it is one element, the line
	// that the shell reads.
	Argv  []string
	Shell bool
	// Path is the program that is started: that of Argv, or the shell.
	Path string
	// Cwd is the folder, without symlinks.
	Cwd string
	// AgentEnv lists the variables that the agent sets, each once, and Unlisted the names of those that
	// are not in Options.AgentEnv. The command runs only if the [Check] has put each name of
	// Unlisted into Consented as well.
	AgentEnv  []acp.EnvVariable
	Unlisted  []string
	Consented []string
	// Env is the whole environment, as "NAME=value", for Options.Exec. It must not be
	// logged.
	Env []string

	argv []string // all arguments, including those of the shell
}

// Check decides about a command. It may take as long as a person needs. The command is run
// if Check returns nil; otherwise the request fails with the error. A nil error alone is no
// consent to variables that are not in Options.AgentEnv: a Check that has shown their names
// to the user, or knows them, must put the names into Command.Consented.
type Check func(context.Context, *Command) error

// Process is a running command that Options.Exec has started. Its methods may be called by any
// goroutine.
type Process interface {
	// Wait waits until the command has ended and its output was written.
	Wait() acp.TerminalExitStatus
	// Terminate asks the command and everything that it started to end, Kill ends them.
	Terminate()
	Kill()
	// Close is called once, after Wait has returned. It ends the processes of the
	// command that are left.
	Close()
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Shell == nil {
		out.Shell = command.SystemShell()
	}
	out.Inherit = slices.Concat(command.Inherited, out.Inherit)
	out.AgentEnv = slices.Concat(harmless, out.AgentEnv)
	if out.PerSession <= 0 {
		out.PerSession = defaultPerSession
	}
	out.Grace = cmp.Or(out.Grace, defaultGrace)
	return out
}
