package streamhttp

import (
	"context"
	"sync"

	"github.com/acpkit/go-sdk/stream"
)

// inbound holds what has arrived, in order, until it is read.
type inbound struct {
	max     int64
	turn    chan struct{} // held by the request or notification that waits for room
	arrived chan struct{} // one waits in it when something was added
	taken   chan struct{} // one waits in it when something was read
	closed  chan struct{} // closed when the reader's side was closed
	over    chan struct{} // closed when nothing more arrives

	mu      sync.Mutex // guards all below
	queue   []stream.Message
	size    int64
	waiting int   // messages that wait for room
	err     error // what follows the last message, once over is closed
}

func newInbound(max int64) *inbound {
	return &inbound{
		max: max, turn: make(chan struct{}, 1), arrived: make(chan struct{}, 1), taken: make(chan struct{}, 1),
		closed: make(chan struct{}), over: make(chan struct{}),
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// messageCost is what a message counts for beside its length, because it takes memory even
// if it is short: the buffer of its body, and its envelope.
const messageCost = 1 << 10

// maxWaiting is how many messages wait for room. Each takes a request that is open.
const maxWaiting = 1024

// put adds a message. Most messages wait for room, one after the other; errCrowded means that
// too many do. One that is awaited does not wait, as a response: what fills the queue may be
// waiting for it.
func (in *inbound) put(ctx context.Context, m stream.Message, awaited bool) error {
	if !awaited {
		if !in.beginWait() {
			return errCrowded
		}
		defer in.endWait()
		select {
		case in.turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		case <-in.closed:
			return stream.ErrClosed
		case <-in.over:
			return stream.ErrClosed
		}
		defer func() { <-in.turn }()
		for !in.fits(len(m.Data)) {
			select {
			case <-in.taken:
			case <-ctx.Done():
				return ctx.Err()
			case <-in.closed:
				return stream.ErrClosed
			case <-in.over:
				return stream.ErrClosed
			}
		}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.err != nil {
		return in.err
	}
	in.queue = append(in.queue, m)
	in.size += messageCost + int64(len(m.Data))
	signal(in.arrived)
	return nil
}

func (in *inbound) beginWait() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.waiting >= maxWaiting {
		return false
	}
	in.waiting++
	return true
}

func (in *inbound) endWait() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.waiting--
}

func (in *inbound) fits(n int) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.queue) == 0 || in.size+messageCost+int64(n) <= in.max
}

// end sets the error that follows the last message. Only the first call has an effect.
func (in *inbound) end(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.err == nil {
		in.err = err
		close(in.over)
	}
}

func (in *inbound) take() (stream.Message, error) {
	for {
		select {
		case <-in.closed:
			return stream.Message{}, stream.ErrClosed
		default:
		}
		in.mu.Lock()
		if len(in.queue) > 0 {
			m := in.queue[0]
			in.queue[0] = stream.Message{}
			if in.queue = in.queue[1:]; len(in.queue) == 0 {
				in.queue = nil
			}
			in.size -= messageCost + int64(len(m.Data))
			in.mu.Unlock()
			signal(in.taken)
			return m, nil
		}
		err := in.err
		in.mu.Unlock()
		if err != nil {
			return stream.Message{}, err
		}
		select {
		case <-in.arrived:
		case <-in.over:
		case <-in.closed:
		}
	}
}
