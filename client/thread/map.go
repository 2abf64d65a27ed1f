package thread

import (
	"slices"
	"sync"
)

// Map holds threads by the ids of their sessions. [Set] uses one; a program that feeds
// threads without a Set can too. All methods are safe for concurrent use.
type Map struct {
	mu      sync.Mutex // guards all below
	threads map[string]*Thread
	// unknown are the ids of threads whose session was only mentioned, the oldest first.
	unknown []string
}

// unknownAtMost is how many sessions that were only mentioned have a thread. An agent may
// send updates of a session before the response that names it, and of subagents.
const unknownAtMost = 64

// NewMap returns an empty Map.
func NewMap() *Map { return &Map{threads: map[string]*Thread{}} }

// Thread returns the thread of a session. It creates one if there is none.
func (m *Map) Thread(id string) *Thread {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.unknown, id); i >= 0 {
		m.unknown = slices.Delete(m.unknown, i, i+1)
	}
	if m.threads[id] == nil {
		m.threads[id] = New()
	}
	return m.threads[id]
}

// Mentioned is like [Map.Thread] for a session id that only the agent has sent. The Map
// keeps at most 64 threads that [Map.Thread] has never returned; it removes the oldest ones
// beyond that, so the agent cannot make it grow.
func (m *Map) Mentioned(id string) *Thread {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.threads[id]
	if t == nil {
		t = New()
		m.threads[id] = t
		m.unknown = append(m.unknown, id)
		if len(m.unknown) > unknownAtMost {
			delete(m.threads, m.unknown[0])
			m.unknown = slices.Delete(m.unknown, 0, 1)
		}
	}
	return t
}

// Forget removes the thread of a session. The thread itself remains usable.
func (m *Map) Forget(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.threads, id)
	m.unknown = slices.DeleteFunc(m.unknown, func(u string) bool { return u == id })
}
