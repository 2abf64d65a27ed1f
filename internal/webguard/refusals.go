package webguard

import (
	"context"
	"log"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

// refusalTimeout is how long a client may take to send a body that is not wanted, and to take a
// response that is short.
const refusalTimeout = 10 * time.Second

// LimitBody limits the time in which the body of a request arrives over HTTP/1. There net/http reads
// the rest of an unread body before it sends the response, without a time limit: a client that
// announces a body and sends none would keep its network connection, even after a refusal. A handler
// that reads the body sets its own deadline.
func LimitBody(w http.ResponseWriter, r *http.Request) {
	// Without a body, net/http already reads the next request, and the deadline would end this one.
	if r.ProtoMajor == 1 && r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusalTimeout)) // not every server supports deadlines
	}
}

// LimitResponse limits the time in which the response leaves. It is called right before a short
// response is written, because a peer can keep it from leaving: over HTTP/2 with a window of 0,
// otherwise by not reading.
func LimitResponse(w http.ResponseWriter, r *http.Request) {
	limit := refusalTimeout
	if r.ProtoMajor == 1 && r.ContentLength != 0 {
		limit *= 2 // see LimitBody
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(limit))
}

// Refuse sends a status and no body. A peer that nobody knows is refused in this way, because the
// windows of HTTP/2 do not hold back headers. There a deadline would only keep the memory of a
// request that its client has reset.
func Refuse(w http.ResponseWriter, r *http.Request, code int) {
	if r.ProtoMajor == 1 {
		LimitResponse(w, r)
	}
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(code)
}

// refusalLines is how many lines are logged in each minute, because any peer can cause them.
const refusalLines = 20

// Refusals counts refused requests, and logs them up to a number each minute. The zero value is ready
// to use. It is safe for concurrent use.
type Refusals struct {
	mu     sync.Mutex // guards the fields below
	since  time.Time
	lines  int
	hidden int // lines that were not logged
	all    int64
}

// Count returns how many refusals there were, with those that were not logged.
func (r *Refusals) Count() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

// Log counts and logs a refusal.
func (r *Refusals) Log(log *slog.Logger, level slog.Level, msg string, args ...any) {
	r.mu.Lock()
	r.all++
	r.mu.Unlock()
	r.Line(log, level, msg, args...)
}

// Line logs something that a peer can cause, with the limit of refusals. The first line of a minute
// says how many of the last minute were not logged.
func (r *Refusals) Line(log *slog.Logger, level slog.Level, msg string, args ...any) {
	r.mu.Lock()
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

// ErrorLog returns what an http.Server logs to, such as handshakes that fail. Its lines count as
// those of refusals do.
func (r *Refusals) ErrorLog(to *slog.Logger) *log.Logger {
	return log.New(errorLines{r, to}, "", 0)
}

type errorLines struct {
	refusals *Refusals
	log      *slog.Logger
}

// maxErrorLine is the longest line of a server in bytes: the stack of a panic is long.
const maxErrorLine = 8 << 10

func (e errorLines) Write(p []byte) (int, error) {
	e.refusals.Line(e.log, slog.LevelWarn, "remote: the server reports an error", "error", strings.TrimSpace(string(p[:min(len(p), maxErrorLine)])))
	return len(p), nil
}
