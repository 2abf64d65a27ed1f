package stream

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

const (
	defaultGrace      = 5 * time.Second
	defaultStderrTail = 64 << 10
	// defaultLinger is how long output of a process that has ended is waited for
	// while somebody else keeps its pipes open.
	defaultLinger = time.Second
)

// CommandOptions is for [Command]. The zero value is the default; the options are
// copied on entry.
type CommandOptions struct {
	// MaxMessage is as in [LinesOptions].
	MaxMessage int
	// Strict makes Read return lines that are not JSON objects. By default they
	// are skipped, as with LinesOptions.Tolerant, and given to OnNoise.
	Strict  bool
	OnNoise func(line []byte)

	// Stderr is given what the process writes to its standard error, as it
	// comes. A slow writer slows the process down, one that fails is not used
	// again. nil means cmd.Stderr, and if that is nil as well, nothing.
	Stderr io.Writer
	// OnStderr is given the same by lines, without their ends, cut at 64 KiB.
	// Both are used by a goroutine of the Process.
	OnStderr func(line string)
	// StderrTail is how many bytes of standard error are kept for
	// Process.Stderr and [ExitError]; 0 means 64 KiB.
	StderrTail int

	// Grace is how long the process may take to end by itself after its
	// standard input was closed, and TermGrace how long it may take after it was
	// then asked to end (SIGTERM; on Windows a Ctrl-Break event), before it is
	// killed. 0 means 5 s, a negative value no time at all.
	Grace, TermGrace time.Duration
}

func (o *CommandOptions) withDefaults(cmd *exec.Cmd) CommandOptions {
	var out CommandOptions
	if o != nil {
		out = *o
	}
	if out.Stderr == nil {
		out.Stderr = cmd.Stderr
	}
	if out.StderrTail <= 0 {
		out.StderrTail = defaultStderrTail
	}
	if out.Grace == 0 {
		out.Grace = defaultGrace
	}
	if out.TermGrace == 0 {
		out.TermGrace = defaultGrace
	}
	return out
}

// Command starts cmd, an agent, and returns the stream over its standard input
// and output. cmd must be fresh, with Stdin and Stdout unset; directory, environment
// and all else are the caller's. A context given to cmd kills the process when it
// ends; Close is kinder.
//
// The process gets a process group of its own, so that Ctrl-C on the terminal does
// not reach it and so that it can be ended together with all it started: many agents
// are launched by wrappers such as npx. On Windows the same is done by a job
// object, which also ends the processes when this one dies.
//
// When the process has ended, whatever is left of its group is asked to end and
// then killed, and a process outside of the group that holds on to the pipes is
// waited for no longer than cmd.WaitDelay (0 means 1 s).
func Command(cmd *exec.Cmd, opts *CommandOptions) (*Process, error) {
	switch {
	case cmd == nil:
		return nil, errors.New("stream: no command")
	case cmd.Process != nil:
		return nil, errors.New("stream: command was started before")
	case cmd.Stdin != nil, cmd.Stdout != nil:
		return nil, errors.New("stream: Stdin and Stdout of the command must not be set")
	}
	p := &Process{
		cmd: cmd, opts: opts.withDefaults(cmd), linger: cmd.WaitDelay,
		closing: make(chan struct{}), exited: make(chan struct{}), done: make(chan struct{}),
	}
	if p.linger <= 0 {
		p.linger = defaultLinger
	}
	if err := p.start(); err != nil {
		return nil, fmt.Errorf("stream: starting %s: %w", cmd.Path, err)
	}
	return p, nil
}

// start makes the pipes and the process. On failure nothing stays open.
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
		p.group = newGroup(p.cmd)
		err = p.cmd.Start()
	}
	if err != nil {
		closeFiles(files)
		return err
	}
	closeFiles(theirs)
	p.group.started(p.cmd.Process)

	p.stdin, p.stdout = inW, &outlet{f: outR}
	p.release = widen(inW, outR)
	p.lines = newLines(p.stdout, inW, &LinesOptions{
		MaxMessage: p.opts.MaxMessage, Tolerant: !p.opts.Strict, OnNoise: p.opts.OnNoise,
	})
	p.stderr = newStderr(errR, &p.opts)
	go p.stderr.drain() // ends with the last holder of the pipe, or when watch closes it
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
