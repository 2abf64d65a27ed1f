// Package inbox holds what a stream has received: the pieces of a message until it is complete, and
// messages until their reader takes them.
package inbox

import (
	"context"
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/stream"
)

// Inbox is a queue with one reader and any number of receivers. Its methods are safe for
// concurrent use, except that only one goroutine at a time calls Take.
type Inbox[T any] struct {
	limit   int64
	cost    func(T) int
	arrived chan struct{} // has a token when something was added
	closed  chan struct{}

	mu      sync.Mutex // guards the fields below
	queue   []arrival[T]
	size    int64         // the cost of queue
	over    error         // what follows the last message
	idle    bool          // the reader waits
	waiting int           // how many receivers wait for room
	room    chan struct{} // closed by the next Take; nil if no receiver waits
}

// arrival is a message, or an error after which reading goes on.
type arrival[T any] struct {
	msg T
	err error
}

// New returns an Inbox in which messages have room whose cost is limit in all.
func New[T any](limit int64, cost func(T) int) *Inbox[T] {
	return &Inbox[T]{limit: limit, cost: cost, arrived: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Wait waits until a message with this cost has room. One that is longer than the limit has
// room in an empty Inbox. Wait reports whether it had to wait.
func (in *Inbox[T]) Wait(ctx context.Context, cost int) (waited bool, err error) {
	for {
		in.mu.Lock()
		full := len(in.queue) > 0 && in.size+int64(cost) > in.limit && in.over == nil
		if !full {
			in.mu.Unlock()
			return waited, nil
		}
		if in.room == nil {
			in.room = make(chan struct{})
		}
		room := in.room
		in.waiting++
		in.mu.Unlock()
		waited = true
		select {
		case <-room:
		case <-in.closed:
			err = stream.ErrClosed
		case <-ctx.Done():
			err = ctx.Err()
		}
		in.mu.Lock()
		in.waiting--
		in.mu.Unlock()
		if err != nil {
			return waited, err
		}
	}
}

// Put adds a message, or an error after which reading goes on. It does not wait. It returns
// the error of End if that was called.
func (in *Inbox[T]) Put(msg T, err error) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.over != nil {
		return in.over
	}
	in.queue = append(in.queue, arrival[T]{msg, err})
	in.size += int64(in.cost(msg))
	in.wakeReader()
	return nil
}

func (in *Inbox[T]) wakeReader() {
	select {
	case in.arrived <- struct{}{}:
	default:
	}
}

// End sets the error that follows the last message. Only the first call has an effect.
func (in *Inbox[T]) End(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.over == nil {
		in.over = err
		in.wakeReader()
		in.makeRoomLocked()
	}
}

// Err returns the error of End, or nil if it was not called.
func (in *Inbox[T]) Err() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.over
}

// Close makes Take and Wait return stream.ErrClosed. It is called once.
func (in *Inbox[T]) Close() { close(in.closed) }

// Closed returns a channel that is closed by Close.
func (in *Inbox[T]) Closed() <-chan struct{} { return in.closed }

// IsClosed reports whether Close was called.
func (in *Inbox[T]) IsClosed() bool {
	select {
	case <-in.closed:
		return true
	default:
		return false
	}
}

// Idle reports whether the reader has taken everything and waits for more.
func (in *Inbox[T]) Idle() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.idle && len(in.queue) == 0
}

// Full reports whether a receiver waits for room.
func (in *Inbox[T]) Full() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.waiting > 0
}

// Take waits for the next message.
func (in *Inbox[T]) Take() (msg T, err error) {
	for {
		if in.IsClosed() {
			return msg, stream.ErrClosed
		}
		in.mu.Lock()
		in.idle = len(in.queue) == 0
		if !in.idle {
			next := in.queue[0]
			in.queue[0] = arrival[T]{}
			if in.queue = in.queue[1:]; len(in.queue) == 0 {
				in.queue = nil
			}
			in.size -= int64(in.cost(next.msg))
			in.makeRoomLocked()
			in.mu.Unlock()
			return next.msg, next.err
		}
		over := in.over
		in.mu.Unlock()
		if over != nil {
			return msg, over
		}
		select {
		case <-in.arrived:
		case <-in.closed:
		}
	}
}

func (in *Inbox[T]) makeRoomLocked() {
	if in.room != nil {
		close(in.room)
		in.room = nil
	}
}

// Gather collects a message that arrives in pieces. Of one that is longer than Max it keeps only
// what a [stream.TooLargeError] says.
type Gather struct {
	Max  int
	data []byte
	long *envelope.Skim // nil unless the message is too long
}

// Write adds a piece. It never fails.
func (g *Gather) Write(piece []byte) (int, error) {
	n := len(piece)
	if g.long == nil {
		if g.data = append(g.data, piece...); len(g.data) <= g.Max {
			return n, nil
		}
		g.long, piece, g.data = new(envelope.Skim), g.data, nil
	}
	g.long.Write(piece)
	return n, nil
}

// Take returns the message, or a *[stream.TooLargeError], and begins with the next one.
func (g *Gather) Take() ([]byte, error) {
	data, long := slices.Clip(g.data), g.long
	g.data, g.long = nil, nil
	if long != nil {
		return nil, &stream.TooLargeError{Method: long.Method(), ID: long.ID(), HasResult: long.HasResult(), Size: long.Len(), Limit: int64(g.Max)}
	}
	return data, nil
}
