package terminals

import (
	"sync"
	"time"
)

// busy measures the total duration of an activity. The zero value is ready to use.
type busy struct {
	mu    sync.Mutex // guards the fields below
	total time.Duration
	since time.Time // zero while no call is in progress
}

// during calls f and measures it.
func (b *busy) during(f func()) {
	b.mu.Lock()
	b.since = time.Now()
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.total += time.Since(b.since)
		b.since = time.Time{}
	}()
	f()
}

// time returns how long all calls have taken so far.
func (b *busy) time() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.since.IsZero() {
		return b.total
	}
	return b.total + time.Since(b.since)
}
