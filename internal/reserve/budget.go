// Package reserve bounds the memory of results that are on their way to the peer.
//
// A [Budget] counts the results of the connections that share it, each connection through
// a [Share] of its own. A result counts from its reservation, or from the return of its
// handler if there is none, until its frame is written. Its size in memory counts, and its
// frame.
//
// Only reservations wait, and only large ones: a handler that is about to load a large
// result calls [Result] with its ctx before. It must hold no reservation while it waits for
// a person or for the peer, who may wait for what other reservations hold back.
// Reservations are granted in the order in which they were asked for, with one exception:
// a connection that has no large result in flight gets one at once, so a peer that does not
// read cannot stop the other connections.
//
// Results without a reservation are counted and do not wait. While they have made the
// budget exceeded, [Share.Exceeded] asks the connection to start no handlers.
//
// One lock, that of the Budget, guards all of it. Nothing is called while it is held.
package reserve

import (
	"container/list"
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// looseShare is the part of the limit that results without a reservation may take before they hold
// back new handlers: one in looseShare. Below it only responses to short requests are in flight,
// and a request to end something must not wait for them.
const looseShare = 8

// Budget counts the results of one or more connections. The zero value is ready for use.
// It is safe for concurrent use.
type Budget struct {
	used atomic.Int64 // written with mu held, and read without it by Exceeded

	mu      sync.Mutex // guards all below, and the Shares and Claims
	loose   int64      // the part of used without a reservation
	asked   uint64     // reservations that had to wait so far
	waiting []*Share   // those with reservations that wait
	held    []*Share   // those that hold back handlers
}

// Share is the part of a Budget that one connection has. It is safe for concurrent use.
type Share struct {
	budget *Budget
	limit  int64
	resume func()

	over    chan struct{} // closed by End, under the lock
	used    int64
	loose   int64
	large   int       // results in flight that are not small
	waiters list.List // of *waiter, in order
}

// Claim is what one result counts for. The zero value counts for nothing.
type Claim struct {
	share        *Share
	bytes        int64
	loose, large bool
	settled      bool // the handler has returned: nothing more is reserved
}

// waiter is a reservation that waits.
type waiter struct {
	claim *Claim
	bytes int64
	place uint64        // among those of all connections
	given chan struct{} // closed when the reservation is granted
}

// Share adds a connection to the Budget. Its reservations wait while all results of the
// Budget exceed limit. resume is called, without a lock, when handlers that were held back
// because of [Share.Exceeded] may be started.
func (b *Budget) Share(limit int64, resume func()) *Share {
	return &Share{budget: b, limit: limit, resume: resume, over: make(chan struct{})}
}

// Member is embedded by the end of a connection that can share a Budget. It is reached by this
// package alone, so sharing is no part of the end's API.
type Member struct{ budget *Budget }

func (m *Member) member() *Member { return m }

// Admit makes the results of the connection count together with those of all connections that b
// has admitted: they wait while all of them exceed the limit. Each of the connections can still
// load one result at a time, whether or not the other peers read. It must be called before the
// connection is configured; for a client, by the function given to client.New.
func (b *Budget) Admit(conn interface{ member() *Member }) { conn.member().budget = b }

// BudgetOf returns the Budget that has admitted the connection, or nil.
func BudgetOf(conn interface{ member() *Member }) *Budget { return conn.member().budget }

// End gives back everything that the connection holds, and ends the waits of its reservations.
func (s *Share) End() {
	b := s.budget
	b.mu.Lock()
	defer b.unlock()
	if s.isOver() {
		return
	}
	close(s.over)
	b.used.Add(-s.used)
	b.loose -= s.loose
	is := func(other *Share) bool { return other == s }
	b.held = slices.DeleteFunc(b.held, is)
	b.waiting = slices.DeleteFunc(b.waiting, is)
}

func (s *Share) isOver() bool { return isClosed(s.over) }

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// TryReserve reserves room for a result of size bytes, and reports false if it would have to wait.
// If now is set, it never has to.
func (s *Share) TryReserve(c *Claim, size int64, now bool) bool {
	b := s.budget
	b.mu.Lock()
	defer b.unlock()
	if c.settled || s.isOver() {
		return true
	}
	c.dropLocked()
	bytes := 2 * size // in memory, and encoded
	waits := len(b.waiting) > 0 || b.used.Load()+bytes > s.limit
	if s.large == 0 {
		waits = s.waiters.Len() > 0
	}
	if waits && size >= Small && !now {
		return false
	}
	c.setLocked(s, bytes, false, size >= Small)
	return true
}

// Reserve waits until there is room for a large result of size bytes. It fails if ctx is
// done, or life is closed.
func (s *Share) Reserve(ctx context.Context, life <-chan struct{}, c *Claim, size int64) error {
	b := s.budget
	b.mu.Lock()
	b.asked++
	w := &waiter{claim: c, bytes: 2 * size, place: b.asked, given: make(chan struct{})}
	if s.waiters.Len() == 0 {
		b.waiting = append(b.waiting, s)
	}
	place := s.waiters.PushBack(w)
	b.unlock() // there may be room by now
	select {
	case <-w.given:
		return nil
	case <-ctx.Done():
	case <-life:
	case <-s.over:
	}
	b.mu.Lock()
	defer b.unlock() // others may have waited behind it
	if !isClosed(w.given) {
		s.leaveLocked(place)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return context.Canceled
}

func (s *Share) leaveLocked(place *list.Element) *waiter {
	w, _ := s.waiters.Remove(place).(*waiter)
	if b := s.budget; s.waiters.Len() == 0 {
		b.waiting = slices.DeleteFunc(b.waiting, func(other *Share) bool { return other == s })
	}
	return w
}

// Count returns the Claim of a result whose handler has returned, for its size in memory and that
// of its frame. The Claim of the handler must not be used after.
func (s *Share) Count(c *Claim, size, frame int64) Claim {
	b := s.budget
	b.mu.Lock()
	defer b.unlock()
	reserved := c.bytes > 0
	c.dropLocked()
	c.settled = true
	var held Claim
	held.setLocked(s, size+frame, !reserved, size >= Small)
	return held
}

// Release gives back what a result counts for.
func (s *Share) Release(c *Claim) {
	b := s.budget
	b.mu.Lock()
	defer b.unlock()
	c.dropLocked()
}

// Release gives back what a result counts for, if anything.
func (c *Claim) Release() {
	if c.share != nil {
		c.share.Release(c)
	}
}

// Exceeded reports whether results without a reservation make the Budget exceeded. If so,
// resume is called when they no longer do.
func (s *Share) Exceeded() bool {
	b := s.budget
	if b.used.Load() <= s.limit {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !s.exceededLocked() {
		return false
	}
	if !slices.Contains(b.held, s) {
		b.held = append(b.held, s)
	}
	return true
}

func (s *Share) exceededLocked() bool {
	return !s.isOver() && s.budget.used.Load() > s.limit && s.budget.loose > s.limit/looseShare
}

func (c *Claim) setLocked(s *Share, bytes int64, loose, large bool) {
	if s.isOver() {
		return
	}
	c.share, c.bytes, c.loose, c.large = s, bytes, loose, large
	c.addLocked(1)
}

func (c *Claim) dropLocked() {
	if c.share != nil && !c.share.isOver() {
		c.addLocked(-1)
	}
	*c = Claim{settled: c.settled}
}

func (c *Claim) addLocked(sign int64) {
	s, b := c.share, c.share.budget
	b.used.Add(sign * c.bytes)
	s.used += sign * c.bytes
	if c.loose {
		b.loose += sign * c.bytes
		s.loose += sign * c.bytes
	}
	if c.large {
		s.large += int(sign)
	}
}

// unlock grants what can be granted, unlocks, and calls resume of the connections that need not
// hold back handlers any more.
func (b *Budget) unlock() {
	b.grantLocked()
	var resume []*Share
	if len(b.held) > 0 {
		b.held = slices.DeleteFunc(b.held, func(s *Share) bool {
			if s.exceededLocked() {
				return false
			}
			resume = append(resume, s)
			return true
		})
	}
	b.mu.Unlock()
	for _, s := range resume {
		s.resume()
	}
}

// grantLocked grants the reservations for which there is room, and the first one of each connection
// that has no large result in flight.
func (b *Budget) grantLocked() {
	for len(b.waiting) > 0 {
		first := b.waiting[0]
		for _, s := range b.waiting {
			if s.large == 0 {
				first = s
				break
			}
			if s.firstLocked().place < first.firstLocked().place {
				first = s
			}
		}
		if first.large > 0 && b.used.Load()+first.firstLocked().bytes > first.limit {
			return
		}
		w := first.leaveLocked(first.waiters.Front())
		if !w.claim.settled {
			w.claim.dropLocked()
			w.claim.setLocked(first, w.bytes, false, true)
		}
		close(w.given)
	}
}

// firstLocked returns the reservation that has waited longest. There must be one.
func (s *Share) firstLocked() *waiter {
	w, _ := s.waiters.Front().Value.(*waiter)
	return w
}

// Small is the size in bytes below which a result never waits.
const Small = 64 << 10

// Result reserves room for the result of the request whose handler was given ctx, size
// bytes in memory. It may wait, as long as ctx and the connection last. A request has one
// reservation: a second call gives back what the first one has reserved. It ends with the
// request, and with a call to the peer that the handler makes. Outside of a request handler
// nothing is reserved.
func Result(ctx context.Context, size int64) error {
	if r, ok := ctx.Value(Key{}).(Reserver); ok {
		return r.ReserveResult(ctx, size)
	}
	return nil
}

// Key is the key under which the ctx of a handler has its [Reserver].
type Key struct{}

// Reserver reserves room for the result of one request.
type Reserver interface {
	ReserveResult(ctx context.Context, size int64) error
}
