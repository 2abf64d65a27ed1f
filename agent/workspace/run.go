package workspace

import (
	"cmp"
	"context"
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
	cwd, argv, err := w.exact(c)
	if err = cmp.Or(err, context.Cause(ctx)); err != nil {
		return nil, err
	}
	within, stop := ctx, func() {}
	if c.Timeout > 0 {
		within, stop = context.WithTimeout(ctx, c.Timeout)
	}
	defer stop()
	run := w.runLocal
	if w.offers().commands {
		run = w.runClient
	}
	res, err := run(within, cwd, argv, call)
	switch {
	case res == nil || within.Err() == nil:
		return res, failed(c.Line, err)
	case ctx.Err() != nil && err != nil:
		return res, context.Cause(ctx)
	}
	res.TimedOut = err != nil
	return res, nil
}

// exact returns the folder and the arguments with which a command is started. They are shown to the
// person.
func (w *Workspace) exact(c Command) (cwd string, argv []string, err error) {
	if cwd, err = w.resolve(cmp.Or(c.Cwd, ".")); err != nil {
		return "", nil, err
	}
	switch {
	case c.Line == "" || strings.Contains(c.Line, "\x00"):
		return "", nil, &Error{strings.ReplaceAll(c.Line, "\x00", ""), command.ErrInvalid}
	case !w.windows:
		return cwd, []string{"/bin/sh", "-c", c.Line}, nil
	case strings.ContainsAny(c.Line, " \t\"&|<>"): // cmd.exe would receive quotes in another form
		return cwd, []string{c.Line}, nil // a client passes a single argument to its shell
	}
	return cwd, []string{"cmd.exe", "/d", "/c", c.Line}, nil
}

func (w *Workspace) runClient(ctx context.Context, cwd string, argv []string, call *tools.Call) (*Result, error) {
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

// tail returns the end of a text.
func tail(text string, most int) (string, bool) {
	t := process.Tail{Limit: most}
	_, _ = t.Write([]byte(text)) // it never fails
	return t.Text(true)
}

func (w *Workspace) runLocal(ctx context.Context, cwd string, argv []string, call *tools.Call) (*Result, error) {
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
	line := argv[len(argv)-1] // the command line is the last argument in every result of exact
	local := &command.Command{
		Args: append(command.SystemShell(), line), Line: line, Cwd: at.Path,
		Env: command.Environment(slices.Concat(command.Inherited, w.opts.Inherit), nil, at.Path),
	}
	if local.Path, err = command.LookUp(local.Args[0], command.ValueOf(local.Env, "PATH"), dir, at.Path); err != nil {
		return nil, err
	}
	out := &process.Tail{Limit: maxOutput}
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
