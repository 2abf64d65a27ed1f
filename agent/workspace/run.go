package workspace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/internal/command"
	"github.com/acpkit/go-sdk/internal/process"
)

const (
	maxOutput = 64 << 10 // bytes of output that are kept
	maxShown  = 4 << 10  // bytes of output that are shown while a command runs on this machine
	grace     = 2 * time.Second
	showEvery = 500 * time.Millisecond
)

// shell is the shell of this machine and its arguments before a line.
var shell = command.SystemShell()

// Command is a command line for the shell.
type Command struct {
	Line    string
	Cwd     string        // empty means the first root
	Timeout time.Duration // 0 means none
}

// Result tells how a command has ended.
type Result struct {
	Output    string // the last part of the output, at most 64 KiB
	Truncated bool   // whether there was more output before Output
	ExitCode  *uint32
	Signal    string // the signal that ended the command; ExitCode is nil in this case
	TimedOut  bool   // whether the command was stopped after Command.Timeout
}

// Run runs a command and waits for its end. A command that fails, or is stopped after its timeout,
// is not an error. If ctx is done, Run stops the command and returns the error of ctx together with
// the output so far. If call is not nil, it shows the running command.
func (w *Workspace) Run(ctx context.Context, c Command, call *tools.Call) (*Result, error) {
	cwd, err := w.folder(c)
	if err != nil {
		return nil, err
	}
	c.Cwd = cwd
	return w.run(ctx, c, call)
}

// run runs a command in a folder that was resolved.
func (w *Workspace) run(ctx context.Context, c Command, call *tools.Call) (*Result, error) {
	if _, err := w.held(c.Cwd); err != nil || ctx.Err() != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	within, stop := ctx, func() {}
	if c.Timeout > 0 {
		within, stop = context.WithTimeout(ctx, c.Timeout)
	}
	defer stop()
	start := w.runLocal
	if w.offers().commands {
		start = w.runClient
	}
	res, err := start(within, c.Cwd, c.Line, call)
	switch {
	case res == nil || within.Err() == nil:
		return res, failed(c.Line, err)
	case ctx.Err() != nil && err != nil:
		return res, context.Cause(ctx)
	}
	res.TimedOut = err != nil
	return res, nil
}

// folder returns the folder in which a command runs. It is an error if no shell can run the line.
func (w *Workspace) folder(c Command) (string, error) {
	if c.Line == "" || strings.Contains(c.Line, "\x00") {
		return "", &Error{strings.ReplaceAll(c.Line, "\x00", ""), command.ErrInvalid}
	}
	return w.resolve(cmp.Or(c.Cwd, "."))
}

// arguments returns the program and the arguments with which a client runs a line. Clients that start
// the program, those that quote the arguments for a shell of their own, and those that join them for it
// without quotes must all run the same line.
func (w *Workspace) arguments(line string) []string {
	switch {
	case w.windows && strings.ContainsAny(line, command.ShellCharactersOfWindows):
		// A single argument is a line for the shell of the client. Programs that start cmd.exe with a line
		// as an argument write the quotes in it in a form that cmd.exe does not read.
		return []string{line}
	case w.windows:
		return []string{"cmd.exe", "/d", "/c", line}
	case !strings.HasSuffix(line, `\`): // which would continue the line
		line += "\n" // what the client appends belongs neither to a comment nor to the end of a here-document
	}
	// To a shell of a client that joins the arguments, "/bin/sh -c :" is a command that has no effect, and
	// the line is what follows it.
	return []string{"/bin/sh", "-c", ":\n" + line}
}

func (w *Workspace) runClient(ctx context.Context, cwd, line string, call *tools.Call) (*Result, error) {
	argv := w.arguments(line)
	req := &acp.CreateTerminalRequest{
		SessionID: w.id, Command: argv[0], Args: argv[1:], Cwd: cwd, OutputByteLimit: new(uint64(maxOutput)),
	}
	res, err := w.conn.RunTerminalFunc(ctx, req, func(t *agent.Terminal) (err error) {
		if call != nil {
			err = call.Show(ctx, t.Content())
		}
		return err
	})
	if res == nil {
		return nil, err
	}
	text, cut := tail(res.Output, maxOutput) // the client may have ignored the limit
	return &Result{Output: text, Truncated: cut || res.Truncated, ExitCode: res.ExitCode, Signal: res.Signal}, err
}

func tail(text string, most int) (string, bool) {
	t := process.Tail{Limit: most}
	_, _ = t.Write([]byte(text)) // it never fails
	return t.Text(true)
}

func (w *Workspace) runLocal(ctx context.Context, cwd, line string, call *tools.Call) (*Result, error) {
	at, err := w.locate(cwd)
	if err != nil {
		return nil, failed(cwd, err)
	}
	defer at.Close()
	dir, err := at.OpenFolder()
	if err != nil {
		return nil, failed(cwd, err)
	}
	defer dir.Close()
	local := &command.Command{
		Args: append(slices.Clip(shell), line), Line: line, Cwd: at.Path,
		Env: command.Environment(slices.Concat(command.Inherited, w.opts.Inherit), nil, at.Path),
	}
	if local.Path, err = command.LookUp(local.Args[0], command.ValueOf(local.Env, "PATH"), dir, at.Path); err != nil {
		return nil, fmt.Errorf("the shell %s of this machine cannot be used, so no command can: %w", local.Args[0], err)
	}
	out := &process.Tail{Limit: maxOutput, Decode: readable}
	p, err := command.Start(local, dir, out, grace)
	if err != nil {
		return nil, err
	}
	var status acp.TerminalExitStatus
	exited := make(chan struct{})
	go func() { // ends with the command, which is killed if it does not end
		status = p.Wait()
		close(exited)
	}()
	if err = show(ctx, out, call, exited); err != nil {
		p.Terminate()
		if !command.Within(grace, exited) {
			p.Kill()
		}
	}
	<-exited
	p.Close()
	res := &Result{ExitCode: status.ExitCode, Signal: status.Signal}
	res.Output, res.Truncated = out.Text(true)
	return res, err
}

// show shows the last lines of the output until the command has ended. It returns an error if ctx
// is done first.
func show(ctx context.Context, out *process.Tail, call *tools.Call, exited <-chan struct{}) error {
	ticker := time.NewTicker(showEvery)
	defer ticker.Stop()
	for last := ""; ; {
		select {
		case <-exited:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		text, _ := out.Text(false)
		if text, _ = tail(text, maxShown); call != nil && text != last {
			_ = call.Progress(ctx, text) // an error means that the connection has ended, and so does ctx
		}
		last = text
	}
}
