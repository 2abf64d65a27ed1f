package supervise

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
)

// SessionOptions describe the session to open. All of them are sent each time the session
// is reopened.
type SessionOptions struct {
	// ID is the id of a session that the agent has stored. Empty means a new session.
	ID acp.SessionID
	// Cwd and AdditionalDirectories are its folders, absolute paths.
	Cwd                   string
	AdditionalDirectories []string
	MCPServers            []acp.MCPServer
	// SystemPrompt extends or replaces that of the agent, if the agent advertises that. It is
	// sent each time the session is opened.
	SystemPrompt *acp.SystemPrompt
	// OnUpdate gets the updates outside a turn, on every connection; see
	// client.Session.OnUpdate. The history of a session that is loaded again is among them; a
	// thread.Set separates it, if it is around Options.Client and in Options.Conn.
	OnUpdate func(ctx context.Context, u acp.SessionUpdate)
}

// Session is a session that outlives connections. All methods are safe for concurrent
// use. The pointer to a Session does not change and can serve as a key. The calls during which
// the agent dies fail with acp.ErrClosed; later ones wait for the next agent.
type Session struct {
	supervisor *Supervisor
	opts       SessionOptions
	reopening  chan struct{} // holds a token while the session is being opened

	// Supervisor.mu guards the fields below.
	id       acp.SessionID
	how      How
	bound    *binding // nil while the session is not open
	err      error    // why it could not be opened on this connection
	settings []setting
	closed   bool
}

// binding is the session on one connection.
type binding struct {
	conn    *client.Conn
	session *client.Session
	how     How
}

