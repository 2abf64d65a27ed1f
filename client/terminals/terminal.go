package terminals

import (
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
)

// killPatience is how long the end of a command that was killed is waited for.
const killPatience = 5 * time.Second

// terminal is a command that runs or has run.
type terminal struct {
	id      acp.TerminalID
	session acp.SessionID
	output  tail
	grace   time.Duration
	process Process

	stopped  chan struct{} // closed by stop
	stopOnce sync.Once
	exited   chan struct{} // closed when the command has ended and status is set
	done     chan struct{} // closed when nothing is left of it
	status   acp.TerminalExitStatus
}

func newTerminal(c *Command, grace time.Duration, limit int) *terminal {
	return &terminal{
		id: c.Terminal, session: c.Session, output: tail{limit: limit}, grace: grace,
		stopped: make(chan struct{}), exited: make(chan struct{}), done: make(chan struct{}),
	}
}

// stop makes the command end.
func (t *terminal) stop() { t.stopOnce.Do(func() { close(t.stopped) }) }

func (t *terminal) hasExited() bool { return isClosed(t.exited) }

// run returns when nothing is left of the command.
func (t *terminal) run() {
	defer close(t.done)
	go t.end() // ends with the command
	t.status = t.process.Wait()
	close(t.exited)
	t.process.Close()
}

// end ends the command when it is asked to.
func (t *terminal) end() {
	select {
	case <-t.exited:
		return
	case <-t.stopped:
	}
	t.process.Terminate()
	if !within(t.grace, t.exited) {
		t.process.Kill()
	}
}

// awaitEnd waits for the end of a command that was stopped.
func (t *terminal) awaitEnd() { within(2*max(t.grace, 0)+2*killPatience, t.done) }

// sink takes what a command prints.
type sink struct {
	term *terminal
	hook func(Output)
}

// Write implements io.Writer.
func (s *sink) Write(p []byte) (int, error) {
	n, err := s.term.output.Write(p)
	if s.hook != nil {
		s.hook(Output{Session: s.term.session, Terminal: s.term.id, Data: p})
	}
	return n, err
}

func within(d time.Duration, done <-chan struct{}) bool {
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

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
