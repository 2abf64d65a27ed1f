package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/internal/wire"
)

const (
	// drainGrace is how long requests of the client may continue after it has closed its end.
	drainGrace = 5 * time.Second
	// brokenGrace is how long the messages of an end are still read after a write to it has failed.
	brokenGrace = time.Second
	// handlerGrace is how long middleware may take to write the responses it has received.
	handlerGrace = time.Second
	// stuckGrace is how long Wait waits for middleware after the streams are closed.
	stuckGrace = 5 * time.Second
	// readGrace is how long the proxy waits for a Read that Close does not interrupt.
	readGrace = time.Second
)

// run waits until the proxy ends and then closes the streams.
func (p *Proxy) run(directions <-chan error) {
	left, err := p.first(directions)
	p.finish(err)
	p.mu.Lock()
	err = p.why
	p.mu.Unlock()
	gone := wire.ErrClosed
	if err != nil {
		gone = fmt.Errorf("%w: %w", wire.ErrClosed, err)
	}
	p.endLife(gone)
	for _, e := range []*end{p.client, p.agent} {
		for _, r := range e.leave(gone) {
			if r.response != nil {
				close(r.response)
			}
		}
	}
	p.client.s.Close()
	p.agent.s.Close()
	close(p.done)
	for range left {
		select {
		case <-directions:
		case <-time.After(readGrace):
		}
	}
	if stuck := p.handlers.wait(stuckGrace); len(stuck) > 0 {
		err = errors.Join(err, fmt.Errorf("%w: %s", wire.ErrHandlerStuck, strings.Join(stuck, ", ")))
	}
	p.mu.Lock()
	p.err = err
	p.mu.Unlock()
	close(p.ended)
}

// first waits until the streams may be closed. It returns how many directions are still running,
// and why the proxy ends.
func (p *Proxy) first(directions <-chan error) (left int, err error) {
	left = 2
	select {
	case <-p.closing:
		return left, nil
	case <-p.client.drain:
		return p.drained(directions, left)
	case <-p.agent.drain:
		return p.drained(directions, left)
	case err = <-p.failed:
	case err = <-directions:
		left--
	}
	return p.last(err, directions, left)
}

// drained waits until no request is in flight in either direction.
func (p *Proxy) drained(directions <-chan error, left int) (int, error) {
	for _, e := range []*end{p.client, p.agent} {
		select {
		case <-e.whenIdle():
		case <-p.closing:
			return left, nil
		case err := <-p.failed:
			return p.last(err, directions, left)
		case err := <-directions:
			return p.last(err, directions, left-1)
		}
	}
	p.handlers.wait(handlerGrace)
	return left, nil
}

// last passes on the last messages after err has ended a direction.
func (p *Proxy) last(err error, directions <-chan error, left int) (int, error) {
	var ended *inputEnd
	var broken *outputError
	var idle <-chan struct{}
	var grace time.Duration
	switch {
	case errors.As(err, &ended):
		err = ended.err
		p.leave(ended.of, ended)
		if ended.of == p.client { // the client may still read the responses to its requests
			idle, grace = p.agent.whenIdle(), drainGrace
		}
	case errors.As(err, &broken):
		grace = brokenGrace
	default:
		return left, err
	}
	select {
	case <-idle:
	case <-time.After(grace):
	case <-p.closing:
		return left, err
	case second := <-directions:
		left--
		if errors.As(second, &ended) {
			p.leave(ended.of, ended)
			if broken != nil {
				err = ended.err // all messages of that end were read
			}
		}
	}
	p.handlers.wait(handlerGrace)
	return left, err
}

// leave fails the requests to an end that takes no more.
func (p *Proxy) leave(e *end, err error) {
	for _, r := range e.leave(&goneError{e.name, err}) {
		_ = p.respond(r, &goneError{e.name, err}) // the other end may have left too
	}
}

// handlers holds the messages that middleware is handling.
type handlers struct {
	mu   sync.Mutex // guards the fields below
	all  map[*handling]struct{}
	byID map[string]*handling // the requests, by sender and id
	none chan struct{}        // closed when no handler runs; nil if nothing waits for that
}

func (l *handlers) add(h *handling) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all, l.byID = map[*handling]struct{}{}, map[string]*handling{}
	}
	l.all[h] = struct{}{}
	if h.request != nil {
		l.byID[h.from.name+idKey(h.m.ID)] = h
	}
}

// find returns the request that from sent with id, or nil.
func (l *handlers) find(from *end, id json.RawMessage) *handling {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byID[from.name+idKey(id)]
}

// forget allows the sender to use the id of the request again.
func (l *handlers) forget(h *handling) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if key := h.from.name + idKey(h.m.ID); l.byID[key] == h {
		delete(l.byID, key)
	}
}

func (l *handlers) remove(h *handling) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, h)
	if l.none != nil && len(l.all) == 0 {
		close(l.none)
		l.none = nil
	}
}

// wait waits until no handler runs. If handlers still run after grace, it returns the methods of
// their messages.
func (l *handlers) wait(grace time.Duration) (stuck []string) {
	l.mu.Lock()
	if len(l.all) == 0 {
		l.mu.Unlock()
		return nil
	}
	none := make(chan struct{})
	l.none = none
	l.mu.Unlock()
	select {
	case <-none:
		return nil
	case <-time.After(grace):
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for h := range l.all {
		stuck = append(stuck, shown(h.m.Method))
	}
	slices.Sort(stuck)
	return slices.Compact(stuck)
}
