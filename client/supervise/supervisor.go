package supervise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
)

// Supervisor keeps one agent running. All methods are safe for concurrent use.
type Supervisor struct {
	opts    Options
	running sync.WaitGroup // counts Start, and the goroutines of run and reopen

	mu       sync.Mutex // guards the fields below
	started  bool
	stop     context.CancelCauseFunc
	life     context.Context
	conn     *client.Conn // nil while there is no connection
	signIn   *signIn      // belongs to conn
	sessions []*Session
	err      error         // why the Supervisor has ended
	changed  chan struct{} // closed at each change that Conn and Session wait for
}

// signIn is the attempt to sign the user in on one connection.
type signIn struct {
	once sync.Once
	err  error
}

// New returns a Supervisor. It starts nothing.
func New(opts *Options) *Supervisor {
	s := &Supervisor{changed: make(chan struct{})}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.OnDown == nil {
		s.opts.OnDown = func(Down) {}
	}
	if s.opts.OnReturn == nil {
		s.opts.OnReturn = func(Return) {}
	}
	s.opts.Restart.fill()
	if s.opts.Handshake <= 0 {
		s.opts.Handshake = time.Minute
	}
	var conn client.Options
	if s.opts.Conn != nil {
		conn = *s.opts.Conn
	}
	conn.Handshake = cmp.Or(conn.Handshake, s.opts.Handshake)
	s.opts.Conn = &conn
	return s
}

// Start starts the agent and waits for its handshake. If that fails, Start returns the
// error at once: an agent that never worked is not started again. If it takes too long to end,
// Start does not wait for it longer than Options.Handshake; [Supervisor.Wait] does.
// The Supervisor, and each connection that it makes, lives until ctx is done or Close is called: to
// end turns before, cancel them and call Close.
func (s *Supervisor) Start(ctx context.Context) error {
	if s.opts.Dial == nil || s.opts.Client == nil {
		return errors.New("supervise: Options.Dial and Options.Client must be set")
	}
	s.mu.Lock()
	if s.started {
		s.mu.Unlock()
		return errStarted
	}
	s.started = true
	if s.err != nil {
		defer s.mu.Unlock()
		return s.err
	}
	s.life, s.stop = context.WithCancelCause(ctx)
	s.running.Add(1)
	defer s.running.Done()
	s.mu.Unlock()
	conn, err := s.dial(true)
	if err != nil {
		err = fmt.Errorf("supervise: starting the agent: %w", err)
		s.end(err)
		return err
	}
	s.up(conn)
	s.running.Go(func() { s.run(conn) }) // ends with s.life, or when it stops restarting
	return nil
}

// Wait returns when the Supervisor and all that it started have ended. It returns nil after
// Close, context.Cause after the end of Start's ctx, and an error that wraps [ErrGaveUp] if
// the agent failed too often in a row.
func (s *Supervisor) Wait() error {
	s.mu.Lock()
	started := s.started
	s.mu.Unlock()
	if !started {
		return errNotStarted
	}
	s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(s.err, ErrClosed) {
		return nil
	}
	return s.err
}

// Close ends the connection and with it the agent. It may be called any number of times and
// does not wait; Wait does.
func (s *Supervisor) Close() error {
	s.end(ErrClosed)
	return nil
}

func (s *Supervisor) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	s.conn = nil
	if s.stop != nil {
		s.stop(s.err)
	}
	s.announce()
}

// announce wakes the goroutines that wait for a change.
func (s *Supervisor) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Conn returns the current connection. While the agent is not running, Conn waits until ctx
// is done or the Supervisor has ended.
func (s *Supervisor) Conn(ctx context.Context) (conn *client.Conn, err error) {
	err = s.await(ctx, func() (ok bool, err error) {
		if !s.started && s.err == nil {
			return false, errNotStarted
		}
		conn = s.liveLocked()
		return conn != nil, nil
	})
	return conn, err
}

