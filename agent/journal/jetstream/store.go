package jetstream

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/acpkit/go-sdk/agent/journal"
)

// Options configure [Open]. Node is required.
type Options struct {
	// Node is the name of this process, which no other that runs may have. It is the Holder of a
	// *journal.HeldError in the others, so it is best the address at which they reach this one.
	Node string

	// Name begins the names of the streams and of their subjects. The default is "acp".
	Name string

	// System is a connection to the system account of the servers. With it, Open refuses servers
	// that do not flush to the disk what they acknowledge. Nil means that this cannot be known, and Open logs what it assumes.
	System *nats.Conn

	// Logger receives what no caller is told. If it is nil, slog.Default() is used.
	Logger *slog.Logger

	lease     time.Duration // how long a heartbeat is valid; shorter in tests
	unchecked bool          // use streams of any settings; in tests
}

// Store is a journal.Store in JetStream.
type Store struct {
	opts            Options
	log             *slog.Logger
	js              jetstream.JetStream
	sessions, nodes jetstream.Stream
	epoch           string // names this Store in entries
	beaten          uint64 // the sequence of its last heartbeat
	work            sync.WaitGroup
	ctx             context.Context // of the goroutines, and of all that waits for the servers
	end             context.CancelCauseFunc

	mu      sync.Mutex
	serving bool            // sessions can be opened: there is a heartbeat, and the store is not being closed
	open    map[string]*log // by id
	stats   Stats
	index   journal.Index // the list of all sessions
	seen    uint64        // the sequence of the last message that is in it
}

var _ journal.Store = (*Store)(nil)

// Open connects to the sessions, and creates the streams if there are none. It returns when this process has a
// heartbeat, and fails if the servers do not give it within 30 seconds. The Store does not close conn, which
// must reconnect without end (nats.MaxReconnects(-1)) to survive a restart of the servers.
func Open(ctx context.Context, conn *nats.Conn, opts *Options) (*Store, error) {
	s := &Store{serving: true, open: make(map[string]*log), epoch: rand.Text(), opts: *cmp.Or(opts, new(Options))}
	o := &s.opts
	if o.Node == "" {
		return nil, errors.New("jetstream: Options.Node is empty: give each process a name of its own")
	}
	o.Name, o.lease, s.log = cmp.Or(o.Name, "acp"), cmp.Or(o.lease, 30*time.Second), cmp.Or(o.Logger, slog.Default())
	ctx, cancel := context.WithTimeoutCause(ctx, o.lease, errTooLate)
	defer cancel()
	if o.System == nil {
		s.log.Warn("whether the NATS servers flush what they acknowledge is not known: with sync_interval: always in their jetstream block, no loss of power loses it; with the default, a crash of one and a pause of another can")
	} else if err := durability(o.System); err != nil {
		return nil, err
	}
	var err error
	if s.js, err = jetstream.New(conn); err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	if err := s.useStreams(ctx); err != nil {
		return nil, err
	}
	until := time.Now().Add(o.lease)
	for err = journal.ErrClosed; errors.Is(err, journal.ErrClosed); { // this process takes the place of an earlier one of its name
		err = s.beat(ctx, isOpen)
	}
	if err != nil {
		return nil, err
	}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	s.work.Go(func() { s.renew(until) }) // ends with s.ctx
	s.work.Go(s.follow)                  // ends with s.ctx
	return s, nil
}

// within returns a context for waiting for the servers, which also ends with another one: that of the store or of a log.
func (s *Store) within(ctx, other context.Context) (context.Context, context.CancelFunc) {
	ctx, done := context.WithTimeoutCause(ctx, s.opts.lease, errTooLate)
	ctx, cancel := both(ctx, other)
	return ctx, func() { cancel(); done() }
}

// both returns a context that ends with the first of two, and with its cause.
func both(ctx, other context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return ctx, func() { stop(); cancel(nil) }
}

