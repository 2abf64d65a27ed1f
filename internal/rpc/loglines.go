package rpc

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// A peer can cause most of the lines that a connection logs, with two bytes each. All lines above
// level Debug share one budget: a number of lines at once, and one more in each interval.
const (
	logLines    = 256
	logInterval = time.Second
)

// budgeted is the handler of the connection's logger.
type budgeted struct {
	slog.Handler
	lines *lines
}

// LimitLines returns a logger like log whose lines above level Debug share the budget of one
// connection.
func LimitLines(log *slog.Logger) *slog.Logger { return limited(log, new(lines)) }

func limited(log *slog.Logger, l *lines) *slog.Logger { return slog.New(budgeted{log.Handler(), l}) }

// Handle passes a line on if there is room for it, with the number of lines that were omitted
// before it.
func (h budgeted) Handle(ctx context.Context, r slog.Record) error {
	if r.Level > slog.LevelDebug {
		omitted, ok := h.lines.take(r.Time)
		if !ok {
			return nil
		}
		if omitted > 0 {
			r = r.Clone()
			r.AddAttrs(slog.Int("omitted", omitted))
		}
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h budgeted) WithAttrs(attrs []slog.Attr) slog.Handler {
	return budgeted{h.Handler.WithAttrs(attrs), h.lines}
}

// WithGroup implements slog.Handler.
func (h budgeted) WithGroup(name string) slog.Handler {
	return budgeted{h.Handler.WithGroup(name), h.lines}
}

// lines counts lines of the log.
type lines struct {
	mu      sync.Mutex // guards all below
	used    int
	since   time.Time // when the budget was last refilled
	omitted int       // since the last line that was passed on
}

func (l *lines) take(now time.Time) (omitted int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := min(int(now.Sub(l.since)/logInterval), l.used); n > 0 {
		l.used -= n
		l.since = l.since.Add(time.Duration(n) * logInterval)
	}
	if l.used == 0 {
		l.since = now
	}
	if l.used == logLines {
		l.omitted++
		return 0, false
	}
	l.used++
	omitted, l.omitted = l.omitted, 0
	return omitted, true
}

// end logs how many lines were omitted at the end.
func (l *lines) end(log *slog.Logger) {
	l.mu.Lock()
	omitted := l.omitted
	l.used, l.omitted = 0, 0
	l.mu.Unlock()
	if omitted > 0 {
		log.Warn("acp: lines of the log were omitted", "count", omitted)
	}
}
