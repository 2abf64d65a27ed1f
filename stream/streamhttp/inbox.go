package streamhttp

import (
	"sync"

	"github.com/acpkit/go-sdk/stream"
)

const (
	// readAhead is how many bytes are read before the reader asks for them, unless it is
	// one message a stream.
	readAhead = 1 << 20
	// arrivalCost is what an arrival counts for beside its message, because it takes memory
	// even if the message is short or was skipped.
	arrivalCost = 512
)

// inbox holds what the event streams of a client have delivered, for one reader.
type inbox struct {
	closed chan struct{} // closed by the owner's Close

	mu    sync.Mutex    // guards all below
	more  chan struct{} // closed and replaced when something was added
	room  chan struct{} // closed and replaced when something was read
	queue []arrival
	size  int
	over  error
	idle  bool // the reader waits
}

// arrival is a message, or an error after which reading goes on.
type arrival struct {
	msg stream.Message
	err error
}

func (a *arrival) cost() int { return arrivalCost + len(a.msg.Data) }

func newInbox() *inbox {
	return &inbox{closed: make(chan struct{}), more: make(chan struct{}), room: make(chan struct{})}
}

// wait waits until an event stream may deliver. It reports whether it had to.
func (in *inbox) wait() (waited bool) {
	for {
		in.mu.Lock()
		room := in.room
		full := in.size >= readAhead
		in.mu.Unlock()
		if !full {
			return waited
		}
		waited = true
		select {
		case <-room:
		case <-in.closed:
			return waited
		}
	}
}

func (in *inbox) put(a arrival) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.over != nil {
		return
	}
	in.queue = append(in.queue, a)
	in.size += a.cost()
	close(in.more)
	in.more = make(chan struct{})
}

// end sets the error that follows the last message. Only the first call has an effect.
func (in *inbox) end(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.over == nil {
		in.over = err
		close(in.more)
		in.more = make(chan struct{})
	}
}

// waiting reports whether the reader has taken everything and waits for more.
func (in *inbox) waiting() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.idle && len(in.queue) == 0
}

func (in *inbox) take() (stream.Message, error) {
	for {
		select {
		case <-in.closed:
			return stream.Message{}, stream.ErrClosed
		default:
		}
		in.mu.Lock()
		in.idle = len(in.queue) == 0
		if !in.idle {
			a := in.queue[0]
			in.queue[0] = arrival{}
			if in.queue = in.queue[1:]; len(in.queue) == 0 {
				in.queue = nil
			}
			in.size -= a.cost()
			close(in.room)
			in.room = make(chan struct{})
			in.mu.Unlock()
			return a.msg, a.err
		}
		more, over := in.more, in.over
		in.mu.Unlock()
		if over != nil {
			return stream.Message{}, over
		}
		select {
		case <-more:
		case <-in.closed:
		}
	}
}
