package rpc

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/internal/rpc/order"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// callState is the state of a call.
type callState uint8

const (
	callPending    callState = iota // no response yet
	callResponded                   // the response was read and waits for its place
	callDelivering                  // AtResponse is running
	callSettled                     // the caller may continue
)

// fewCalls is how many calls may be in flight, or how many requests be handled, each of which is
// written at once. Where there are more of them they share the wait and the writes.
const fewCalls = 4

// call is one request of ours.
type call struct {
	id     uint64
	method string
	m      *wire.Method // nil for an extension
	origin              // an exempt call does not wait for notifications

	settled chan struct{} // closed when the caller may continue; nil when no caller waits

	// Guarded by calls.mu until the call is settled, and not changed after.
	state         callState
	opens         bool        // its success opens the session again
	lifting       bool        // lifts the back-pressure while it is pending
	cancelled     bool        // the peer was told to cancel it
	at            func(error) // AtResponse; nil once it runs
	took          func(any)   // Result
	vacant        func() any
	raw           *json.RawMessage // gets the result as it arrived
	session       string           // its session, if the stream can lose sessions
	result, fault []byte           // the result or error of the response
	err           error            // how it ended without a usable response

	// incomplete means that notifications which were read before the response were dropped. It
	// is set before the call is delivered.
	incomplete bool

	// Set by deliver, when AtResponse needed to know the outcome.
	decoded  bool
	value    any
	valueErr error
}

// Title implements [order.Subject]. A call without an id is only a place.
func (k *call) Title() string {
	if k.id == 0 {
		return ""
	}
	return k.method
}

// Lost implements [order.Response].
func (k *call) Lost() { k.incomplete = true }

// keptMap is the maximum number of entries that a map may have had to be reused when it is empty,
// because maps do not shrink.
const keptMap = 1024

// firstExpectation is the lowest id of an expectation. No call ever has it.
const firstExpectation = 1 << 63

// calls holds the calls in flight. It gives each response its place in the order, and wakes the
// caller.
type calls struct {
	codec *codec
	// arrive gives a response its place in the order, and reports whether it can be delivered at
	// once; cause returns the reason why the connection ended. Neither is called while mu is held.
	arrive func(order.Item) (now bool)
	cause  func() error
	lift   func(on bool) // while it is on, the reader must not pause

	mu       sync.Mutex // guards all below, and fields of each call
	pending  map[uint64]*call
	most     int              // the largest number of pending ones
	lifting  int              // the number of those with lifting
	latest   uint64           // id of the latest call; the first has 1
	expected uint64           // the number of expectations so far
	closed   error            // new calls fail with it
	none     []chan struct{}  // closed when pending is empty
	sessions map[string]error // those that were lost, and why
}

// add gives a call or an expectation its id, and makes it pending.
func (t *calls) add(k *call, expectation bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed != nil {
		return t.closed
	}
	if expectation {
		k.id = firstExpectation + t.expected
		t.expected++
	} else {
		t.latest++
		k.id = t.latest
	}
	if t.pending == nil {
		t.pending = make(map[uint64]*call)
	}
	t.pending[k.id] = k
	t.most = max(t.most, len(t.pending))
	return nil
}

// first returns the name of a call that waits for its response.
func (t *calls) first() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range t.pending {
		return k.method
	}
	return ""
}

// waiting returns the method of a call that waits for its response, or "".
func (t *calls) waiting(id uint64) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.pending[id]; k != nil {
		return k.method
	}
	return ""
}

// issued reports whether a call with this id was ever made.
func (t *calls) issued(id uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return 0 < id && id <= t.latest
}

func (t *calls) removeLocked(k *call) {
	delete(t.pending, k.id)
	if k.lifting {
		k.lifting = false
		if t.lifting--; t.lifting == 0 {
			t.lift(false)
		}
	}
	if len(t.pending) == 0 {
		if t.most > keptMap {
			t.pending, t.most = make(map[uint64]*call), 0
		}
		for _, ch := range t.none {
			close(ch)
		}
		t.none = nil
	}
}

