package rpc

import (
	"sync"
	"sync/atomic"
	"time"
)

// keptMap is how many entries a map may have had to be kept when it is empty: maps
// do not shrink.
const keptMap = 1024

// inbound is the order of what arrives. One lock for all of it: every decision
// about order depends on several of the fields.
type inbound struct {
	room sync.Cond // the reader waits here; uses mu

	mu sync.Mutex // guards all below

	// The queue, and the one goroutine that works it off. It exists while there is
	// something in the queue or in its hands.
	queue    queue
	working  bool
	handling *scope // the notification whose handler runs

	// Back-pressure.
	backlog int64       // bytes of queued notifications
	heldOut int64       // bytes of updates that were handled but not yet given out
	lifting int         // calls that wait for an answer and are not streams
	over    atomic.Bool // the budget is exceeded; written under mu
	paused  bool        // the reader waits

	// Handshake.
	gate gate
	held []item // read behind a handshake that has not been answered yet

	// Requests that have not been answered.
	byID    map[string]*request
	most    int // how many there were at once
	groups  map[string][]*request
	behind  []*request // those in the queue that were not started yet, in order
	waits   int64      // bytes of the requests that were not started yet
	open    int64      // bytes of all requests that were not answered yet
	slots   int        // handlers that run and count
	line    []*request // those that wait for a slot, in order
	active  *request   // a list of those whose goroutine runs
	stopped bool       // nothing is handled any more

	idle []chan struct{} // closed when nothing is left to do

	slow     *time.Timer
	slowArms bool
	slowFor  *scope // the handler that ran when the timer was set, or the next one
}

func (in *inbound) init(c *Conn) {
	in.room.L = &in.mu
	in.byID = make(map[string]*request)
	in.groups = make(map[string][]*request)
	if c.cfg.Handshake != "" {
		in.gate = gateClosed
	}
}
