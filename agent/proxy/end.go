package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// end is one of the two streams, with the requests that are in flight to it.
type end struct {
	name  string // "client" or "agent"
	s     stream.Stream
	read  func() (stream.Message, error)
	send  func(stream.Message) error
	noise func([]byte) bool // result of envelope.LeaveChecks of s
	drain <-chan struct{}   // nil if the stream never drains

	writing sync.Mutex // held during each write, because both directions write to an end

	mu   sync.Mutex // guards the fields below
	max  int
	open map[string]*request // by the key of the request's id at this end
	busy int                 // messages that settle requests and are not passed on yet
	gone error               // why nothing more can be passed on; nil before
	idle chan struct{}       // closed when open becomes empty and busy 0; nil if nothing waits for that
}

// request is a request in flight.
type request struct {
	from    *end            // the sender; nil for the proxy itself
	id      json.RawMessage // as the sender wrote it
	session string

	// response receives the response, or is closed if there will be none. If it is nil, the
	// response is passed on unchanged.
	response chan stream.Message
	handling *handling // the middleware that has the request; nil if there is none
}

// waiting makes the channel for a caller that waits for the response, and returns r.
func (r *request) waiting() *request {
	r.response = make(chan stream.Message, 1)
	return r
}

// newEnd returns an end. It cannot be used if s is nil.
func newEnd(name string, s stream.Stream, max int) *end {
	e := &end{name: name, max: max, open: map[string]*request{}}
	if isNil(s) {
		return e
	}
	f := stream.FeaturesOf(s)
	e.s, e.drain = s, f.Draining
	read, send := f.Messages(s)
	e.read = func() (m stream.Message, err error) {
		err = panics.Guard(func() (err error) { m, err = read(); return err })
		return m, err
	}
	e.noise = envelope.LeaveChecks(f) // then the stream does not drop a message without a word
	e.send = func(m stream.Message) error { return panics.Guard(func() error { return send(m) }) }
	return e
}

// isNil reports whether s is nil or a nil pointer.
func isNil(s stream.Stream) bool {
	v := reflect.ValueOf(s)
	return s == nil || v.Kind() == reflect.Pointer && v.IsNil()
}

func (e *end) close() error {
	if e.s == nil {
		return nil
	}
	return panics.Guard(e.s.Close)
}

// outputError is the error of a write to a broken stream.
type outputError struct{ err error }

func (e *outputError) Error() string { return e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

// write sends a message. The error is a *stream.MessageError if the stream refuses the message, and
// an *outputError if the stream is broken.
func (e *end) write(m stream.Message) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	err := e.send(m)
	if _, refused := errors.AsType[*stream.MessageError](err); err == nil || refused {
		return err
	}
	return &outputError{fmt.Errorf("proxy: writing to the %s: %w", e.name, err)}
}

var (
	errInUse   = rpcerr.InvalidRequest(nil).WithDetail("id is in use")
	errTooMany = rpcerr.New(rpcerr.CodeInternalError, "Too many requests", nil) //errlint:ignore the text of the protocol
)

// add records a request before it is passed on under id.
func (e *end) add(id json.RawMessage, r *request) error {
	key := idKey(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.gone != nil:
		return e.gone
	case e.open[key] != nil:
		return errInUse
	case len(e.open) >= e.max:
		return errTooMany
	}
	e.open[key] = r
	return nil
}

// take removes and returns the request with the given id. It returns nil if there is none.
func (e *end) take(id json.RawMessage) *request {
	key := idKey(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.open[key]
	delete(e.open, key)
	e.tellIdleLocked()
	return r
}

// takeAll removes the requests for which pick returns true, and returns them.
func (e *end) takeAll(pick func(*request) bool) []*request {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []*request
	for _, key := range slices.Sorted(maps.Keys(e.open)) {
		if r := e.open[key]; pick(r) {
			list = append(list, r)
			delete(e.open, key)
		}
	}
	e.tellIdleLocked()
	return list
}

// leave makes further requests to the end fail with err. It removes and returns the open requests.
func (e *end) leave(err error) []*request {
	e.mu.Lock()
	if e.gone == nil {
		e.gone = err
	}
	e.mu.Unlock()
	return e.takeAll(func(*request) bool { return true })
}

// settling keeps the end from being idle until the caller has passed on a response and calls done.
func (e *end) settling() (done func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.busy++
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.busy--
		e.tellIdleLocked()
	}
}

// whenIdle returns a channel that is closed when no request to the end is open and every response
// of the end is passed on.
func (e *end) whenIdle() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.idle == nil {
		e.idle = make(chan struct{})
	}
	idle := e.idle
	e.tellIdleLocked()
	return idle
}

func (e *end) tellIdleLocked() {
	if e.idle != nil && len(e.open) == 0 && e.busy == 0 {
		close(e.idle)
		e.idle = nil
	}
}

// idKey returns a map key for an id. Two spellings of one id have the same key.
func idKey(id json.RawMessage) string { return envelope.IDKey(string(id)) }

// holds reports whether the request is still open under id. gone is why the end takes no more
// requests; it is nil if the end takes more.
func (e *end) holds(id json.RawMessage, r *request) (open bool, gone error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open[idKey(id)] == r, e.gone
}
