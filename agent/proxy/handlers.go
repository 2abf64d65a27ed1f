package proxy

import (
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// handlers holds the messages that middleware is handling.
type handlers struct {
	mu   sync.Mutex // guards the fields below
	all  map[*handling]struct{}
	byID map[string]*handling // the requests, by sender and id
	none chan struct{}        // closed when no handler runs; nil if nothing waits for that
}

func (l *handlers) add(h *handling) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all, l.byID = map[*handling]struct{}{}, map[string]*handling{}
	}
	l.all[h] = struct{}{}
	if h.request != nil {
		l.byID[h.from.name+idKey(h.m.ID)] = h
	}
}

// find returns the request that from sent with id, or nil.
func (l *handlers) find(from *end, id json.RawMessage) *handling {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byID[from.name+idKey(id)]
}

// forget allows the sender to use the id of the request again.
func (l *handlers) forget(h *handling) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if key := h.from.name + idKey(h.m.ID); l.byID[key] == h {
		delete(l.byID, key)
	}
}

func (l *handlers) remove(h *handling) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, h)
	if l.none != nil && len(l.all) == 0 {
		close(l.none)
		l.none = nil
	}
}

// wait waits until no handler runs. If handlers still run after grace, it returns the methods of
// their messages.
func (l *handlers) wait(grace time.Duration) (stuck []string) {
	l.mu.Lock()
	if len(l.all) == 0 {
		l.mu.Unlock()
		return nil
	}
	none := make(chan struct{})
	l.none = none
	l.mu.Unlock()
	select {
	case <-none:
		return nil
	case <-time.After(grace):
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for h := range l.all {
		stuck = append(stuck, shown(h.m.Method))
	}
	slices.Sort(stuck)
	return slices.Compact(stuck)
}
