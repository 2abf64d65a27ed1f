// Copied to draft2/client by go generate.

package client

import (
	"iter"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// feed holds the unread updates of a turn.
type feed struct {
	engine *rpc.Conn

	mu       sync.Mutex // guards the fields below
	changed  sync.Cond
	queue    []update
	held     int64 // bytes in queue that count against the backlog
	closed   bool  // no more updates will be added
	dropping bool  // updates are dropped
	readers  int   // number of loops over Updates
}

func (f *feed) init(engine *rpc.Conn) {
	f.engine = engine
	f.changed.L = &f.mu
}

// push adds an update to the queue, unless updates are dropped. It never blocks. It returns false
// if the feed is closed.
func (f *feed) push(it update) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dropping || f.closed {
		return !f.closed
	}
	f.engine.Hold(it.size)
	f.held += it.size
	f.queue = append(f.queue, it)
	f.changed.Signal()
	return true
}

// next waits for the next update. It returns false if there will be none.
func (f *feed) next() (acp.SessionUpdate, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.queue) == 0 {
		if f.closed || f.dropping {
			return nil, false
		}
		f.changed.Wait()
	}
	it := f.queue[0]
	f.queue[0] = update{}
	f.queue = f.queue[1:]
	if f.held > 0 {
		f.held -= it.size
		f.engine.Release(it.size)
	}
	return it.u, true
}

// close records that no more updates will be added. The queue no longer counts against the backlog,
// because it can no longer grow and may never be read.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.releaseLocked()
	f.changed.Broadcast()
}

// dropUnread drops the unread updates and all later ones, unless a loop is reading them.
func (f *feed) dropUnread() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readers == 0 {
		f.dropLocked()
	}
}

func (f *feed) dropLocked() {
	f.dropping = true
	f.releaseLocked()
	f.queue = nil
	f.changed.Broadcast()
}

func (f *feed) releaseLocked() {
	if f.held > 0 {
		f.engine.Release(f.held)
		f.held = 0
	}
}

// read passes updates to yield until there are no more or yield returns false. It reports whether
// all updates were read.
func (f *feed) read(yield func(acp.SessionUpdate, error) bool) (all bool) {
	f.mu.Lock()
	f.readers++
	f.mu.Unlock()
	defer func() { // runs even if the body of the loop panics
		f.mu.Lock()
		defer f.mu.Unlock()
		f.readers--
		if !all {
			f.dropLocked()
		}
	}()
	for {
		u, ok := f.next()
		if !ok {
			return true
		}
		if !yield(u, nil) {
			return false
		}
	}
}

// Updates returns an iterator over the turn's updates, in order. If several loops run,
// each update goes to one of them. The iteration ends when the turn has ended and there
// are no more updates; if the turn failed, the last pair is a nil update and the error. A
// loop that ends early drops the remaining updates but does not end the turn: call Wait or
// Cancel.
func (t *Turn) Updates() iter.Seq2[acp.SessionUpdate, error] {
	return func(yield func(acp.SessionUpdate, error) bool) {
		if t.feed.read(yield) {
			<-t.done
			if t.err != nil {
				yield(nil, t.err)
			}
		}
	}
}
