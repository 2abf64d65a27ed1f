package jetstream

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/acpkit/go-sdk/agent/journal"
)

// session returns where the entries of a session are.
func (s *Store) session(id string) subject {
	return subject{s.sessions, fmt.Sprintf("%s.session.%x", s.opts.Name, sha256.Sum256([]byte(id)))}
}

// all is the subjects of all sessions.
func (s *Store) all() subject { return subject{s.sessions, s.opts.Name + ".session.*"} }

// begin opens the log of a session with the last entry as next changes it, again if another process was faster. No other call
// of this store has the session meanwhile.
func (s *Store) begin(ctx context.Context, id string, next func(ctx context.Context, l *log, e *entry) error) (journal.Log, error) {
	l := &log{store: s, id: id, subject: s.session(id)}
	l.ctx, l.lose = context.WithCancelCause(s.ctx)
	l.slow.Lock()
	defer l.slow.Unlock()
	err := s.reserve(ctx, l)
	ctx, cancel := s.within(ctx, l.ctx)
	defer cancel()
	var e entry
	if err == nil {
		e, err = s.last(ctx, l.subject)
	}
	for again := true; err == nil && again; {
		if err = next(ctx, l, &e); err == nil {
			err = s.put(ctx, l.subject, &e, nil)
		}
		if again = errors.Is(err, errTaken); again {
			s.count(func(n *Stats) { n.Races++ })
			err = nil
		}
	}
	if err == nil {
		l.last.Store(&e)
		err = context.Cause(l.ctx) // the heartbeat may be lost meanwhile, or the store closed
	}
	if err != nil {
		l.end(err)
		return nil, err
	}
	return l, nil
}

func (s *Store) reserve(ctx context.Context, l *log) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !s.serving:
		return cmp.Or(context.Cause(s.ctx), errNotServing)
	case s.open[l.id] != nil:
		return &journal.HeldError{ID: l.id, Holder: s.opts.Node}
	}
	s.open[l.id] = l
	return nil
}

// Create implements journal.Store.
func (s *Store) Create(ctx context.Context, id string, meta journal.Meta) (journal.Log, error) {
	meta, err := meta.Begin(id)
	if err != nil {
		return nil, err
	}
	return s.begin(ctx, id, func(_ context.Context, _ *log, e *entry) error {
		if e.exists() {
			return journal.ErrExists
		}
		*e = entry{seq: e.seq, State: isOpen, Meta: meta}
		return nil
	})
}

// Open implements journal.Store. It takes a session whose holder has no heartbeat any more.
func (s *Store) Open(ctx context.Context, id string) (journal.Log, error) {
	taken := false
	l, err := s.begin(ctx, id, func(ctx context.Context, l *log, e *entry) error {
		if err := s.free(ctx, id, e); err != nil {
			return err
		}
		taken, e.State = e.State == isOpen, isOpen
		return l.inspect(ctx, e)
	})
	if err == nil && taken {
		s.count(func(n *Stats) { n.Takeovers++ })
	}
	return l, err
}

// free returns an error if a session does not exist, or is held.
func (s *Store) free(ctx context.Context, id string, last *entry) error {
	if !last.exists() {
		return journal.ErrNotFound
	}
	if last.State == isClosed || last.Epoch == s.epoch { // of which the store has no log, so it was lost or could not be closed
		return nil
	}
	beat, err := s.last(ctx, s.beats(last.Node))
	if err == nil && beat.State == isOpen && beat.Epoch == last.Epoch {
		err = &journal.HeldError{ID: id, Holder: last.Node}
	}
	return err
}

// Meta implements journal.Store.
func (s *Store) Meta(ctx context.Context, id string) (journal.Meta, error) {
	ctx, cancel := s.within(ctx, s.ctx)
	defer cancel()
	last, err := s.last(ctx, s.session(id))
	if err == nil && !last.exists() {
		err = journal.ErrNotFound
	}
	return last.Meta, err
}

// graveTime is how long the servers keep the note that a session was deleted, for the lists of processes that are
// not connected.
const graveTime = "24h"

// Delete implements journal.Store. The servers remove the session with the message that deletes it, so it is deleted or
// complete, whenever a process dies.
func (s *Store) Delete(ctx context.Context, id string) error {
	l, err := s.begin(ctx, id, func(ctx context.Context, _ *log, e *entry) error {
		err := s.free(ctx, id, e)
		*e = entry{seq: e.seq, State: isDeleted, Meta: journal.Meta{ID: id}}
		return err
	})
	if err == nil {
		l.(*log).end(journal.ErrClosed)
	} else if errors.Is(err, journal.ErrNotFound) {
		err = nil
	}
	return err
}

// read calls each for messages of the sessions, in the order of the stream, until each is done. It reads from any replica, and
// goes on at another one if that dies.
func (s *Store) read(ctx context.Context, which jetstream.ConsumerConfig, each func(m jetstream.Msg, seq uint64) (done bool, err error)) error {
	which.AckPolicy, which.MemoryStorage, which.Replicas, which.InactiveThreshold = jetstream.AckNonePolicy, true, 1, 30*time.Second
	return retry(ctx, func(asked context.Context) (bool, error) {
		consumer, err := s.sessions.CreateConsumer(asked, which)
		if err != nil {
			return false, err
		}
		messages, err := consumer.Messages(jetstream.PullExpiry(4*time.Second), jetstream.PullHeartbeat(time.Second))
		if err != nil {
			return false, err
		}
		defer messages.Stop()
		for n := uint64(1); ; n++ {
			m, err := messages.Next(jetstream.NextContext(ctx))
			if err != nil {
				return false, err
			}
			at, err := m.Metadata()
			if err == nil && at.Sequence.Consumer != n {
				err = errors.New("a message was not delivered")
			}
			if err != nil {
				return false, err
			}
			which.DeliverPolicy, which.OptStartSeq = jetstream.DeliverByStartSequencePolicy, at.Sequence.Stream+1
			if done, err := each(m, at.Sequence.Stream); done || err != nil {
				return true, err
			}
		}
	})
}

// follow keeps the list of all sessions in memory. It ends with s.ctx.
func (s *Store) follow() {
	which := jetstream.ConsumerConfig{FilterSubject: s.all().name, DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, HeadersOnly: true}
	_ = s.read(s.ctx, which, func(m jetstream.Msg, seq uint64) (bool, error) {
		e, err := decodeEntry(m.Headers(), seq)
		if err != nil {
			s.log.Warn("a message in the stream of the sessions is ignored", "sequence", seq, "error", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.seen = seq; e.State == isDeleted {
			s.index.Drop(e.Meta.ID)
		} else if e.exists() {
			s.index.Put(e.Meta.ID, e.Meta)
		}
		return false, nil
	})
}

// List implements journal.Store. It asks the servers for the last message, and waits until the list in memory has it.
func (s *Store) List(ctx context.Context, q journal.Query) (page []journal.Meta, next string, err error) {
	ctx, cancel := s.within(ctx, s.ctx)
	defer cancel()
	last, err := s.last(ctx, s.all())
	if err == nil {
		err = retry(ctx, func(context.Context) (bool, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.seen < last.seq {
				return false, errors.New("the list is behind the stream")
			}
			page, next, err = s.index.Page(q)
			return true, err
		})
	}
	if err != nil {
		return nil, "", fmt.Errorf("jetstream: the sessions cannot be listed: %w", err)
	}
	return page, next, nil
}
