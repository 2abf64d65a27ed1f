package rpc

import (
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/internal/wire"
)

// mostResults is how many results are kept for a request. A handler may run for hours and
// read large files.
const mostResults = 4

// results are those of the latest calls that a request's handler made, of the type that it
// returns itself, and that break a rule for what is sent: it may return one of them.
type results struct {
	mu sync.Mutex // guards the one below
	of []any
}

// keep remembers the result of a call of m that was made with the handler's ctx, if the
// handler could return it.
func (s *scope) keep(m *wire.Method, result any) {
	if s == nil || s.req == nil || s.work != nil || s.req.entry == nil || m == nil || s.req.entry.Result != m.Result || result == nil || !m.Result.Is(result) || m.Result.Valid(result, true) {
		return
	}
	r := &s.req.results
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.of) == mostResults {
		r.of = slices.Delete(r.of, 0, 1)
	}
	r.of = append(r.of, result)
}

// brought reports whether v is the result of a call that keep remembers.
func (r *results) brought(v any) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.of, v)
}
