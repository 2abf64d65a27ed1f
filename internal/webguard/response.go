package webguard

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// CanFlush reports whether a response can be sent in parts. Middleware often wraps the
// ResponseWriter of net/http without a method Unwrap, which hides Flush.
func CanFlush(w http.ResponseWriter) bool {
	return supports(w, func(w http.ResponseWriter) bool {
		_, ok := w.(http.Flusher)
		if !ok {
			_, ok = w.(interface{ FlushError() error })
		}
		return ok
	})
}

// CanHijack reports whether a handler can take over the network connection of a request.
func CanHijack(w http.ResponseWriter) bool {
	return supports(w, func(w http.ResponseWriter) bool {
		_, ok := w.(http.Hijacker)
		return ok
	})
}

func supports(w http.ResponseWriter, has func(http.ResponseWriter) bool) bool {
	for {
		if has(w) {
			return true
		}
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return false
		}
		w = wrapper.Unwrap()
	}
}

// refusalTimeout is how long a client may take to send a body that is not wanted.
const refusalTimeout = 10 * time.Second

// LimitBody limits the time in which the body of a request arrives. net/http reads the rest of an
// unread body before it sends the response, without a time limit: a client that announces a body
// and sends none would keep its network connection, even after a refusal. A handler that reads
// the body sets its own deadline.
func LimitBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 { // without a body, net/http already reads the next request, and the deadline would end this one
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusalTimeout)) // not every server supports deadlines
	}
}

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
