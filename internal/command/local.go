package terminals

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/process"
)

// linger is how long output is still read after a command has ended, if a process that it started
// holds the pipe. The time spent in OnOutput does not count.
const linger = 500 * time.Millisecond

// local is a command that runs as a child process.
type local struct {
	cmd     *exec.Cmd
	group   *process.Group
	grace   time.Duration
	out     *os.File
	taking  busy          // time spent on output, including OnOutput
	drained chan struct{} // closed when the output has ended
	left    bool          // other processes of the group were left; set by Wait
	ended   time.Time     // set by Wait
}

func startLocal(c *Command, dir *os.Root, output io.Writer, grace time.Duration) (Process, error) {
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
	p := &local{cmd: newCmd(c), grace: grace, out: r, drained: make(chan struct{})}
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

func (p *local) drain(output io.Writer) {
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

// Wait asks the other processes of the group to end, because they may hold the pipe.
func (p *local) Wait() acp.TerminalExitStatus {
	_ = p.cmd.Wait() // the state has the result
	p.ended = time.Now()
	taken := p.taking.time()
	if p.left = p.group.Reaped(); p.left {
		p.group.Terminate()
	}
	for {
		left := linger + p.taking.time() - taken - time.Since(p.ended)
		if left <= 0 || within(left, p.drained) {
			break
		}
	}
	p.out.Close()
	return exitStatus(p.cmd.ProcessState)
}

func (p *local) Terminate() { p.group.Terminate() }
func (p *local) Kill()      { p.group.Kill() }

func (p *local) Close() {
	if p.left && !p.group.Vanishes(p.ended.Add(max(p.grace, 0))) {
		p.group.Kill()
		p.group.Vanishes(time.Now().Add(killPatience))
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
