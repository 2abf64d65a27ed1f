package journal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// purgedAtOnce is the number of sessions that one Create examines for the limits at most. It is more
// than one, so that a store that exceeds them shrinks.
const purgedAtOnce = 16

// limits knows the sizes of the logs. The lock of the store guards it.
type limits struct {
	sizes map[string]int64 // by the name of the session's folder; nil if the store has no limits
	bytes int64            // all together
}

// set sets the size of a log; 0 means that it is gone.
func (l *limits) set(name string, size int64) {
	if l.sizes == nil {
		return
	}
	l.bytes += size - l.sizes[name]
	if l.sizes[name] = size; size == 0 {
		delete(l.sizes, name)
	}
}

// limit reads the sizes of all logs, and deletes the sessions that exceed the limits of the options.
func (s *Files) limit(ctx context.Context) error {
	if err := s.refresh(ctx); err != nil {
		return err
	}
	s.limits.sizes = make(map[string]int64)
	for name := range s.index.all {
		if info, err := os.Stat(filepath.Join(s.dir, name, logName)); err == nil {
			s.limits.set(name, info.Size())
		}
	}
	return s.purge(ctx, len(s.index.all))
}

// purge examines the sessions that were not changed for longest, at most a number of them, and deletes
// those that exceed the limits of the options and that nobody has open.
func (s *Files) purge(ctx context.Context, most int) error {
	for range most {
		s.mu.Lock()
		m, ok := s.exceeding()
		folder := s.folder(m.ID)
		open := s.logs[folder] != nil
		s.mu.Unlock()
		if !ok {
			return nil
		} else if open {
			continue
		}
		if now, err := s.look(folder); err == nil && now != nil && now.Updated.After(m.Updated) { // by another process
			s.mu.Lock()
			s.index.Put(filepath.Base(folder), *now)
			s.mu.Unlock()
			continue
		}
		var held *HeldError
		if err := s.Delete(ctx, m.ID); err == nil {
			s.opts.Logger.Info("a session is deleted by the limits of the store", "session", m.ID, "updated", m.Updated)
		} else if !errors.As(err, &held) {
			return err
		}
	}
	return nil
}

// exceeding returns the next session to examine if the limits are exceeded. The caller holds s.mu.
func (s *Files) exceeding() (Meta, bool) {
	if s.limits.sizes == nil {
		return Meta{}, false
	}
	e := s.index.next()
	if e == nil {
		return Meta{}, false
	}
	old := s.opts.MaxAge > 0 && e.meta.Updated.Before(now().Add(-s.opts.MaxAge))
	if !old && (s.opts.MaxBytes == 0 || s.limits.bytes <= s.opts.MaxBytes) {
		return Meta{}, false
	}
	s.index.front++
	return e.meta, true
}
