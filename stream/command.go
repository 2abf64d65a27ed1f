package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/acpkit/go-sdk/internal/process"
)

const (
	defaultGrace      = 5 * time.Second
	defaultStderrTail = 64 << 10
	// defaultLinger is how long Read waits for the output of a process that has
	// ended while another process keeps its pipes open.
	defaultLinger = time.Second
)

// widen enlarges pipes where the system allows it. Call release when they are closed.
var widen = func(...*os.File) (release func()) { return func() {} }

// CommandOptions configure [Command], which copies them. The zero value selects the
// defaults.
type CommandOptions struct {
	// MaxMessage is as in [LinesOptions].
	MaxMessage int
	// OnNoise is called with each line that is not a JSON object, as in [LinesOptions]. Read
	// skips such lines.
	OnNoise func(line string)

	// Stderr receives what the process writes to its standard error, without
	// delay. A slow writer slows the process down; after an error the writer is
	// not used again. If Stderr is nil, cmd.Stderr is used, if it is set.
	Stderr io.Writer
	// OnStderr is called with each line of standard error, without its line
	// ending and cut at 64 KiB. A goroutine of the Process calls OnStderr and
	// writes to Stderr.
	OnStderr func(line string)
	// StderrTail is how many bytes of standard error are kept for
	// Process.Stderr and [ExitError]; 0 means 64 KiB.
	StderrTail int

	// Grace is how long the process may take to end by itself after its standard input was
	// closed, and again after it was then asked to end (SIGTERM; on Windows a Ctrl-Break event),
	// before it is killed. 0 means 5 s, a negative value no time at all.
	Grace time.Duration
}

func (o *CommandOptions) withDefaults(cmd *exec.Cmd) CommandOptions {
	out := *cmp.Or(o, new(CommandOptions))
	if out.Stderr == nil {
		out.Stderr = cmd.Stderr
	}
	if out.StderrTail <= 0 {
		out.StderrTail = defaultStderrTail
	}
	if out.Grace == 0 {
		out.Grace = defaultGrace
	}
	return out
}

// Command starts cmd, an agent, and returns the stream over its standard input
// and output. cmd must not have been started, and its Stdin and Stdout must be unset;
// the caller sets the directory, the environment and all else. If cmd was made with
// exec.CommandContext, the end of the context kills the process; prefer Close, which
// gives it time to end by itself.
//
// The process gets a process group of its own, so that Ctrl-C on the terminal does
// not reach it, and so that it can be ended together with the processes that it
// started: many agents are launched by wrappers such as npx. On Windows a job object
// takes the place of the group; it also ends the processes when this program dies.
//
// After the process has ended, the rest of its group is asked to end and then killed.
// If a process outside the group keeps the pipes open, the stream waits for it for
// cmd.WaitDelay at most (0 means 1 s).
func Command(cmd *exec.Cmd, opts *CommandOptions) (*Process, error) {
	switch {
	case cmd == nil:
		return nil, errors.New("stream: Command was given no command: pass the result of exec.Command")
	case cmd.Process != nil:
		return nil, errors.New("stream: command already started")
	case cmd.Stdin != nil, cmd.Stdout != nil:
		return nil, errors.New("stream: Stdin and Stdout of the command must not be set")
	}
	p := &Process{
		cmd: cmd, opts: opts.withDefaults(cmd), linger: cmd.WaitDelay,
		closing: make(chan struct{}), drained: make(chan struct{}), exited: make(chan struct{}), done: make(chan struct{}),
	}
	if p.linger <= 0 {
		p.linger = defaultLinger
	}
	if err := p.start(); err != nil {
		if bad := checkDir(cmd.Dir); bad != nil {
			err = bad
		}
		return nil, fmt.Errorf("stream: starting %s: %w", cmd.Path, err)
	}
	return p, nil
}

// CommandDial returns a function that runs a new process at each call, for the packages that start an
// agent again: client/supervise and draft2/connect. command must return a new exec.Cmd each time.
func CommandDial(command func() *exec.Cmd, opts *CommandOptions) func(ctx context.Context) (Stream, error) {
	return func(context.Context) (Stream, error) {
		if command == nil {
			return nil, errors.New("stream: CommandDial was given no function: pass one that returns a new exec.Cmd at each call")
		}
		p, err := Command(command(), opts)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
}

// checkDir returns an error that names the folder if a process cannot run in it. The error of the
// operating system names the program instead.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "chdir", Path: dir, Err: err}
}

// start makes the pipes and starts the process. If it fails, it closes what it has opened.
func (p *Process) start() (err error) {
	var files []*os.File
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
			files = append(files, r, w)
		}
		return r, w
	}
	inR, inW := pipe()
	outR, outW := pipe()
	errR, errW := pipe()
	theirs := []*os.File{inR, outW, errW}
	if err == nil {
		p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, errW
		p.group, err = process.Start(p.cmd)
	}
	if err != nil {
		closeFiles(files)
		return err
	}
	closeFiles(theirs)

	p.stdin, p.stdout = inW, &outlet{f: outR}
	p.release = widen(inW, outR)
	p.lines = newLines(p.stdout, inW, &LinesOptions{
		MaxMessage: p.opts.MaxMessage, Tolerant: true, OnNoise: p.skipped,
	})
	p.stderr = newStderr(errR, &p.opts)
	go p.stderr.drain() // ends when the last writer closes the pipe, or watch does
	go p.watch()        // ends soon after the process
	return nil
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
