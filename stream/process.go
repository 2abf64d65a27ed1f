package stream

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/internal/process"
)

// killPatience is how long Close waits for a process that was killed.
const killPatience = 5 * time.Second

// statusPatience is how long Read and Write wait for the exit status before they return an error
// without it. It is added to the time for which other processes may hold the pipes. Tests shorten
// it.
var statusPatience = time.Second

// Process is a child process as a [Stream], made by [Command]. Its methods that are
// not methods of Stream are safe for concurrent use.
type Process struct {
	cmd    *exec.Cmd
	opts   CommandOptions
	linger time.Duration
	group  *process.Group

	lines  *lines
	stdin  *os.File
	stdout *outlet
	stderr *stderr

	release func() // releases the share of wide pipes

	noise atomic.Pointer[string] // the first line that was skipped

	closing chan struct{} // closed when Close begins
	drained chan struct{} // closed when Read has returned its last error
	exited  chan struct{} // closed when the process has ended and exit is set
	done    chan struct{} // closed when nothing is left of its group either
	exit    *ExitError

	drain    sync.Once
	close    sync.Once
	closeErr error
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stderr returns the last part of what the process has written to its standard
// error. It is always valid UTF-8.
func (p *Process) Stderr() string {
	text, _ := p.stderr.tail.Text(true)
	return text
}

// Noise returns the beginning of the first line of the process's standard output that
// was not a message and was skipped, without control characters. It is empty if there
// was none.
func (p *Process) Noise() string {
	if line := p.noise.Load(); line != nil {
		return *line
	}
	return ""
}

// skipped is called with each line that is skipped.
func (p *Process) skipped(line string) {
	if p.noise.Load() == nil {
		if text := firstLine(line); text != "" {
			p.noise.Store(&text)
		}
	}
	if p.opts.OnNoise != nil {
		p.opts.OnNoise(line)
	}
}

// Features returns what the stream of a process can do.
func (p *Process) Features() *Features {
	f := p.lines.Features()
	f.WriteBatch = p.writeBatch
	return f
}

// Done returns a channel that is closed when the process has ended and no process of
// its group is left. Read may still have messages to return then.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits until Done is closed. It returns nil for exit status 0 and otherwise an
// *[ExitError]. It does not end the process; Close does.
func (p *Process) Wait() error {
	<-p.done
	if p.exit.Status == 0 {
		return nil
	}
	return p.exitError()
}

// exitError returns how the process ended, and what it printed instead of messages.
func (p *Process) exitError() *ExitError {
	exit := *p.exit
	exit.Noise = p.Noise()
	return &exit
}

// Read implements [Stream]. After the process has ended, the error is an
// *[ExitError]; if the status was 0, errors.Is(err, io.EOF) holds.
func (p *Process) Read() ([]byte, error) {
	msg, err := p.lines.Read()
	if err == nil {
		return msg, nil
	}
	if _, ok := errors.AsType[*TooLargeError](err); ok {
		return nil, err
	}
	p.drain.Do(func() { close(p.drained) })
	if exit := p.awaitExit(); exit != nil {
		return nil, exit
	}
	if isClosed(p.closing) {
		return nil, ErrClosed
	}
	return nil, err
}

// Write implements [Stream]. After the process has ended, the error wraps an
// *[ExitError].
func (p *Process) Write(msg []byte) error {
	one := [1][]byte{msg}
	return p.writeBatch(one[:])
}

// writeBatch writes several messages.
func (p *Process) writeBatch(msgs [][]byte) error {
	err := p.lines.WriteBatch(msgs)
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*MessageError](err); ok {
		return err
	}
	if exit := p.awaitExit(); exit != nil {
		// Read may not have reached what the process printed instead of messages.
		if exit.Noise == "" && within(statusPatience, p.drained) {
			exit.Noise = p.Noise()
		}
		return fmt.Errorf("%w (%w)", exit, err)
	}
	if isClosed(p.closing) {
		return ErrClosed
	}
	return err
}

// awaitExit waits a moment for the exit status. It returns nil if there is none, or if Close ended
// the process.
func (p *Process) awaitExit() *ExitError {
	if isClosed(p.closing) {
		return nil
	}
	select {
	case <-p.exited:
		return p.exitError()
	case <-p.closing:
	case <-time.After(p.linger + statusPatience):
		process.Hold()
	}
	return nil
}

// Close ends the process and returns when it and its group are gone. It closes the
// standard input of the process. If the process does not end within Grace, Close asks
// its group to end (it wakes a stopped process for that), and after Grace once more it
// kills the group. What the process writes meanwhile is dropped. Read and Write return at
// once. The error reports a process that could not be ended.
func (p *Process) Close() error {
	p.close.Do(func() {
		close(p.closing)
		p.lines.stop()
		p.stdin.Close()
		go p.stdout.discard() // ends when the file is closed below
		p.closeErr = p.end()
		p.stdout.f.Close()
	})
	return p.closeErr
}

// end carries out the steps of Close. If the process has already ended, watch ends its group in the
// same way.
func (p *Process) end() error {
	if within(p.opts.Grace, p.exited) {
		if within(p.linger+p.opts.Grace+killPatience, p.done) {
			return nil
		}
		return p.stuck()
	}
	p.group.Terminate()
	if within(p.opts.Grace, p.done) {
		return nil
	}
	p.group.Kill()
	if within(p.linger+killPatience, p.done) {
		return nil
	}
	return p.stuck()
}

func (p *Process) stuck() error {
	return fmt.Errorf("stream: process %d or one it started could not be ended", p.PID())
}

func within(d time.Duration, done <-chan struct{}) bool {
	if d <= 0 {
		return isClosed(done)
	}
	select {
	case <-done:
		return true
	case <-time.After(d):
		return false
	}
}

// watch waits for the process, sets what Read and Wait report, and ends the rest of its group.
func (p *Process) watch() {
	_ = p.cmd.Wait() // exit holds the result; the command has no pipes of its own
	ended := time.Now()
	p.stdin.Close() // a process that still reads the pipe will not answer
	p.stdout.finish(ended.Add(p.linger))
	left := p.group.Reaped()
	if left {
		p.group.Terminate()
	}
	if !within(p.linger, p.stderr.drained) {
		p.stderr.f.Close()
		within(statusPatience, p.stderr.drained) // unless the caller's writer blocks
	}
	p.exit = newExitError(p.cmd.ProcessState, p.Stderr())
	if process.Ending() { // this program is ending because of a signal; see EndOnSignal
		if left {
			p.endGroup(ended.Add(p.opts.Grace))
		}
		p.group.Close()
		process.Hold()
	}
	close(p.exited)
	if left {
		p.endGroup(ended.Add(p.opts.Grace))
	}
	p.group.Close()
	p.release()
	close(p.done)
}

// endGroup waits for the group to end, and kills it after the deadline.
func (p *Process) endGroup(deadline time.Time) {
	if !p.group.Vanishes(deadline) {
		p.group.Kill()
		p.group.Vanishes(time.Now().Add(killPatience))
	}
}
