package work

import (
	"context"
	"fmt"
	"sync/atomic"
)

// A Tally counts what arrives at a client. Its methods may be called from any
// goroutine, because some contenders handle notifications side by side.
type Tally struct {
	count  atomic.Int64
	length atomic.Int64
	target atomic.Int64
	done   chan struct{}

	// The count that Until waits for, and its wake-up.
	mark    atomic.Int64
	reached chan struct{}
}

// NewTally returns a tally that waits for n updates.
func NewTally(n int) *Tally {
	t := &Tally{done: make(chan struct{}, 1), reached: make(chan struct{}, 1)}
	t.Reset(n)
	return t
}

// Reset starts again at zero. Nothing may be under way.
func (t *Tally) Reset(n int) {
	t.count.Store(0)
	t.length.Store(0)
	t.target.Store(int64(n))
	select {
	case <-t.done:
	default:
	}
	if n == 0 {
		t.done <- struct{}{}
	}
}

// Add counts one update with that many bytes of text.
func (t *Tally) Add(length int) {
	t.length.Add(int64(length))
	n := t.count.Add(1)
	if n == t.mark.Load() {
		select {
		case t.reached <- struct{}{}:
		default:
		}
	}
	if n == t.target.Load() {
		t.done <- struct{}{}
	}
}

// Until returns when n updates were counted. One goroutine at a time waits.
func (t *Tally) Until(ctx context.Context, n int) error {
	t.mark.Store(int64(n))
	for t.count.Load() < int64(n) {
		select {
		case <-t.reached:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Wait returns when all updates were counted.
func (t *Tally) Wait(ctx context.Context) error {
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("counted %d of %d updates: %w", t.count.Load(), t.target.Load(), ctx.Err())
	}
}

// Length is the sum of the text lengths.
func (t *Tally) Length() int64 { return t.length.Load() }

// Count is the number of updates.
func (t *Tally) Count() int64 { return t.count.Load() }
