package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/stream/safetext"
)

const (
	// forwardGrace is how long Forward waits for responses after the end of input.
	forwardGrace = 5 * time.Second
	// forwardRest is how long Forward waits for the last messages of a broken end, and for a Read
	// that Close does not interrupt.
	forwardRest = time.Second
	// maxForwarded is how many requests of one end are remembered. Further requests are forwarded
	// too, but Forward cannot answer them if they are lost.
	maxForwarded = 1 << 16
)

// Forward passes the messages of a to b and those of b to a, unchanged but for line ends (see
// [Lines]), until one of the streams ends. It then closes both. Use it for a bridge between two kinds of stream. It
// does not interpret messages; a proxy that does uses package agent/proxy.
//
// After the end of input of one stream, Forward waits up to 5 s for the responses to
// the requests that it has read from it. It returns nil after a clean end, else the
// error that ended it. To stop it, close a or b. When one of them drains
// (see [Features]), Forward ends as soon as no request is in flight.
//
// A message that cannot be passed on does not end the others. A request that is too long
// for its reader, or that the other stream refuses or loses, gets an error as its
// response. So does a request whose response is too long or refused. A notification of that kind is
// lost, and so is a line that is not a message. The default logger of log/slog gets a warning when the
// number of lost ones is a power of two, with that number.
func Forward(a, b Stream) error {
	x, y := newForwardEnd(a), newForwardEnd(b)
	ended := make(chan error, 2)
	go func() { ended <- forward(x, y) }() // ends with the input of a, or with an error
	go func() { ended <- forward(y, x) }() // ends with the input of b, or with an error

	open, err := awaitForward(x, y, ended)
	_, clean := errors.AsType[*inputEnd](err)
	why := ReasonDone
	if err != nil && !clean {
		why = ReasonFailure
	}
	_, _ = x.close(why), y.close(why)
	for range open {
		select {
		case <-ended:
		case <-time.After(forwardRest):
		}
	}
	if clean {
		return nil
	}
	return err
}

// awaitForward waits until both streams may be closed. It returns how many directions
// have not ended, and the error that ended the first.
func awaitForward(x, y *forwardEnd, ended <-chan error) (open int, err error) {
	select {
	case err = <-ended:
	case <-x.drain:
		err = awaitIdle(ended, x, y)
	case <-y.drain:
		err = awaitIdle(ended, y, x)
	}
	if err == nil {
		return 2, nil
	}
	var idle <-chan struct{}
	var rest time.Duration
	if end, ok := errors.AsType[*inputEnd](err); ok {
		idle, rest = end.of.idle(), forwardGrace
	} else if _, ok := errors.AsType[*outputError](err); ok {
		rest = forwardRest
	} else {
		return 1, err
	}
	select {
	case <-idle: // every request that was read has been answered
		return 1, err
	case <-time.After(rest):
		return 1, err
	case second := <-ended:
		if _, ok := errors.AsType[*inputEnd](second); ok {
			err = second // the other end has sent everything too
		}
		return 0, err
	}
}

// awaitIdle waits until no request is in flight in either direction, and returns nil. If a
// direction ends before that, it returns the error of that direction.
func awaitIdle(ended <-chan error, x, y *forwardEnd) error {
	for _, e := range []*forwardEnd{x, y} {
		select {
		case err := <-ended:
			return err
		case <-e.idle():
		}
	}
	return nil
}

// inputEnd means that the input of a stream has ended.
type inputEnd struct{ of *forwardEnd }

func (e *inputEnd) Error() string { return io.EOF.Error() }

// outputError means that writing to a stream has failed.
type outputError struct{ err error }

func (e *outputError) Error() string { return e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

// forward passes the messages of from on to to, until reading or writing fails.
func forward(from, to *forwardEnd) error {
	for {
		m, err := from.read()
		if err == nil && from.noise != nil && m.Kind == KindInvalid && envelope.Parse(m.Data).Kind == envelope.KindNotJSON {
			err = from.skip(m.Data)
		} else if err == nil {
			err = carry(m, from, to)
		} else if errors.Is(err, io.EOF) {
			return &inputEnd{from}
		} else if long, ok := errors.AsType[*TooLargeError](err); ok {
			err = carryTooLarge(long, from, to)
		} else if lost, ok := errors.AsType[*LostError](err); ok {
			err = to.lost(lost)
		}
		if err != nil {
			return err
		}
	}
}

func carry(m Message, from, to *forwardEnd) error {
	if m.Kind == KindRequest {
		from.asked(m)
	}
	err := to.write(m)
	refused, ok := errors.AsType[*MessageError](err)
	switch {
	case !ok && err != nil:
		return &outputError{err}
	case !ok && m.IsResponse():
		to.answered(m.ID)
	case !ok:
	case m.Kind == KindRequest:
		return from.fail(m.ID, refused.Error())
	case m.IsResponse():
		return to.fail(m.ID, refused.Error())
	default:
		from.dropped(m.Method, refused.Reason)
	}
	return nil
}

func carryTooLarge(e *TooLargeError, from, to *forwardEnd) error {
	switch {
	case e.ID != nil && e.HasResult:
		return to.fail(e.ID, "stream: the response is too long")
	case e.ID != nil && e.Method != "":
		return from.fail(e.ID, "stream: the request is too long")
	}
	from.dropped(e.Method, "it is too long")
	return nil
}

// forwardEnd is one of the two streams of Forward.
type forwardEnd struct {
	s     Stream
	read  func() (Message, error)
	send  func(Message) error
	close func(Reason) error
	noise func([]byte) bool // result of envelope.LeaveChecks of s
	drain <-chan struct{}   // nil if the stream never drains
	drops int64             // messages of this end that were dropped; used by the goroutine that reads it

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
	e.noise = envelope.LeaveChecks(f) // then the stream does not drop a message without a word
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

// skip hands a line that is not one message back to the stream, which may find messages in it.
func (e *forwardEnd) skip(line []byte) error {
	return panics.Guard(func() error {
		if e.noise(line) && looksLikeMessage(line) {
			e.dropped("", "it stands beside other text: "+safetext.OneLine(string(line), 200))
		}
		return nil
	})
}

// dropped logs the loss of a message that this end has sent.
func (e *forwardEnd) dropped(method, reason string) {
	if e.drops++; e.drops&(e.drops-1) == 0 { // a peer must not fill the log
		slog.Warn("stream: dropped a message that cannot be passed on", "method", safetext.OneLine(method, 100), "reason", reason, "count", e.drops)
	}
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
