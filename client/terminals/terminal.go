package terminals

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/command"
	"github.com/acpkit/go-sdk/internal/process"
	"github.com/acpkit/go-sdk/internal/termview"
)

// terminal is a command that runs or has run.
type terminal struct {
	id      acp.TerminalID
	session acp.SessionID
	part    *Terminals
	of      *session
	output  process.Tail
	grace   time.Duration
	line    string // the command line and the folder
	cwd     string
	view    func(termview.Update)
	process Process // set once the command has started

	stopped context.Context // done once stop was called
	stop    func()          // ends the command; may be called again
	exited  chan struct{}   // closed when the command has ended and status is set
	done    chan struct{}   // closed when its group is empty
	status  acp.TerminalExitStatus

	released bool // it counts in of.released; guarded by Pool.mu
}

func newTerminal(t *Terminals, s *session, c *Command, limit int) *terminal {
	term := &terminal{
		id: c.Terminal, session: c.Session, part: t, of: s, output: process.Tail{Limit: limit}, grace: t.pool.opts.Grace,
		line: strings.Join(c.Argv, " "), cwd: c.Cwd,
		exited: make(chan struct{}), done: make(chan struct{}),
	}
	term.stopped, term.stop = context.WithCancel(context.Background())
	return term
}

func (t *terminal) run(out *sink) {
	go t.end() // ends with the command
	t.status = t.process.Wait()
	out.close()
	last := t.update()
	last.Exit = &t.status
	t.view(last)
	close(t.exited)
	t.process.Close()
	t.forget()
}

func (t *terminal) update() termview.Update {
	return termview.Update{ID: t.id, Command: t.line, Cwd: t.cwd, Stop: t.stop}
}

// end waits until the command must end, and ends it.
func (t *terminal) end() {
	select {
	case <-t.exited:
		return
	case <-t.stopped.Done():
	}
	t.process.Terminate()
	if !command.Within(t.grace, t.exited) {
		t.process.Kill()
	}
}

// forget is called when the command and its group have ended, or if it was not started.
func (t *terminal) forget() {
	p := t.part.pool
	p.mu.Lock()
	delete(p.running, t)
	if t.released {
		t.of.released--
	}
	p.mu.Unlock()
	close(t.done)
}

// sink receives the output of a command until the end of the output is reported. A process that is
// left may hold the pipe for longer.
type sink struct {
	term *terminal
	hook func(Output)

	mu     sync.Mutex // guards closed; held during a Write
	closed bool
}

func (s *sink) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, os.ErrClosed
	}
	n, err := s.term.output.Write(p)
	more := s.term.update()
	more.Output = p
	s.term.view(more)
	if s.hook != nil {
		s.hook(Output{Session: s.term.session, Terminal: s.term.id, Data: p})
	}
	return n, err
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
