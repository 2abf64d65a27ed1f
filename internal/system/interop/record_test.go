package interop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// entry is one thing that one end was told.
type entry struct {
	What  string          `json:"what"`
	Value json.RawMessage `json:"value"`
}

// record is what an end was told, in order. It is safe for concurrent use.
type record struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced when something was recorded
	journal []entry
}

func (h *record) wakeLocked() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// note writes down what arrived, as the SDK's own types write it.
func (h *record) note(what string, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		raw, _ = json.Marshal(err.Error())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.journal = append(h.journal, entry{what, raw})
	h.wakeLocked()
}

// until waits for what test looks for; test is called with the lock held.
func (h *record) until(ctx context.Context, test func() bool) error {
	for {
		h.mu.Lock()
		ok, changed := test(), h.changed
		h.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the agent: %w", ctx.Err())
		}
	}
}

func (h *record) seenLocked(what string) bool {
	return slices.ContainsFunc(h.journal, func(e entry) bool { return e.What == what })
}

// told are the entries so far.
func (h *record) told() []entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.journal)
}
