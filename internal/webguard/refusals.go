package webguard

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// refusalLines is how many refusals are logged in each minute, because any peer can cause them.
const refusalLines = 20

// Refusals counts refused requests, and logs them up to a number each minute. The zero value is ready
// to use. It is safe for concurrent use.
type Refusals struct {
	mu     sync.Mutex // guards the fields below
	since  time.Time
	lines  int
	hidden int // refusals that were not logged
	all    int64
}

// Count returns how many refusals there were, with those that were not logged.
func (r *Refusals) Count() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

// Log counts and logs a refusal. The first line of a minute says how many refusals of the last
// minute were not logged.
func (r *Refusals) Log(log *slog.Logger, level slog.Level, msg string, args ...any) {
	r.mu.Lock()
	r.all++
	if time.Since(r.since) >= time.Minute {
		if r.since, r.lines = time.Now(), 0; r.hidden > 0 {
			args = append(args, "not_logged_before", r.hidden)
			r.hidden = 0
		}
	}
	r.lines++
	hide := r.lines > refusalLines
	if hide {
		r.hidden++
	}
	r.mu.Unlock()
	if !hide {
		log.Log(context.Background(), level, msg, args...)
	}
}
