// Package order decides when the messages that a connection has read are handled. Its methods are
// called for events, and return what to do next or start the goroutine that does it.
//
// Notifications are handled one at a time by the worker, in the order in which they were read.
// A request starts, and a response is delivered, when every notification that was read before
// it has been handled. A handler that waits for the peer lets the requests behind it start.
// Requests wait for one of a limited number of slots. What is read during a handshake waits
// for its end. Requests and work can belong to a group, which a message ends.
//
// One lock guards all parts, because every decision depends on several of them. Apart from
// Config.Exceeded, and from functions whose comment says "with the lock held", nothing is called
// while it is held. The package does not know the methods of the protocol: its callers describe
// each message.
package order

import (
	"sync"
	"time"
)

// Config configures an Order.
type Config struct {
	Handshake string // the method that opens the connection; empty: none
	First     bool   // it must come before all other requests, also when it is repeated

	// Backlog is how many bytes of notifications may wait before the reader does, MaxBacklog
	// how many if the reader may not wait. MaxWaiting is how many bytes of requests may wait
	// for their handler, MaxOpen how many may be open. MaxHandlers is the number of slots.
	Backlog, MaxBacklog, MaxWaiting, MaxOpen int64
	MaxHandlers                              int

	// Exceeded reports whether too many results without a reservation are in flight. No
	// request that takes a slot is started then, unless a notification handler may wait for
	// it. Call [Order.Resume] when the others may be started. It is called with the lock held.
	Exceeded func() bool
	// Work runs the worker on a goroutine of its own: it calls [Order.Next] until the queue is
	// empty.
	Work func()

	// SlowAfter is how long a notification handler may keep something waiting before Slow
	// is called with the names of both. Call names a call that waits for its response.
	SlowAfter time.Duration
	Slow      func(handler, waiting string)
	Call      func() string
}

// Order is the order of one connection. It is safe for concurrent use.
type Order struct {
	cfg     Config
	pressed pressure // over may be read without the lock

	room  sync.Cond // the reader waits here; uses mu
	given sync.Cond // the worker waits here, until updates are given out; uses mu

	mu       sync.Mutex // guards all below, pressed and what a Request and a Work say
	queue    queue
	behind   []*Request // those in the queue that were not started yet, in order
	working  bool       // the worker runs: there is something in the queue or in its hands
	handling Scoped     // the notification whose handler runs
	gate     gate
	pending  pending
	slots    slots
	servers  servers
	slow     slow
	refusing bool // no new requests are taken
	stopped  bool // nothing more is handled
	ended    bool // nothing more is read
	lost     bool // a notification was dropped because of that
	idle     []chan struct{}
}

// Init prepares an Order. It must be called once, before anything else.
func (o *Order) Init(cfg Config) {
	o.cfg = cfg
	o.room.L, o.given.L = &o.mu, &o.mu
	o.pressed.budget, o.pressed.most = cfg.Backlog, cfg.MaxBacklog
	o.slots.limit, o.slots.exceeded = cfg.MaxHandlers, cfg.Exceeded
	o.pending.maxWaiting, o.pending.maxOpen = cfg.MaxWaiting, cfg.MaxOpen
	o.pending.byKey, o.pending.groups = make(map[string]*Request), make(map[string]*list)
	if cfg.Handshake != "" {
		o.gate.state = gateClosed
	}
}

// Stop drops the messages that were not handled yet. It returns the responses that were read, and
// the number of dropped notifications.
func (o *Order) Stop() (responses []Response, dropped int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stopped = true
	o.pressed.budget = -1 // WaitRoom looks whether it has stopped
	o.pressed.over.Store(true)
	o.lost = o.handling != nil || len(o.gate.held) > 0
	for o.queue.n > 0 {
		switch it := o.queue.pop(); it.Kind {
		case Delivery, Last:
			responses = append(responses, response(it, o.lost))
		case Notification, Dropped:
			o.lost = true
			dropped++
			o.addLocked(-it.Size, 0)
		}
	}
	for _, it := range o.gate.held {
		switch it.Kind {
		case request, End:
		case Notification:
			dropped++
			o.addLocked(-it.Size, 0)
		default:
			responses = append(responses, response(it, o.lost))
		}
	}
	o.gate.notified = false
	o.gate.held, o.behind, o.slots.counted, o.slots.uncounted = nil, nil, nil, nil
	for _, r := range o.pending.byKey {
		if r.state < running {
			o.pending.remove(r)
		}
	}
	o.slow.stop()
	o.room.Broadcast()
	o.given.Broadcast()
	o.idleLocked()
	return responses, dropped
}

// response returns the response of an item. lost reports whether notifications before it were
// dropped.
func response(it Item, lost bool) Response {
	r, _ := it.What.(Response)
	if lost {
		r.Lost()
	}
	return r
}

// Handled returns a channel that is closed when everything that was read has been handled. With
// refuse no new requests are accepted from now on.
func (o *Order) Handled(refuse bool) <-chan struct{} {
	ch := make(chan struct{})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refusing = o.refusing || refuse
	o.idle = append(o.idle, ch)
	o.idleLocked()
	return ch
}

// Running returns the methods whose handlers or work still run.
func (o *Order) Running() (methods []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for n := o.pending.tasks.first; n != nil; n = n.next {
		methods = append(methods, n.method())
	}
	if o.handling != nil {
		methods = append(methods, o.handling.scope().Method)
	}
	return methods
}
