package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/acpkit/go-sdk/agent/journal"
)

// database is what a program has already. To lock it is to begin a transaction.
type database struct {
	sync.Mutex
	sessions map[string]*session
}

// session is a row of the table of sessions, with the rows of its records.
type session struct {
	meta    journal.Meta
	records [][]byte       // by number, from 1 on
	last    journal.Record // without its data
	writer  *tableLog      // nil if no log is open; a database has locks for it, which end with their process
}

// tableStore is the journal.Store of one process. Others may use the same database.
type tableStore struct {
	*database
	list *journal.Index
}

func (s *tableStore) Create(ctx context.Context, id string, m journal.Meta) (journal.Log, error) {
	m, err := m.Begin(id)
	if err = errors.Join(ctx.Err(), err); err != nil {
		return nil, err
	}
	s.Lock()
	defer s.Unlock()
	if s.sessions[id] != nil {
		return nil, journal.ErrExists
	}
	s.sessions[id] = &session{meta: m}
	return s.open(id), nil
}

func (s *tableStore) open(id string) *tableLog {
	l := &tableLog{s.database, s.sessions[id]}
	l.writer = l
	return l
}

func (s *tableStore) Open(ctx context.Context, id string) (l journal.Log, err error) {
	err = s.whenFree(ctx, id, func() { l = s.open(id) })
	return l, err
}

func (s *tableStore) whenFree(ctx context.Context, id string, f func()) error {
	s.Lock()
	defer s.Unlock()
	switch now := s.sessions[id]; {
	case ctx.Err() != nil:
		return ctx.Err()
	case now == nil:
		return journal.ErrNotFound
	case now.writer != nil:
		return &journal.HeldError{ID: id}
	}
	f()
	return nil
}

func (s *tableStore) Meta(ctx context.Context, id string) (journal.Meta, error) {
	s.Lock()
	defer s.Unlock()
	if now := s.sessions[id]; now != nil {
		return now.meta.Clone(), ctx.Err()
	}
	return journal.Meta{}, errors.Join(ctx.Err(), journal.ErrNotFound)
}

func (s *tableStore) Delete(ctx context.Context, id string) error {
	err := s.whenFree(ctx, id, func() { delete(s.sessions, id) })
	if errors.Is(err, journal.ErrNotFound) {
		return nil
	}
	return err
}

// List reads the table for a first page, and not for the pages after it: a session that changes meanwhile keeps its
// place.
func (s *tableStore) List(ctx context.Context, q journal.Query) ([]journal.Meta, string, error) {
	s.Lock()
	defer s.Unlock()
	if q.Cursor == "" || s.list == nil {
		s.list = new(journal.Index)
		for id, now := range s.sessions {
			s.list.Put(id, now.meta)
		}
	}
	page, next, err := s.list.Page(q)
	return page, next, errors.Join(ctx.Err(), err)
}

type tableLog struct {
	*database
	*session
}

// use runs a transaction, unless the log is closed.
func (l *tableLog) use(f func() error) error {
	l.Lock()
	defer l.Unlock()
	if l.writer != l {
		return journal.ErrClosed
	}
	return f()
}

func (l *tableLog) Append(recs ...journal.Record) (seq int64, err error) {
	err = l.use(func() error {
		last, meta, rows := l.last, l.meta, make([][]byte, len(recs))
		for i, r := range recs {
			if last, err = r.Follow(last); err == nil {
				rows[i], err = json.Marshal(last)
			}
			if err != nil {
				return err
			}
			meta.Updated = last.Time
		}
		last.Data = nil
		l.last, l.meta, l.records, seq = last, meta, append(l.records, rows...), last.Seq
		return nil
	})
	return seq, err
}

func (l *tableLog) Read(ctx context.Context, after int64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		var rows [][]byte
		err := l.use(func() error {
			rows = l.records[min(max(after, 0), l.last.Seq):]
			return nil
		})
		for _, row := range rows {
			var r journal.Record
			if err = errors.Join(ctx.Err(), json.Unmarshal(row, &r)); err != nil {
				break
			} else if !yield(r, nil) {
				return
			}
		}
		if err != nil {
			yield(journal.Record{}, err)
		}
	}
}

func (l *tableLog) Meta() journal.Meta {
	l.Lock()
	defer l.Unlock()
	return l.meta.Clone()
}

func (l *tableLog) SetMeta(change func(*journal.Meta)) error {
	return l.use(func() error { l.meta = l.meta.Changed(change); return nil })
}

func (l *tableLog) Sync(context.Context) error { return l.use(func() error { return nil }) }

func (l *tableLog) Damage() []journal.Damage { return nil }

func (l *tableLog) Close() error {
	_ = l.use(func() error { l.writer = nil; return nil }) // it may be closed already
	return nil
}

// A program that has a database stores its sessions there.
func ExampleStore() {
	ctx := context.Background()
	db := &database{sessions: map[string]*session{}}
	store := &tableStore{database: db}
	log, _ := store.Create(ctx, "s1", journal.Meta{Cwd: "/work"})
	_, err := log.Append(journal.Record{Kind: journal.KindEvent, Data: []byte(`{"text":"hello"}`)})
	fmt.Println(err)
	_, err = (&tableStore{database: db}).Open(ctx, "s1") // as another process does
	fmt.Println(err)
	// Output:
	// <nil>
	// journal: session "s1" is open elsewhere, maybe in another process
}
