package client

import (
	"context"
	"iter"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/acp"
)

// Turn is one prompt and what the agent makes of it. Read Updates, or call Wait or
// Text, on any goroutine; a turn of which nobody reads anything slows the whole
// connection down once its updates exceed Limits.Backlog.
type Turn struct {
	session *Session

	mu       sync.Mutex // guards all below
	changed  sync.Cond
	queue    []update
	held     int64 // bytes of queue that count against the backlog
	closed   bool  // no more updates will come
	dropping bool  // nobody wants the updates
	readers  int   // loops over Updates that run

	done chan struct{} // closed when res and err are set
	res  *acp.PromptResponse
	err  error
}

func newTurn(s *Session) *Turn {
	t := &Turn{session: s, done: make(chan struct{})}
	t.changed.L = &t.mu
	return t
}

// push takes an update. It never blocks.
func (t *Turn) push(it update) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dropping || t.closed {
		return
	}
	t.session.conn.engine.Get().Hold(it.size)
	t.held += it.size
	t.queue = append(t.queue, it)
	t.changed.Signal()
}

// next waits for an update; false when there will be none.
func (t *Turn) next() (acp.SessionUpdate, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) == 0 {
		if t.closed || t.dropping {
			return nil, false
		}
		t.changed.Wait()
	}
	it := t.queue[0]
	t.queue[0] = update{}
	t.queue = t.queue[1:]
	if t.held > 0 {
		t.held -= it.size
		t.session.conn.engine.Get().Release(it.size)
	}
	return it.u, true
}

// close says that the agent has answered. What waits for its reader no longer counts
// against the backlog: it can grow no more, and nobody may ever read it.
func (t *Turn) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.releaseLocked()
	t.changed.Broadcast()
}

func (t *Turn) dropLocked() {
	t.dropping = true
	t.releaseLocked()
	t.queue = nil
	t.changed.Broadcast()
}

func (t *Turn) releaseLocked() {
	if t.held > 0 {
		t.session.conn.engine.Get().Release(t.held)
		t.held = 0
	}
}

func (t *Turn) finish(res *acp.PromptResponse, err error) {
	t.close()
	t.res, t.err = res, err
	close(t.done)
}

// Updates gives out the turn's updates in order, each one once, also when several
// loops read them. The sequence ends when the turn is over and everything was given
// out; if the turn failed, its last pair is a nil update and the error. Leaving the loop
// early drops the rest of the updates but leaves the turn alone: Wait for it, or Cancel
// it.
func (t *Turn) Updates() iter.Seq2[acp.SessionUpdate, error] {
	return func(yield func(acp.SessionUpdate, error) bool) {
		if t.read(yield) {
			<-t.done
			if t.err != nil {
				yield(nil, t.err)
			}
		}
	}
}

// read gives out updates until there are no more, or until yield has enough.
func (t *Turn) read(yield func(acp.SessionUpdate, error) bool) (all bool) {
	t.mu.Lock()
	t.readers++
	t.mu.Unlock()
	defer func() { // also when the body of the loop panics
		t.mu.Lock()
		defer t.mu.Unlock()
		t.readers--
		if !all {
			t.dropLocked()
		}
	}()
	for {
		u, ok := t.next()
		if !ok {
			return true
		}
		if !yield(u, nil) {
			return false
		}
	}
}

// Wait returns how the turn ended. It waits for that, and drops the updates that nobody
// has read, unless a loop over Updates is running. It may be called repeatedly.
func (t *Turn) Wait() (*acp.PromptResponse, error) {
	t.mu.Lock()
	if t.readers == 0 {
		t.dropLocked()
	}
	t.mu.Unlock()
	<-t.done
	return t.res, t.err
}

// Text reads the rest of the updates and returns what the agent said in them. Thoughts,
// tool calls and all else are left out. How the turn ended is for Wait to tell; err is
// not nil when it failed.
func (t *Turn) Text() (string, error) {
	var b strings.Builder
	for u, err := range t.Updates() {
		if err != nil {
			return b.String(), err
		}
		if chunk, ok := u.(*acp.AgentMessageChunk); ok {
			b.WriteString(acp.PlainText(chunk.Content))
		}
	}
	return b.String(), nil
}

// Cancel asks the agent to end the turn, which then returns with the stop reason
// "cancelled". When the turn is over already it does nothing.
func (t *Turn) Cancel(ctx context.Context) error {
	select {
	case <-t.done:
		return nil
	default:
		return t.session.Cancel(ctx)
	}
}