// Open opens a session. If opts.ID is set the session is resumed or loaded, whichever the
// agent can do; it is an error if the agent does not know it. While the agent is not
// running, Open waits until ctx is done.
func (s *Supervisor) Open(ctx context.Context, opts *SessionOptions) (*Session, error) {
	x := &Session{supervisor: s, reopening: make(chan struct{}, 1)}
	if opts != nil {
		x.opts = *opts
	}
	x.opts.AdditionalDirectories = slices.Clone(x.opts.AdditionalDirectories)
	x.opts.MCPServers = slices.Clone(x.opts.MCPServers)
	conn, err := s.Conn(ctx)
	if err != nil {
		return nil, err
	}
	var b *binding
	if x.opts.ID == "" {
		b, err = x.start(ctx, conn)
	} else {
		b, err = x.continued(ctx, conn, x.opts.ID)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	x.id, x.how = b.session.ID(), b.how
	s.sessions = append(s.sessions, x)
	current := s.conn
	if current == conn {
		x.bound = b
	}
	s.mu.Unlock()
	if current != conn && current != nil { // the agent was started again meanwhile
		x.reopen(ctx, current)
	}
	return x, nil
}

// ID returns the id that the session has now, or had last.
func (x *Session) ID() acp.SessionID {
	x.supervisor.mu.Lock()
	defer x.supervisor.mu.Unlock()
	return x.id
}

// How returns the way in which the session was opened last. After [Session.Current] it is that of the current connection.
func (x *Session) How() How {
	x.supervisor.mu.Lock()
	defer x.supervisor.mu.Unlock()
	return x.how
}

// Current returns the session on the current connection. While the agent is not running,
// Current waits until ctx is done. It is an error if the session could not be reopened on
// the current connection, or if the Supervisor has ended.
func (x *Session) Current(ctx context.Context) (current *client.Session, err error) {
	s := x.supervisor
	err = s.await(ctx, func() (ok bool, err error) {
		switch b := x.bound; {
		case x.closed:
			return false, client.ErrSessionClosed
		case x.err != nil && s.err == nil:
			return false, x.err
		case b != nil && s.liveLocked() == b.conn:
			current = b.session
		}
		return current != nil, nil
	})
	return current, err
}

// Prompt sends a prompt, once, and returns its turn. If the agent dies, the turn fails and
// the prompt is not sent again. While the agent is not running, Prompt waits. It returns an
// error if nothing was sent: [acp.ErrTurnRunning] if another turn of the session is in flight.
func (x *Session) Prompt(ctx context.Context, blocks ...acp.ContentBlock) (*client.Turn, error) {
	current, err := x.Current(ctx)
	if err != nil {
		return nil, err
	}
	turn := current.Prompt(ctx, blocks...)
	select {
	case <-turn.Done():
		if _, err := turn.Wait(); errors.Is(err, acp.ErrTurnRunning) || errors.Is(err, client.ErrSessionClosed) {
			return nil, err
		}
	default:
	}
	return turn, nil
}

// Cancel asks the agent to end the turns of the session. While the agent is not running
// there are none.
func (x *Session) Cancel(ctx context.Context) error {
	x.supervisor.mu.Lock()
	b := x.bound
	x.supervisor.mu.Unlock()
	if b == nil {
		return nil
	}
	return b.session.Cancel(ctx)
}

// Close closes the session, if the agent can do that. The session is no longer reopened.
func (x *Session) Close(ctx context.Context) error {
	s := x.supervisor
	s.mu.Lock()
	b := x.bound
	x.bound, x.closed = nil, true
	s.sessions = slices.DeleteFunc(s.sessions, func(y *Session) bool { return y == x })
	s.announce()
	s.mu.Unlock()
	if b == nil {
		return nil
	}
	err := b.session.Close(ctx)
	if _, ok := errors.AsType[*acp.CapabilityError](err); ok {
		return nil
	}
	return err
}

// Retry tries again to reopen a session that could not be reopened, for example after the
// user has signed in. It returns nil if the session is open.
func (x *Session) Retry(ctx context.Context) error {
	conn, err := x.supervisor.Conn(ctx)
	if err != nil {
		return err
	}
	x.reopen(ctx, conn)
	_, err = x.Current(ctx)
	return err
}

// setting is a mode or an option that the user has set.
type setting struct {
	name  string
	set   func(context.Context, *client.Session) error
	holds func(*client.Session) bool // the session already has the value
}

// SetMode changes the mode of the session. The mode is set again when the session is
// reopened.
func (x *Session) SetMode(ctx context.Context, id acp.SessionModeID) error {
	return x.change(ctx, setting{
		name: "mode",
		set:  func(ctx context.Context, s *client.Session) error { return s.SetMode(ctx, id) },
		holds: func(s *client.Session) bool {
			modes := s.Modes()
			return modes != nil && modes.CurrentModeID == id
		},
	})
}

// SetConfigOption changes an option of the session. The option is set again when the
// session is reopened.
func (x *Session) SetConfigOption(ctx context.Context, id acp.SessionConfigID, value acp.SessionConfigValueID) error {
	return x.change(ctx, setting{
		name: fmt.Sprintf("option %q", id),
		set:  func(ctx context.Context, s *client.Session) error { return s.SetConfigOption(ctx, id, value) },
		holds: func(s *client.Session) bool {
			k, ok := kindOf(s, id).(*acp.SessionConfigSelect)
			return ok && k.CurrentValue == value
		},
	})
}

// SetConfigOptionBool changes a boolean option of the session. The option is set again
// when the session is reopened.
func (x *Session) SetConfigOptionBool(ctx context.Context, id acp.SessionConfigID, on bool) error {
	return x.change(ctx, setting{
		name: fmt.Sprintf("option %q", id),
		set:  func(ctx context.Context, s *client.Session) error { return s.SetConfigOptionBool(ctx, id, on) },
		holds: func(s *client.Session) bool {
			k, ok := kindOf(s, id).(*acp.SessionConfigBoolean)
			return ok && k.CurrentValue == on
		},
	})
}

func kindOf(s *client.Session, id acp.SessionConfigID) any {
	for _, o := range s.ConfigOptions() {
		if o.ID == id {
			return o.Kind
		}
	}
	return nil
}

func (x *Session) change(ctx context.Context, n setting) error {
	current, err := x.Current(ctx)
	if err != nil {
		return err
	}
	if err := n.set(ctx, current); err != nil {
		return err
	}
	x.supervisor.mu.Lock()
	defer x.supervisor.mu.Unlock()
	x.settings = append(slices.DeleteFunc(x.settings, func(old setting) bool { return old.name == n.name }), n)
	return nil
}

// setAgain sets what the session has lost, in the order in which the user set it.
func (x *Session) setAgain(ctx context.Context, s *client.Session) error {
	x.supervisor.mu.Lock()
	settings := slices.Clone(x.settings)
	x.supervisor.mu.Unlock()
	var errs []error
	for _, n := range settings {
		if n.holds(s) {
			continue
		}
		if err := n.set(ctx, s); err != nil {
			errs = append(errs, fmt.Errorf("setting the %s again: %w", n.name, err))
		}
	}
	return errors.Join(errs...)
}
