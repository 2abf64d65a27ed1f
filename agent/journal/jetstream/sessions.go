package jetstream

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/agent/journal"
)

// session returns where the entries of a session are.
func (s *Store) session(id string) subject {
	return subject{s.sessions, fmt.Sprintf("%s.session.%x", s.opts.Name, sha256.Sum256([]byte(id)))}
}

// all is the subjects of all sessions.
func (s *Store) all() subject { return subject{s.sessions, s.opts.Name + ".session.*"} }

// change puts an entry behind the last one of a subject, which next returns for that. It begins again if another
// process was faster.
func (s *Store) change(ctx context.Context, of subject, next func(ctx context.Context, last at) (*entry, error)) (at, error) {
	for {
		last, err := s.last(ctx, of)
		if err != nil {
			return at{}, err
		}
		e, err := next(ctx, last)
		if err != nil {
			return at{}, err
		}
		seq, err := s.put(ctx, of, last.seq, e, nil)
		if !errors.Is(err, errTaken) {
			return at{e, seq}, err
		}
		s.count(func(n *Stats) { n.Races++ })
	}
}

// begin changes a session, and returns its log. No other call of this store has the session meanwhile.
func (s *Store) begin(ctx context.Context, id string, next func(ctx context.Context, l *log, last at) (*entry, error)) (journal.Log, error) {
	l := &log{store: s, id: id, subject: s.session(id)}
	l.ctx, l.lose = context.WithCancelCause(s.ctx)
	l.slow.Lock()
	defer l.slow.Unlock()
	err := context.Cause(ctx)
	if err == nil {
		err = s.reserve(l)
	}
	if err != nil {
		l.lose(err)
		return nil, err
	}
	ctx, cancel := s.within(ctx)
	defer cancel()
	now, err := s.change(ctx, l.subject, func(ctx context.Context, last at) (*entry, error) { return next(ctx, l, last) })
	if err == nil {
		l.last.Store(&now)
		err = context.Cause(l.ctx) // the heartbeat may be lost meanwhile, or the store closed
	}
	if err != nil {
		l.end(err)
		return nil, err
	}
	return l, nil
}

func (s *Store) reserve(l *log) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.serving {
		return cmp.Or(context.Cause(s.ctx), errNotServing)
	}
	if s.open[l.id] != nil {
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
	return s.begin(ctx, id, func(_ context.Context, _ *log, last at) (*entry, error) {
		if last.exists() {
			return nil, journal.ErrExists
		}
		return &entry{State: isOpen, Meta: meta}, nil
	})
}

// Open implements journal.Store. It takes a session whose holder has no heartbeat any more.
func (s *Store) Open(ctx context.Context, id string) (journal.Log, error) {
	taken := false
	l, err := s.begin(ctx, id, func(ctx context.Context, l *log, last at) (*entry, error) {
		if err := s.free(ctx, id, last); err != nil {
			return nil, err
		}
		e := *last.entry
		taken, e.State = e.State == isOpen, isOpen
		return &e, l.inspect(ctx, last)
	})
	if err == nil && taken {
		s.count(func(n *Stats) { n.Takeovers++ })
	}
	return l, err
}

// free returns an error if a session does not exist, or is held.
func (s *Store) free(ctx context.Context, id string, last at) error {
	if !last.exists() {
		return journal.ErrNotFound
	}
	if last.State == isClosed || last.Epoch == s.epoch { // of which the store has no log, so it was lost or could not be closed
		return nil
	}
	beat, err := s.last(ctx, s.beats(last.Node))
	if err == nil && beat.entry != nil && beat.State == isOpen && beat.Epoch == last.Epoch {
		err = &journal.HeldError{ID: id, Holder: last.Node}
	}
	return err
}

// Meta implements journal.Store.
func (s *Store) Meta(ctx context.Context, id string) (journal.Meta, error) {
	ctx, cancel := s.within(ctx)
	defer cancel()
	last, err := s.last(ctx, s.session(id))
	if err == nil && !last.exists() {
		err = journal.ErrNotFound
	}
	if err != nil {
		return journal.Meta{}, err
	}
	return last.Meta, nil
}

// graveTime is how long the servers keep the note that a session was deleted, for the lists of processes that are
// not connected.
const graveTime = "24h"

// Delete implements journal.Store. The servers remove the session with the message that deletes it, so it is deleted or
// complete, whenever a process dies.
func (s *Store) Delete(ctx context.Context, id string) error {
	l, err := s.begin(ctx, id, func(ctx context.Context, _ *log, last at) (*entry, error) {
		return &entry{State: isDeleted, Meta: journal.Meta{ID: id}}, s.free(ctx, id, last)
	})
	if err == nil {
		l.(*log).end(journal.ErrClosed)
	} else if errors.Is(err, journal.ErrNotFound) {
		err = nil
	}
	return err
}