// over returns a channel that is closed when no call waits for its response.
func (t *calls) over() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	ch := make(chan struct{})
	if len(t.pending) == 0 {
		close(ch)
	} else {
		t.none = append(t.none, ch)
	}
	return ch
}

// begin records that the call is about to be sent. The reader must not pause until the response is
// read, unless the call streams updates. It reports whether many calls are in flight.
func (t *calls) begin(k *call) (crowd bool) {
	if k.m != nil && k.m.Streams {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if k.state == callPending {
		k.lifting = true
		if t.lifting++; t.lifting == 1 {
			t.lift(true)
		}
	}
	return len(t.pending) > fewCalls
}

// respondedLocked ends the flight of a call, and store records the outcome. It returns the function
// to run at the place of the response if the call does not wait for that place.
func (t *calls) respondedLocked(k *call, store func(*call)) (place *call) {
	t.removeLocked(k)
	k.state = callResponded
	store(k)
	if k.opens && k.err == nil && k.fault == nil {
		delete(t.sessions, k.session)
	}
	return k.placeLocked()
}

// responded stores a response that was read. It returns nil if no call waits for it. See
// respondedLocked for place.
func (t *calls) responded(id uint64, store func(*call)) (k, place *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k = t.pending[id]; k != nil {
		place = t.respondedLocked(k, store)
	}
	return k, place
}

// failOne ends a call in flight with an error of its own.
func (t *calls) failOne(id uint64, err error) {
	k, place := t.responded(id, func(k *call) { k.err = fmt.Errorf("acp: %s: %w", shown(k.method), err) })
	if k != nil {
		t.place(k, place, order.Last)
	}
}

// place delivers a call, and place if it is not nil, at their place in the order. The kind is
// Delivery for the reader, and Last for others: the place is then after all messages that were
// read.
func (t *calls) place(k, place *call, kind order.Kind) {
	if !k.exempt {
		t.enqueue(k, kind)
		return
	}
	t.deliver(k) // Result comes before AtResponse
	if place != nil {
		t.enqueue(place, kind)
	}
}

func (t *calls) enqueue(k *call, kind order.Kind) {
	if k.relays != nil { // the worker must see it
		kind = order.Last
	}
	if t.arrive(order.Item{Kind: kind, What: k, Opens: k.negotiates}) {
		t.deliver(k)
	}
}

// fail makes new calls fail, and those in flight that pick chooses; nil chooses all.
func (t *calls) fail(err error, pick func(*call) bool) {
	t.mu.Lock()
	if t.closed == nil {
		t.closed = err
	}
	var failed []*call
	for _, k := range t.pending {
		if pick == nil || pick(k) {
			failed = append(failed, k)
		}
	}
	slices.SortFunc(failed, func(a, b *call) int { return cmp.Compare(a.id, b.id) })
	var places []*call
	for _, k := range failed {
		if place := t.respondedLocked(k, func(k *call) { k.err = t.closed }); place != nil {
			places = append(places, place)
		}
	}
	t.mu.Unlock()
	for _, k := range failed {
		t.deliver(k)
	}
	for _, place := range places {
		t.enqueue(place, order.Last)
	}
}

// keptLost is how many lost sessions are remembered.
const keptLost = 1 << 16

// lose makes new calls of a session fail, and returns the ids of those in flight.
func (t *calls) lose(e *stream.LostError) (ids []uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sessions == nil {
		t.sessions = map[string]error{}
	}
	t.sessions[e.SessionID] = e
	for session := range t.sessions { // a peer must not fill the memory with sessions
		if len(t.sessions) <= keptLost {
			break
		}
		delete(t.sessions, session)
	}
	for id, k := range t.pending {
		if k.session == e.SessionID {
			ids = append(ids, id)
		}
	}
	return ids
}

// reopen forgets that a session was lost.
func (t *calls) reopen(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.sessions, session)
}

// join records the session of a call. It fails if the session was lost, unless the call opens it
// again.
func (t *calls) join(k *call, session string, opens bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	k.session, k.opens = session, opens
	if err := t.sessions[session]; err != nil && session != "" && !opens {
		return fmt.Errorf("acp: %s: %w", shown(k.method), err)
	}
	return nil
}
