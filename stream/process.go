package stream

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	// statusPatience is how long, over the time that others may hold the pipes,
	// Read and Write wait for the exit status before they report without it.
	statusPatience = time.Second
	// killPatience is how long Close waits for a process that was killed.
	killPatience = 5 * time.Second
)

// Process is a child process as a [Stream], made by [Command]. The methods beyond
// Stream's may be called by any goroutine.
type Process struct {
	cmd    *exec.Cmd
	opts   CommandOptions
	linger time.Duration
	group  *group

	lines  *lines
	stdin  *os.File
	stdout *outlet
	stderr *stderr

	release func() // the pipes need no more room

	closing chan struct{} // closed when Close begins
	exited  chan struct{} // closed when the process has ended and exit is set
	done    chan struct{} // closed when nothing is left of its group either
	exit    *ExitError

	close    sync.Once
	closeErr error
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stderr returns the last part of what the process has written to its standard
// error, valid UTF-8 in any case.
func (p *Process) Stderr() string { return p.stderr.tail.String() }

// Written implements [ProgressWriter].
func (p *Process) Written() int64 { return p.lines.Written() }

// Done is closed when the process has ended and nothing is left of its group. It
// says nothing about what Read has yet to return.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exited is closed when the process itself has ended; others of its group may
// still be on their way.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Wait waits for Done. It returns nil for exit status 0 and otherwise an
// *[ExitError]. It does not make the process end, Close does.
func (p *Process) Wait() error {
	<-p.done
	if p.exit.Status == 0 {
		return nil
	}
	return p.exit
}

// Unchecked implements [TolerantReader]. The result is nil with CommandOptions.Strict.
func (p *Process) Unchecked() (noise func(line []byte)) { return p.lines.Unchecked() }

// Read implements [Stream]. When the process has ended, the error is an
// *[ExitError], which is also io.EOF if the status was 0.
func (p *Process) Read() ([]byte, error) {
	msg, err := p.lines.Read()
	if err == nil {
		return msg, nil
	}
	if _, ok := errors.AsType[*TooLargeError](err); ok {
		return nil, err
	}
	if exit := p.awaitExit(); exit != nil {
		return nil, exit
	}
	if isClosed(p.closing) {
		return nil, ErrClosed
	}
	return nil, err
}

// Write implements [Stream]. When the process has ended, the error wraps an
// *[ExitError].
func (p *Process) Write(msg []byte) error {
	one := [1][]byte{msg}
	return p.WriteBatch(one[:])
}

// WriteBatch implements [BatchWriter].
func (p *Process) WriteBatch(msgs [][]byte) error {
	err := p.lines.WriteBatch(msgs)
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*MessageError](err); ok {
		return err
	}
	if exit := p.awaitExit(); exit != nil {
		return fmt.Errorf("%w (%w)", exit, err)
	}
	if isClosed(p.closing) {
		return ErrClosed
	}
	return err
}

// awaitExit waits a moment for the exit status. It returns nil when there is
// none, or when Close is what ended the process.
func (p *Process) awaitExit() *ExitError {
	if isClosed(p.closing) {
		return nil
	}
	timer := time.NewTimer(p.linger + statusPatience)
	defer timer.Stop()
	select {
	case <-p.exited:
		return p.exit
	case <-p.closing:
	case <-timer.C:
	}
	return nil
}

// Close ends the process and returns when it and its group are gone: its
// standard input is closed, and if it does not end by itself within Grace, its
// group is asked to end (a stopped process is woken for that), and after
// TermGrace killed. What it still writes meanwhile is thrown away. Read and Write
// return at once. The error says that a process could not be ended.
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

// end carries out the steps of Close. When the process itself is gone, watch
// ends its group in the same way.
func (p *Process) end() error {
	if p.within(p.opts.Grace, p.exited) {
		if p.within(p.linger+p.opts.TermGrace+killPatience, p.done) {
			return nil
		}
		return p.stuck()
	}
	p.group.terminate()
	if p.within(p.opts.TermGrace, p.done) {
		return nil
	}
	p.group.kill()
	if p.within(p.linger+killPatience, p.done) {
		return nil
	}
	return p.stuck()
}

func (p *Process) stuck() error {
	return fmt.Errorf("stream: process %d or one it started could not be ended", p.PID())
}

func (p *Process) within(d time.Duration, done <-chan struct{}) bool {
	if d <= 0 {
		return isClosed(done)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// watch waits for the process, settles what Read and Wait report, and ends the
// rest of its group.
func (p *Process) watch() {
	_ = p.cmd.Wait() // the state says all; the pipes are not the command's
	ended := time.Now()
	p.stdin.Close() // nobody reads it who would answer
	p.stdout.finish(ended.Add(p.linger))
	left := p.group.reaped()
	if left {
		p.group.terminate()
	}
	if !p.within(p.linger, p.stderr.drained) {
		p.stderr.f.Close()
		p.within(statusPatience, p.stderr.drained) // unless the caller's writer blocks
	}
	p.exit = newExitError(p.cmd.ProcessState, p.stderr.tail.String())
	close(p.exited)
	if left {
		p.endGroup(ended.Add(p.opts.TermGrace))
	}
	p.group.close()
	p.release()
	close(p.done)
}

// endGroup waits for the group to vanish and kills it when the time is up.
func (p *Process) endGroup(deadline time.Time) {
	if !p.group.vanishes(deadline) {
		p.group.kill()
		p.group.vanishes(time.Now().Add(killPatience))
	}
}
