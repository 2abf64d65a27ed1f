// Package replay keeps back what happens in a session while its history is being sent, and marks the
// end of the history. It knows no messages.
package replay

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// keptAtMost is how many updates of a session are kept back without their senders waiting.
const keptAtMost = 1000

// Replays are the replays in progress of the sessions of a connection. The zero value has none. All
// methods are safe for concurrent use.
type Replays struct {
	// Ending is closed when the connection begins to end. Nothing waits any longer then.
	Ending <-chan struct{}
	// Full is called when the updates of a session that are kept back reach the limit.
	Full func(id string)

	mu      sync.Mutex       // guards the fields below, and those of each Replay and hold
	held    map[string]*hold // the sessions that are replayed
	sending map[string]int   // updates of sessions that are on their way into the queue
	fewer   chan struct{}    // closed when one of them has arrived; nil while nothing waits for that
}

// hold keeps back what is not history in one session.
type hold struct {
	open map[*Replay]bool // the replays of the session; false: its marker is next
	kept []*func()        // send what was kept back, in order
	done chan struct{}    // closed when nothing is kept back any more
}

// Replay is one replay: that of a session, and of the sessions that it announces.
type Replay struct {
	all *Replays
	ids []string // that have no marker yet, the session first
}

type key struct{}

// history is the value of a ctx whose updates are history wherever a replay is in progress.
var history = &Replay{}

// History returns a ctx for updates of an agent that cannot tell its history from what happens
// meanwhile: they are history in each session that is being replayed.
func History(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, history) }

// Of returns the replay whose history is sent with ctx, or nil.
func Of(ctx context.Context) *Replay {
	if r := of(ctx); r != history {
		return r
	}
	return nil
}

// of is Of, or history. ctx may be that of a user, so no lock may be held.
func of(ctx context.Context) *Replay {
	r, _ := ctx.Value(key{}).(*Replay)
	return r
}

// Begin begins a replay of a session, when no other one is in progress, whose history would mix with
// this one, and when nothing of the session is on its way. What is sent with the ctx that it returns is
// history. The caller must call End.
func (a *Replays) Begin(ctx context.Context, id string) (context.Context, *Replay, error) {
	r := &Replay{all: a}
	a.mu.Lock()
	for h := a.held[id]; h != nil; h = a.held[id] {
		a.mu.Unlock()
		if err := a.wait(ctx, h.done); err != nil {
			return nil, nil, err
		}
		a.mu.Lock()
	}
	r.join(id)
	a.mu.Unlock()
	if err := a.arrived(ctx, id); err != nil {
		r.End()
		return nil, nil, err
	}
	return context.WithValue(ctx, key{}, r), r, nil
}

// join adds a session to the replay. The lock is held.
func (r *Replay) join(id string) {
	if slices.Contains(r.ids, id) {
		return
	}
	if r.all.held == nil {
		r.all.held = map[string]*hold{}
	}
	h := r.all.held[id]
	if h == nil {
		h = &hold{open: map[*Replay]bool{}, done: make(chan struct{})}
		r.all.held[id] = h
	}
	r.ids = append(r.ids, id)
	h.open[r] = true
}

// Enter begins to send an update of a session. child is the session that the update announces, or "".
// It reports false while a replay is in progress and the update is not history: pass it to Keep then.
// Otherwise the caller must call Leave when the update is in the queue.
func (a *Replays) Enter(ctx context.Context, id, child string) bool {
	// ctx is asked only during a replay: to ask costs more than all the rest.
	return a.enter(nil, id, child) || a.enter(of(ctx), id, child)
}

func (a *Replays) enter(own *Replay, id, child string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if h := a.held[id]; h != nil {
		if !h.has(own) {
			return false
		}
		if child != "" {
			for r, open := range h.open {
				if open && (r == own || own == history) {
					r.join(child)
				}
			}
		}
	}
	if a.sending == nil {
		a.sending = map[string]int{}
	}
	a.sending[id]++
	return true
}

