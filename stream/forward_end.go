package stream

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/acpkit/go-sdk/internal/panics"
)

// maxForwarded is how many requests of one end are remembered. Further requests are forwarded too,
// but Forward cannot answer them if they are lost.
const maxForwarded = 1 << 16

// forwardEnd is one of the two streams of Forward.
type forwardEnd struct {
	s     Stream
	read  func() (Message, error)
	send  func(Message) error
	close func(Reason) error
	drain <-chan struct{} // nil if the stream never drains

	// writing is held during each write. Both directions write to an end, because an error for a
	// request that failed is sent back to the end it came from.
	writing sync.Mutex

	mu      sync.Mutex        // guards pending and settled
	pending map[string]string // requests of this end that are in flight, with their sessions
	settled chan struct{}     // closed when pending becomes empty; nil if nothing waits for that
}

func newForwardEnd(s Stream) *forwardEnd {
	f := FeaturesOf(s)
	e := &forwardEnd{s: s, drain: f.Draining, pending: map[string]string{}}
	read, send := f.Messages(s) // which may be the user's
	e.read = func() (m Message, err error) {
		err = panics.Guard(func() (err error) { m, err = read(); return err })
		return m, err
	}
	e.send = func(m Message) error { return panics.Guard(func() error { return send(m) }) }
	if e.close = f.CloseFor; e.close == nil {
		e.close = func(Reason) error { return s.Close() }
	}
	return e
}

func (e *forwardEnd) write(m Message) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	return e.send(m)
}

// asked records a request that this end has sent.
func (e *forwardEnd) asked(m Message) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.pending) < maxForwarded {
		e.pending[string(m.ID)] = m.SessionID
	}
}

// answered records that this end has received a response.
func (e *forwardEnd) answered(id json.RawMessage) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.pending, string(id))
	if len(e.pending) == 0 && e.settled != nil {
		close(e.settled)
		e.settled = nil
	}
}

// idle returns a channel that is closed when no request of this end is in flight.
func (e *forwardEnd) idle() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	settled := e.settled
	if settled == nil {
		settled = make(chan struct{})
		if len(e.pending) == 0 {
			close(settled)
		} else {
			e.settled = settled
		}
	}
	return settled
}

// fail answers a request of this end with an error.
func (e *forwardEnd) fail(id json.RawMessage, reason string) error {
	defer e.answered(id)
	text, err := json.Marshal(reason)
	if err != nil {
		return fmt.Errorf("stream: writing a response: %w", err)
	}
	err = e.write(ParseMessage(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":%s}}`, id, text)))
	if err != nil {
		return &outputError{err}
	}
	return nil
}

// lost answers the requests of this end that the other stream has lost.
func (e *forwardEnd) lost(l *LostError) error {
	var ids []string
	e.mu.Lock()
	if l.ID != nil {
		if _, waits := e.pending[string(l.ID)]; waits {
			ids = append(ids, string(l.ID))
		}
	} else {
		for id, session := range e.pending {
			if session == l.SessionID {
				ids = append(ids, id)
			}
		}
	}
	e.mu.Unlock()
	for _, id := range ids {
		if err := e.fail(json.RawMessage(id), "Internal error: the request was lost on its way"); err != nil {
			return err
		}
	}
	return nil
}
