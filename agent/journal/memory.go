package journal

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"sync"
)

// Memory is a Store in memory, for tests and for agents whose sessions end with the process. The
// zero Memory is empty.
type Memory struct {
	mu       sync.Mutex
	sessions map[string]*memorySession
	index    Index
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
	meta, err := meta.Begin(id)
	if err = errors.Join(ctx.Err(), err); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions[id] != nil {
		return nil, ErrExists
	}
	s := &memorySession{meta: meta}
	if m.sessions == nil {
		m.sessions = make(map[string]*memorySession)
	}
	m.sessions[id] = s
	m.index.Put(id, s.meta)
	return s.open(m), nil
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
	return m.index.Page(q)
}

// Meta implements Store.
func (m *Memory) Meta(ctx context.Context, id string) (Meta, error) {
	if err := ctx.Err(); err != nil {
		return Meta{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[id]
	if s == nil {
		return Meta{}, ErrNotFound
	}
	return s.meta.Clone(), nil
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
	m.index.Drop(id)
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
		var err error
		if last, err = r.Follow(last); err != nil {
			return 0, err
		}
		last.Data = bytes.Clone(r.Data)
		all = append(all, last)
	}
	l.s.recs = all
	if len(recs) > 0 {
		l.s.meta.Updated = last.Time
		l.store.index.Put(l.s.meta.ID, l.s.meta)
	}
	return last.Seq, nil
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
	return l.s.meta.Clone()
}

func (l *memoryLog) SetMeta(change func(*Meta)) error {
	if err := l.lock(); err != nil {
		return err
	}
	defer l.store.mu.Unlock()
	l.s.meta = l.s.meta.Changed(change)
	l.store.index.Put(l.s.meta.ID, l.s.meta)
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
