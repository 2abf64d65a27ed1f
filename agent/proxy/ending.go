package proxy

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/internal/wire"
)

const (
	// brokenGrace is how long the messages of an end are still read after a write to it has failed.
	brokenGrace = time.Second
	// handlerGrace is how long middleware may take to write the responses it has received.
	handlerGrace = time.Second
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
	gone := closedError{err}
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
	if stuck := p.handlers.wait(p.opts.HandlerGrace); len(stuck) > 0 {
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
			idle, grace = p.agent.whenIdle(), max(p.opts.DrainGrace, 0)
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
