package journal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"
)

// Memory is a Store in memory, for tests and for agents whose sessions end with the process. The
// zero Memory is empty.
type Memory struct {
	mu       sync.Mutex
	sessions map[string]*memorySession
	pages    pages
}

type memorySession struct {
	meta Meta
	recs []Record
	log  *memoryLog // the open log; nil if there is none
}

// open returns a log of the session. The caller holds m.mu.
func (s *memorySession) open(m *Memory) Log {
	s.log = &memoryLog{store: m, s: s}
	return s.log
}

// Create implements Store.
func (m *Memory) Create(ctx context.Context, id string, meta Meta) (Log, error) {
	if err := errors.Join(ctx.Err(), checkID(id)); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions[id] != nil {
		return nil, ErrExists
	}
	s := &memorySession{meta: created(id, meta)}
	if m.sessions == nil {
		m.sessions = make(map[string]*memorySession)
	}
	m.sessions[id] = s
	m.pages.add(s.meta)
	return s.open(m), nil
}

func checkID(id string) error {
	if id == "" {
		return errors.New("journal: the id of a session is empty")
	}
	return nil
}

// created returns the metadata of a new session.
func created(id string, meta Meta) Meta {
	meta = meta.clone()
	meta.ID, meta.Updated = id, now()
	meta.Created = cmp.Or(meta.Created, meta.Updated)
	return meta
}

// now returns the time in the form in which it is decoded: in UTC and without a monotonic clock.
func now() time.Time { return time.Now().UTC().Round(0) }

func (m Meta) clone() Meta {
	m.AdditionalDirectories = slices.Clone(m.AdditionalDirectories)
	m.Data = bytes.Clone(m.Data)
	return m
}

// changed returns the metadata after change is applied to them.
func (m Meta) changed(change func(*Meta)) Meta {
	after := m.clone()
	change(&after)
	after = after.clone()
	after.ID, after.Created, after.Updated = m.ID, m.Created, now()
	return after
}

// Open implements Store.
func (m *Memory) Open(ctx context.Context, id string) (Log, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[id]
	if s == nil {
		return nil, ErrNotFound
	}
	if s.log != nil {
		return nil, &HeldError{ID: id}
	}
	return s.open(m), nil
}

// List implements Store.
func (m *Memory) List(ctx context.Context, q Query) ([]Meta, string, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if q.Cursor == "" {
		all := make([]Meta, 0, len(m.sessions))
		for _, s := range m.sessions {
			all = append(all, s.meta)
		}
		m.pages.reset(all)
	}
	return m.pages.page(q, func(id string) (Meta, bool) {
		s := m.sessions[id]
		if s == nil {
			return Meta{}, false
		}
		return s.meta.clone(), true
	})
}

// Delete implements Store.
func (m *Memory) Delete(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[id]; s != nil && s.log != nil {
		return &HeldError{ID: id}
	}
	delete(m.sessions, id)
	return nil
}

type memoryLog struct {
	store *Memory
	s     *memorySession
}

// lock locks the store. If the log is closed, lock returns an error and leaves the store unlocked.
func (l *memoryLog) lock() error {
	l.store.mu.Lock()
	if l.s.log != l {
		l.store.mu.Unlock()
		return ErrClosed
	}
	return nil
}

func (l *memoryLog) Append(recs ...Record) (int64, error) {
	if err := l.lock(); err != nil {
		return 0, err
	}
	defer l.store.mu.Unlock()
	all := l.s.recs
	var last Record
	if len(all) > 0 {
		last = all[len(all)-1]
	}
	for _, r := range recs {
		if err := checkData(&r); err != nil {
			return 0, err
		}
		last = r.after(last)
		last.Data = bytes.Clone(r.Data)
		all = append(all, last)
	}
	l.s.recs = all
	if len(recs) > 0 {
		l.s.meta.Updated = last.Time
	}
	return last.Seq, nil
}

// after returns the record with the number and time of the successor of last.
func (r Record) after(last Record) Record {
	r.Seq = last.Seq + 1
	if r.Time.IsZero() {
		r.Time = now()
	}
	if r.Time.Before(last.Time) {
		r.Time = last.Time
	}
	return r
}

func (l *memoryLog) Sync(context.Context) error {
	if err := l.lock(); err != nil {
		return err
	}
	l.store.mu.Unlock()
	return nil
}

func (l *memoryLog) Read(ctx context.Context, after int64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if err := l.lock(); err != nil {
			yield(Record{}, err)
			return
		}
		recs := l.s.recs // records are never changed
		l.store.mu.Unlock()
		for _, r := range recs[min(max(after, 0), int64(len(recs))):] {
			if err := ctx.Err(); err != nil {
				yield(Record{}, err)
				return
			}
			r.Data = bytes.Clone(r.Data)
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (l *memoryLog) Meta() Meta {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	return l.s.meta.clone()
}

func (l *memoryLog) SetMeta(change func(*Meta)) error {
	if err := l.lock(); err != nil {
		return err
	}
	defer l.store.mu.Unlock()
	l.s.meta = l.s.meta.changed(change)
	return nil
}

func (l *memoryLog) Damage() []Damage { return nil }

func (l *memoryLog) Close() error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if l.s.log == l {
		l.s.log = nil
	}
	return nil
}