var errNotServing = fmt.Errorf("jetstream: the store is closed, or has no heartbeat until the servers answer: %w", journal.ErrClosed)

// Close closes the logs and ends the heartbeat, so that other processes can open the sessions at once. It takes no longer than
// 5 seconds for the logs. If ctx ends then, the others wait until the heartbeat is over.
func (s *Store) Close(ctx context.Context) error {
	var closing sync.WaitGroup
	for _, l := range s.serve(false) {
		closing.Go(func() { _ = l.Close() }) // ends after answerTime
	}
	closing.Wait()
	s.end(errNotServing)
	s.work.Wait()
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if err := s.beat(ctx, isClosed); err != nil {
		return fmt.Errorf("jetstream: others wait for the sessions until the heartbeat is over: %w", err)
	}
	return nil
}

// Stats counts what a Store has done, for an operator.
type Stats struct {
	Held      int   // sessions that are open here
	Appends   int64 // calls of Append
	Settled   int64 // messages that were stored though their acknowledgement was lost
	Repeated  int64 // messages that the servers refused because they had not finished an earlier one
	Races     int64 // sessions that another process opened, created or deleted first
	Fenced    int64 // logs that ended because another process had opened the session
	Takeovers int64 // sessions that were opened though their last holder had not closed them
}

// Stats returns the counts since Open.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Held = len(s.open)
	return s.stats
}

func (s *Store) count(one func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one(&s.stats)
}

var (
	errName = fmt.Errorf("jetstream: another process runs with the name of this one: give each a name of its own, and start this one again: %w", journal.ErrClosed)
	errOver = fmt.Errorf("jetstream: the heartbeat was over for the servers, by their clock, although this process has renewed it in time by its own: %w", journal.ErrClosed)
)

// beats returns where the heartbeats of a process are.
func (s *Store) beats(node string) subject {
	return subject{s.nodes, fmt.Sprintf("%s.node.%x", s.opts.Name, sha256.Sum256([]byte(node)))}
}

// beat puts a heartbeat of this process behind its last one. An error that wraps journal.ErrClosed means that this was not the last of its
// name any more; the next one then is put behind that which is.
func (s *Store) beat(ctx context.Context, state state) error {
	for {
		e := entry{seq: s.beaten, State: state}
		err := s.put(ctx, s.beats(s.opts.Node), &e, nil)
		s.beaten = e.seq
		switch {
		case !errors.Is(err, errTaken):
			return err
		case e.Epoch == s.epoch: // its acknowledgement did not come in time
		case e.State == isOpen:
			return errName
		default:
			return errOver
		}
	}
}

// renew renews the heartbeat, which is valid until a time. When that fails until then, the logs end, and none can be
// opened until there is a heartbeat again. It ends with s.ctx, also when another process has the name of this one.
func (s *Store) renew(until time.Time) {
	pause := time.NewTicker(s.opts.lease / 6)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
		case <-s.ctx.Done():
			return
		}
		next := time.Now().Add(s.opts.lease) // the servers have it later, so it is over there no earlier
		ctx, cancel := context.WithDeadlineCause(s.ctx, until, errTooLate)
		err := s.beat(ctx, isOpen)
		cancel()
		switch {
		case s.ctx.Err() != nil:
			return
		case err != nil && !errors.Is(err, journal.ErrClosed) && time.Now().Before(until): // the servers have no room
			continue
		}
		until = next
		open := s.serve(err == nil)
		if err != nil {
			s.log.Error("this process has no heartbeat, so others may have its sessions, and they are closed here", "node", s.opts.Node, "error", err)
			for _, l := range open {
				l.end(err)
			}
		}
		if errors.Is(err, errName) {
			s.end(err)
		}
	}
}

// serve sets whether sessions can be opened. It returns those that are open.
func (s *Store) serve(on bool) []*log {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serving = on
	return slices.Collect(maps.Values(s.open))
}
