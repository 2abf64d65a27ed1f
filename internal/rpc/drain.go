package rpc

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/internal/wire"
)

// endOfInput makes the calls fail whose answers can never come: at once those that
// do not wait for notifications, and the others once everything that was read
// before has been handled.
func (c *Conn) endOfInput(err error) {
	c.failCalls(err, func(k *call) bool { return k.exempt })
	in := &c.in
	in.mu.Lock()
	if in.working && !in.stopped {
		c.enqueueLocked(item{kind: itemEnd})
		in.mu.Unlock()
		return
	}
	in.mu.Unlock()
	c.failCalls(err, func(*call) bool { return true })
}

// stopInput drops what was not handled yet. Answers that were read reach their
// callers.
func (c *Conn) stopInput() {
	in := &c.in
	in.mu.Lock()
	in.stopped = true
	var answers []*call
	dropped := 0
	for in.queue.len() > 0 {
		switch it := in.queue.pop(); it.kind {
		case itemResponse:
			answers = append(answers, it.what.(*call))
		case itemNote:
			dropped++
			in.backlog -= it.size
		}
	}
	for _, it := range in.held {
		if it.kind == itemNote {
			dropped++
			in.backlog -= it.size
		}
	}
	in.held, in.behind, in.line = nil, nil, nil
	for _, r := range in.byID {
		if r.state != requestRunning {
			in.unregisterLocked(r)
			r.entered.over()
		}
	}
	if in.slow != nil {
		in.slow.Stop()
	}
	in.room.Broadcast()
	in.signalIdleLocked()
	in.mu.Unlock()
	if dropped > 0 {
		c.log.Info("acp: closed with notifications that were not handled", "count", dropped)
	}
	for _, k := range answers {
		c.deliver(k)
	}
}

// idle returns a channel that is closed when nothing that was read is left to do.
func (c *Conn) idle() <-chan struct{} {
	in := &c.in
	ch := make(chan struct{})
	in.mu.Lock()
	defer in.mu.Unlock()
	in.idle = append(in.idle, ch)
	in.signalIdleLocked()
	return ch
}

func (in *inbound) signalIdleLocked() {
	if len(in.idle) == 0 || in.working || in.active != nil || len(in.byID) > 0 || len(in.held) > 0 {
		return
	}
	for _, ch := range in.idle {
		close(ch)
	}
	in.idle = nil
}

// drained waits until everything that was read has been handled and answered.
func (c *Conn) drained(grace time.Duration) bool {
	return waitFor(c.idle(), grace, c.end.hurry)
}

// waitFor reports whether done was closed in time and before hurry was.
func waitFor(done <-chan struct{}, grace time.Duration, hurry <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-hurry:
	case <-t.C:
	}
	return false
}

// stuck names the methods whose handlers still run.
func (c *Conn) stuck() []string {
	in := &c.in
	in.mu.Lock()
	defer in.mu.Unlock()
	var names []string
	for r := in.active; r != nil; r = r.next {
		names = append(names, shown(r.method))
	}
	if in.handling != nil {
		names = append(names, shown(in.handling.method))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func stuckError(methods []string, run error) error {
	err := fmt.Errorf("%w: %s", wire.ErrHandlerStuck, strings.Join(methods, ", "))
	if run != nil {
		err = fmt.Errorf("%w; %w", run, err)
	}
	return err
}
