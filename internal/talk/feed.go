package talk

import (
	"iter"
	"sync"

	"github.com/acpkit/go-sdk/internal/rpc"
)

// Feed holds the unread updates of a turn. U is the type of updates of the vocabulary.
type Feed[U any] struct {
	engine *rpc.Conn

	mu       sync.Mutex // guards the fields below
	changed  sync.Cond
	queue    []update[U]
	held     int64 // bytes in queue that count against the backlog
	closed   bool  // no more updates will be added
	dropping bool  // updates are dropped
	readers  int   // number of loops over Updates
}

// Init must be called before all other methods.
func (f *Feed[U]) Init(engine *rpc.Conn) {
	f.engine = engine
	f.changed.L = &f.mu
}

// push adds an update to the queue, unless updates are dropped. It never blocks. It returns false
// if the feed is closed.
func (f *Feed[U]) push(it update[U]) bool {
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
func (f *Feed[U]) next() (u U, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.queue) == 0 {
		if f.closed || f.dropping {
			return u, false
		}
		f.changed.Wait()
	}
	it := f.queue[0]
	f.queue[0] = update[U]{}
	f.queue = f.queue[1:]
	if f.held > 0 {
		f.held -= it.size
		f.engine.Release(it.size)
	}
	return it.u, true
}

// Close records that no more updates will be added. The queue no longer counts against the backlog,
// because it can no longer grow and may never be read.
func (f *Feed[U]) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.releaseLocked()
	f.changed.Broadcast()
}

// DropUnread drops the unread updates and all later ones, unless a loop is reading them.
func (f *Feed[U]) DropUnread() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readers == 0 {
		f.dropLocked()
	}
}

func (f *Feed[U]) dropLocked() {
	f.dropping = true
	f.releaseLocked()
	f.queue = nil
	f.changed.Broadcast()
}

func (f *Feed[U]) releaseLocked() {
	if f.held > 0 {
		f.engine.Release(f.held)
		f.held = 0
	}
}

// Updates returns an iterator over the updates. After the last one it waits for done, and then
// yields *err if it is not nil. A loop that ends early drops all later updates.
func (f *Feed[U]) Updates(done <-chan struct{}, err *error) iter.Seq2[U, error] {
	return func(yield func(U, error) bool) {
		if !f.read(yield) {
			return
		}
		<-done
		if *err != nil {
			var none U
			yield(none, *err)
		}
	}
}

// read passes updates to yield until there are no more or yield returns false. It reports whether
// all updates were read.
func (f *Feed[U]) read(yield func(U, error) bool) (all bool) {
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
