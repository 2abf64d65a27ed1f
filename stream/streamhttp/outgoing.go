package streamhttp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/acpkit/go-sdk/stream"
)

const (
	outgoingBytes = 1 << 20 // accepted and not posted before a writer waits
	maxFlying     = 1024    // responses that are not posted before a writer waits
)

// outgoing is an accepted message.
type outgoing struct {
	m        stream.Message
	session  string
	after    int   // of a response: how many notifications were written before it
	bare     bool  // the event stream of its session cannot be opened before it is posted
	releases *call // of a barrier
	probe    bool  // see doubts
}

// beside reports whether the message is one of our own, which is not in the lane.
func (o *outgoing) beside() bool { return o.releases != nil || o.probe }

// write accepts a message, or returns a channel that is closed when there may be room for it.
func (b *book) write(m stream.Message) (t todo, room <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return t, nil, stream.ErrClosed
	case b.over:
		return t, nil, io.ErrClosedPipe
	case !b.begun && m.Method != "initialize":
		return t, nil, &stream.MessageError{Reason: "the first message must be initialize"}
	case !m.IsResponse() && b.queued > 0 && b.queued+len(m.Data) > outgoingBytes,
		m.IsResponse() && b.flying > 0 && (b.flying >= maxFlying || b.flown+len(m.Data) > maxBuffered):
		return t, b.room, nil // the server does not take what it gets, or what it has asked for
	}
	b.begun = true
	o := &outgoing{m: m, session: m.SessionID, after: b.notes}
	switch {
	case m.IsResponse():
		o.session = b.asked[string(m.ID)]
		delete(b.asked, string(m.ID))
		b.answered.add(string(m.ID), "")
		b.flying++
		b.flown += len(m.Data)
		b.replies = append(b.replies, o)
		b.beginLocked(&t)
		return t, nil, nil
	case m.Kind == stream.KindRequest:
		b.calls[string(m.ID)] = &call{id: m.ID, method: m.Method, session: m.SessionID}
	default:
		b.notes++
	}
	b.lane = append(b.lane, o)
	b.queued += len(m.Data)
	b.beginLocked(&t)
	return t, nil, nil
}

// startLocked adds what can be posted now. Requests and notifications are posted one after the
// other, each when the event stream of its session is open. A response is posted when the
// notifications before it were, and so the requests before those.
func (b *book) startLocked(t *todo) {
	if len(b.lane) > 0 && !b.posting {
		o := b.lane[0]
		if o.session == "" || o.bare || b.sourceLocked(o.session, t).open {
			b.posting = true
			t.post = append(t.post, o)
		}
	}
	for len(b.replies) > 0 && b.replies[0].after <= b.passed {
		t.post = append(t.post, b.replies[0])
		b.replies = b.replies[1:]
	}
}

// posted is told how a POST has ended: err is nil if the server has accepted the message.
func (b *book) posted(o *outgoing, err error) todo {
	return b.do(func(t *todo) {
		if !o.beside() {
			b.doneLocked(o)
		}
		switch {
		case err == nil:
		case o.probe:
			b.probedLocked(t, err)
		case o.releases != nil:
			b.refusedLocked(o.releases, err)
		case isStatus(err, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusGone):
			b.endLocked(err)
		case isStatus(err, http.StatusConflict) && o.session != "":
			b.loseSessionLocked(o.session, err)
		case o.m.Kind != stream.KindRequest:
			b.endLocked(err)
		default:
			b.loseLocked(b.calls[string(o.m.ID)], err)
			if errors.Is(err, errUnanswered) {
				b.dropRequestsLocked()
			}
		}
	})
}

// doneLocked forgets a message that was posted or given up.
func (b *book) doneLocked(o *outgoing) {
	if o.m.IsResponse() {
		b.flying--
		b.flown -= len(o.m.Data)
	} else {
		b.lane, b.posting = b.lane[1:], false
		b.queued -= len(o.m.Data)
		if o.m.Kind != stream.KindRequest {
			b.passed++
		}
	}
	b.makeRoomLocked()
}

// dropRequestsLocked gives up the requests that wait behind one that the server has not answered.
// Each of them could wait as long again.
func (b *book) dropRequestsLocked() {
	b.lane = slices.DeleteFunc(b.lane, func(o *outgoing) bool {
		if o.m.Kind != stream.KindRequest {
			return false
		}
		b.queued -= len(o.m.Data)
		b.loseLocked(b.calls[string(o.m.ID)], fmt.Errorf("%w: %w, which the request before it has shown", ErrNotAccepted, errUnanswered))
		return true
	})
}

// loseLocked reports that a request will get no response, if it has none. The call may be nil.
func (b *book) loseLocked(k *call, err error) {
	if k != nil && b.calls[string(k.id)] == k {
		delete(b.calls, string(k.id))
		b.deliver(stream.Message{}, &stream.LostError{ID: k.id, Err: err})
	}
}

// loseSessionLocked reports that a session is lost.
func (b *book) loseSessionLocked(session string, err error) {
	for _, k := range b.callsLocked(session) {
		delete(b.calls, string(k.id))
	}
	b.deliver(stream.Message{}, &stream.LostError{SessionID: session, Err: err})
}

// makeRoomLocked wakes those who wait until something was posted.
func (b *book) makeRoomLocked() {
	close(b.room)
	b.room = make(chan struct{})
}

// busy reports whether something that was accepted is not posted yet. changed is closed when this
// may have changed.
func (b *book) busy() (busy bool, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.lane) > 0 || b.flying > 0, b.room
}