// await calls check, with s.mu held, at each change until it reports true or an error. The
// error is that of check, of the Supervisor if it has ended, or of ctx.
func (s *Supervisor) await(ctx context.Context, check func() (ok bool, err error)) error {
	for {
		s.mu.Lock()
		ok, err := check()
		if err == nil {
			err = s.err
		}
		changed := s.changed
		s.mu.Unlock()
		if ok || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// liveLocked returns the current connection. It returns nil from the moment that connection begins
// to end.
func (s *Supervisor) liveLocked() *client.Conn {
	if s.conn != nil {
		select {
		case <-s.conn.Ending():
			return nil
		default:
		}
	}
	return s.conn
}

// dial makes a connection that is ready for sessions. If that fails, it waits until the agent has
// ended. The first time, all of this is limited by Handshake.
func (s *Supervisor) dial(first bool) (*client.Conn, error) {
	ctx, cancel := context.WithTimeout(s.life, s.opts.Handshake)
	defer cancel()
	wire, err := s.opts.Dial(ctx)
	if err != nil {
		return nil, err
	}
	conn := client.New(wire, s.opts.Client, s.opts.Conn)
	err = conn.Start(s.life)
	if err == nil {
		_, err = conn.Initialize(s.life, s.opts.Initialize) // limited by Conn.Handshake, whose error names the time
	}
	if err == nil {
		return conn, nil
	}
	over := make(chan error, 1)
	s.running.Go(func() { // ends with the agent, which is killed after the grace
		conn.Close()
		over <- conn.Wait()
	})
	var late <-chan struct{}
	if first {
		late = ctx.Done()
	}
	select {
	case why := <-over:
		if why != nil && errors.Is(err, acp.ErrClosed) {
			err = &unstartedError{why, err}
		}
	case <-late:
	}
	return nil, err
}

// unstartedError is the error of an agent that has ended during its handshake: why its connection has
// ended, which has more details, and the error of initialize.
type unstartedError struct {
	error
	initialize error
}

func (e *unstartedError) Unwrap() []error { return []error{e.error, e.initialize} }

func (s *Supervisor) up(conn *client.Conn) (sessions []*Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.conn, s.signIn = conn, &signIn{}
	}
	s.announce()
	return slices.Clone(s.sessions)
}

func (s *Supervisor) down() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = nil
	for _, session := range s.sessions {
		session.bound, session.err = nil, nil
	}
	s.announce()
}

// run restarts the agent each time it dies.
func (s *Supervisor) run(conn *client.Conn) {
	failures, since := 0, time.Now()
	for {
		<-conn.Ending()
		s.down()
		<-conn.Done()
		conn.Close()
		err := conn.Wait()
		if s.ended() {
			return
		}
		if time.Since(since) >= longLife {
			failures = 0
		}
		failures++
		s.opts.OnDown(Down{Err: err, Failures: failures})
		if conn = s.redial(&failures, err); conn == nil {
			return
		}
		since = time.Now()
		current := conn // conn changes when the agent dies again
		for _, session := range s.up(conn) {
			s.running.Go(func() { session.reopen(s.life, current) }) // ends with current, at the latest
		}
	}
}

// redial starts the agent until that succeeds. It returns nil if the Supervisor has ended.
func (s *Supervisor) redial(failures *int, err error) *client.Conn {
	for {
		if r := s.opts.Restart; r.Limit >= 0 && *failures > r.Limit {
			if err == nil {
				err = errors.New("the agent closed the connection")
			}
			s.end(fmt.Errorf("%w: %w", ErrGaveUp, err))
			return nil
		}
		select {
		case <-time.After(s.opts.Restart.pause(*failures)):
		case <-s.life.Done():
		}
		if s.ended() {
			return nil
		}
		conn, failed := s.dial(false)
		if failed == nil {
			return conn
		}
		err = failed
		*failures++
	}
}

// ended reports whether the Supervisor has ended, and ends it if its ctx is done.
func (s *Supervisor) ended() bool {
	if s.life.Err() != nil {
		s.end(context.Cause(s.life))
		return true
	}
	return false
}
