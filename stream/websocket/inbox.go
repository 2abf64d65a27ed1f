package websocket

import (
	"sync"

	"github.com/acpkit/go-sdk/stream"
)

const (
	// readAhead is how many bytes are read before the reader asks for them, unless it is
	// one message.
	readAhead = 1 << 20
	// arrivalCost is what an arrival counts for beside its message, because it takes memory
	// even if the message is empty or was skipped.
	arrivalCost = 256
)

// inbox holds the messages that were read ahead, for one receiver and one reader.
type inbox struct {
	arrived chan struct{} // one waits in it when something was added
	room    chan struct{} // one waits in it when there may be room
	closed  chan struct{} // closed by the owner's Close

	mu      sync.Mutex // guards all below
	queue   []arrival
	size    int
	waiting bool // the receiver waits for room
	over    error
}

// arrival is a message, or an error after which reading goes on.
type arrival struct {
	msg []byte
	err error
}

func (a *arrival) cost() int { return arrivalCost + len(a.msg) }

func newInbox() *inbox {
	return &inbox{arrived: make(chan struct{}, 1), room: make(chan struct{}, 1), closed: make(chan struct{})}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// waitRoom waits until the receiver may read the next message. It reports whether it
// had to wait.
func (in *inbox) waitRoom() (waited bool) {
	for {
		in.mu.Lock()
		in.waiting = in.size >= readAhead
		waiting := in.waiting
		in.mu.Unlock()
		if !waiting {
			return waited
		}
		waited = true
		select {
		case <-in.room:
		case <-in.closed:
			return waited
		}
	}
}

// paused reports whether the receiver waits for the reader.
func (in *inbox) paused() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.waiting
}

func (in *inbox) put(a arrival) {
	in.mu.Lock()
	in.queue = append(in.queue, a)
	in.size += a.cost()
	in.mu.Unlock()
	signal(in.arrived)
}

// end sets the error that follows the last message. Only the first call has an effect.
func (in *inbox) end(err error) {
	in.mu.Lock()
	if in.over == nil {
		in.over = err
	}
	in.mu.Unlock()
	signal(in.arrived)
}

// overWith returns what follows the last message, or nil if nothing has ended yet.
func (in *inbox) overWith() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.over
}

// take waits for the next message.
func (in *inbox) take() ([]byte, error) {
	for {
		select {
		case <-in.closed:
			return nil, stream.ErrClosed
		default:
		}
		in.mu.Lock()
		if len(in.queue) > 0 {
			a := in.queue[0]
			in.queue[0] = arrival{}
			if in.queue = in.queue[1:]; len(in.queue) == 0 {
				in.queue = nil
			}
			in.size -= a.cost()
			wake := in.waiting && in.size < readAhead
			in.mu.Unlock()
			if wake {
				signal(in.room)
			}
			return a.msg, a.err
		}
		over := in.over
		in.mu.Unlock()
		if over != nil {
			return nil, over
		}
		select {
		case <-in.arrived:
		case <-in.closed:
		}
	}
}
