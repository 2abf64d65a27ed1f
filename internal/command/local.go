package command

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/process"
)

// Linger is how long output is still read after a command has ended, if a process that it started
// holds the pipe. The time spent in the writer does not count. Only tests change it.
var Linger = 500 * time.Millisecond

// Process is a command that runs as a child process.
type Process struct {
	cmd     *exec.Cmd
	group   *process.Group
	grace   time.Duration
	out     *os.File
	taking  busy          // time spent on output, including that of the writer
	drained chan struct{} // closed when the output has ended
	left    bool          // other processes of the group were left; set by Wait
	ended   time.Time     // set by Wait
}

// Start starts a command in the folder dir, whose path is c.Cwd, and writes what it prints to output.
// After Wait has returned, what is left of the command has grace to end.
func Start(c *Command, dir *os.Root, output io.Writer, grace time.Duration) (*Process, error) {
	folder, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	p := &Process{cmd: newCmd(c), grace: grace, out: r, drained: make(chan struct{})}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = c.Env, w, w
	err = inFolder(p.cmd, folder, c.Cwd, func() (err error) {
		p.group, err = process.Start(p.cmd)
		return err
	})
	if err != nil {
		r.Close()
		return nil, err
	}
	go p.drain(output) // ends with the last process that holds the pipe, or when Wait closes it
	return p, nil
}

func (p *Process) drain(output io.Writer) {
	defer close(p.drained)
	buf := make([]byte, 64<<10)
	for {
		n, err := p.out.Read(buf)
		if n > 0 {
			p.taking.during(func() { _, _ = output.Write(buf[:n]) }) // a sink fails only after the end
		}
		if err != nil {
			return
		}
	}
}

// Wait waits until the command has ended and its output was written. It asks the other processes of
// the group to end, because they may hold the pipe.
func (p *Process) Wait() acp.TerminalExitStatus {
	_ = p.cmd.Wait() // the state has the result
	p.ended = time.Now()
	taken := p.taking.time()
	if p.left = p.group.Reaped(); p.left {
		p.group.Terminate()
	}
	for {
		left := Linger + p.taking.time() - taken - time.Since(p.ended)
		if left <= 0 || Within(left, p.drained) {
			break
		}
	}
	p.out.Close()
	return exitStatus(p.cmd.ProcessState)
}

// Terminate asks the command and everything that it started to end.
func (p *Process) Terminate() { p.group.Terminate() }

// Kill ends the command and everything that it started.
func (p *Process) Kill() { p.group.Kill() }

// Close is called once, after Wait has returned. It ends the processes of the command that are left.
func (p *Process) Close() {
	if p.left && !p.group.Vanishes(p.ended.Add(max(p.grace, 0))) {
		p.group.Kill()
		p.group.Vanishes(time.Now().Add(KillPatience))
	}
	p.group.Close()
}

// busy measures the total duration of an activity. The zero value is ready to use.
type busy struct {
	mu    sync.Mutex // guards the fields below
	total time.Duration
	since time.Time // zero while no call is in progress
}

func (b *busy) during(f func()) {
	b.mu.Lock()
	b.since = time.Now()
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.total += time.Since(b.since)
		b.since = time.Time{}
	}()
	f()
}

func (b *busy) time() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.since.IsZero() {
		return b.total
	}
	return b.total + time.Since(b.since)
}