// Keep keeps an update back that Enter has refused, and calls send when the replay is over. It reports
// false if the replay ended meanwhile: Enter must be called again. Above the limit Keep waits until the
// update was sent.
func (a *Replays) Keep(ctx context.Context, id string, send func()) (kept bool, err error) {
	own := of(ctx)
	a.mu.Lock()
	h := a.held[id]
	if h == nil || h.has(own) {
		a.mu.Unlock()
		return false, nil
	}
	h.kept = append(h.kept, &send)
	n := len(h.kept)
	a.mu.Unlock()
	if n == keptAtMost && a.Full != nil {
		a.Full(id)
	}
	if n <= keptAtMost {
		return true, nil
	}
	if err = a.wait(ctx, h.done); err == nil {
		return true, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.Index(h.kept, &send)
	if i < 0 {
		return true, nil // it was sent meanwhile
	}
	h.kept = slices.Delete(h.kept, i, i+1)
	return true, err
}

// has reports whether updates of a replay are history now.
func (h *hold) has(own *Replay) bool {
	if own != history {
		return h.open[own]
	}
	for _, open := range h.open {
		if open {
			return true
		}
	}
	return false
}

// Leave records that an update that Enter let through is in the queue.
func (a *Replays) Leave(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := a.sending[id]; n > 1 {
		a.sending[id] = n - 1
	} else {
		delete(a.sending, id)
	}
	if a.fewer != nil {
		close(a.fewer)
		a.fewer = nil
	}
}

// arrived waits until no update of a session is on its way.
func (a *Replays) arrived(ctx context.Context, id string) error {
	for {
		a.mu.Lock()
		if a.sending[id] == 0 {
			a.mu.Unlock()
			return nil
		}
		if a.fewer == nil {
			a.fewer = make(chan struct{})
		}
		fewer := a.fewer
		a.mu.Unlock()
		if err := a.wait(ctx, fewer); err != nil {
			return err
		}
	}
}

// errEnding says that nothing waits any longer, because the connection ends.
var errEnding = errors.New("agent: the connection ended during the replay of a session")

func (a *Replays) wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-a.Ending:
		return errEnding
	}
}

// Complete calls mark for each session of the replay that has no marker yet, those that it announced
// first, when their history is in the queue, and then sends what was kept back. Calls after the first
// do nothing.
func (r *Replay) Complete(ctx context.Context, mark func(id string) error) error {
	for id := r.last(); id != ""; id = r.last() {
		if err := r.all.arrived(ctx, id); err != nil {
			return err
		}
		if err := mark(id); err != nil {
			return err
		}
		r.release(id)
	}
	return nil
}

// last closes the session that was announced last, and returns it, or "" if there is none.
func (r *Replay) last() string {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	if len(r.ids) == 0 {
		return ""
	}
	id := r.ids[len(r.ids)-1]
	r.all.held[id].open[r] = false
	return id
}

// release sends what was kept back in a session, unless another replay has announced it. What comes
// meanwhile is kept back too, and so stays behind it.
func (r *Replay) release(id string) {
	a := r.all
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.Index(r.ids, id)
	if i < 0 {
		return
	}
	r.ids = slices.Delete(r.ids, i, i+1)
	h := a.held[id]
	if delete(h.open, r); len(h.open) > 0 {
		return
	}
	for len(h.kept) > 0 && len(h.open) == 0 { // another replay may announce the session
		send := *h.kept[0]
		h.kept = h.kept[1:]
		a.mu.Unlock()
		send()
		a.mu.Lock()
	}
	if len(h.open) == 0 && a.held[id] == h {
		delete(a.held, id)
		close(h.done)
	}
}

// End ends a replay that is not complete: it sends what was kept back, without a marker.
func (r *Replay) End() {
	for id := r.last(); id != ""; id = r.last() {
		r.release(id)
	}
}
