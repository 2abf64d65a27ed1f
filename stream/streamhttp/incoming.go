package streamhttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/stream"
)

const (
	maxCancels = 1024    // how many cancels are held; then the oldest is delivered
	maxCancel  = 4 << 10 // bytes of one that is held

	barrierID = `"acpkit-barrier-` // the beginning of the ids of our own requests
)

// held is a response that has arrived on the event stream of the connection and waits for the events
// that the server has sent before on that of its session. A request for a method that does not exist
// shows when they have arrived: its response follows them.
type held struct {
	m stream.Message
	call
	source  *source
	barrier *outgoing
	events  int // of source, when that was last looked at
}

// arrived is told an event, in the order of its event stream.
func (b *book) arrived(s *source, m stream.Message) todo {
	b.mu.Lock()
	defer b.mu.Unlock()
	var t todo
	if b.over {
		return t
	}
	s.events++
	switch {
	case m.IsResponse():
		b.responseLocked(s, m, &t)
	case m.Kind == stream.KindRequest:
		id := string(m.ID)
		b.asked[id] = s.session
		b.deliver(m, nil)
		b.cancels = slices.DeleteFunc(b.cancels, func(cancel stream.Message) bool {
			if string(cancel.CancelID) != id {
				return false
			}
			b.deliver(cancel, nil)
			return true
		})
	case m.CancelID != nil:
		b.cancelLocked(m)
	default:
		b.attendLocked(subagent(&m), &t) // its updates arrive there, and no response names it
		b.deliver(m, nil)
	}
	return b.begin(&t)
}

// skipped is told that an event was too long to be read.
func (b *book) skipped(long *stream.TooLargeError) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.calls, string(long.ID))
	b.deliver(stream.Message{}, long)
}

// cancelLocked delivers a cancel. If its request has not arrived, it is held until it does.
func (b *book) cancelLocked(m stream.Message) {
	id := string(m.CancelID)
	_, open := b.asked[id]
	_, answered := b.answered.session(id)
	if open || answered || len(m.Data) > maxCancel {
		b.deliver(m, nil)
		return
	}
	if b.cancels = append(b.cancels, m); len(b.cancels) > maxCancels {
		b.deliver(b.cancels[0], nil)
		b.cancels = b.cancels[1:]
	}
}

func (b *book) responseLocked(s *source, m stream.Message, t *todo) {
	id := string(m.ID)
	if strings.HasPrefix(id, barrierID) {
		for _, h := range b.takeHeldLocked(func(h *held) bool { return string(h.barrier.m.ID) == id }) {
			b.releaseLocked(h)
		}
		return
	}
	b.attendLocked(m.SessionID, t) // its updates are waiting there
	h := &held{m: m, call: b.calls[id]}
	switch {
	case h.answered: // a second response
	case s.session != "" || h.session == "":
		b.releaseLocked(h)
	default:
		b.calls[id] = call{h.method, h.session, true}
		b.barriers++
		name, _ := json.Marshal(h.session) // a string can be encoded
		h.barrier = &outgoing{barrier: true, session: h.session, m: stream.ParseMessage(fmt.Appendf(nil,
			`{"jsonrpc":"2.0","id":%s%d","method":"_acpkit/barrier","params":{"sessionId":%s}}`, barrierID, b.barriers, name))}
		h.source = b.sourceLocked(h.session, t)
		b.held = append(b.held, h)
		if h.source.open {
			t.post = append(t.post, h.barrier)
		}
	}
}

// takeHeldLocked removes the held responses that fit, and returns them.
func (b *book) takeHeldLocked(fits func(*held) bool) (taken []*held) {
	b.held = slices.DeleteFunc(b.held, func(h *held) bool {
		if fits(h) {
			taken = append(taken, h)
			return true
		}
		return false
	})
	return taken
}

// releaseLocked delivers a response. If no other call of the session waits, it ends the event stream of
// a session that is closed or could not be opened.
func (b *book) releaseLocked(h *held) {
	delete(b.calls, string(h.m.ID))
	b.deliver(h.m, nil)
	s, does := b.sources[h.session], effectOf(h.method)
	if s == nil || h.session == "" {
		return
	}
	switch {
	case does == noEffect:
	case h.m.Kind == stream.KindResponse:
		s.closed = does == closes
	case s.events <= 1: // it has carried this response alone
		s.closed = s.closed || does == opens || h.method == "session/delete"
	}
	if !s.closed {
		return
	}
	for _, other := range b.calls {
		if other.session == h.session {
			return
		}
	}
	delete(b.sources, h.session)
	delete(b.known, h.session)
	s.cancel()
}

// barrierPostedLocked is told how the POST of a barrier has ended. A server that refuses it gives no
// order. If it may have been lost, so may be the order: the call fails.
func (b *book) barrierPostedLocked(o *outgoing, err error) {
	if err == nil {
		return
	}
	status, refused := errors.AsType[*stream.StatusError](err)
	refused = refused && status.Code/100 == 4 && status.Code != http.StatusTooManyRequests
	for _, h := range b.takeHeldLocked(func(h *held) bool { return h.barrier == o }) {
		if refused {
			b.releaseLocked(h)
		} else {
			b.loseLocked(h.m.ID, err)
		}
	}
}

var errNoBarrier = errors.New("streamhttp: the response has arrived, but the server does not say whether the updates before it have")

// expired is told that a barrier was not answered for some time. If nothing has arrived meanwhile on
// the event stream of its session either, although the reader was waiting, the call fails. again
// reports that it waits on.
func (b *book) expired(o *outgoing, waiting bool) (again bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.IndexFunc(b.held, func(h *held) bool { return h.barrier == o })
	if at < 0 {
		return false
	}
	h := b.held[at]
	if !waiting || h.events != h.source.events {
		h.events = h.source.events
		return true
	}
	b.held = slices.Delete(b.held, at, at+1)
	b.loseLocked(h.m.ID, errNoBarrier)
	return false
}

// subagent returns the session that an update announces, or "".
func subagent(m *stream.Message) string {
	const kind = "subagent_update"
	if m.Method != "session/update" || !bytes.Contains(m.Data, []byte(`"`+kind+`"`)) {
		return ""
	}
	e := envelope.Parse(m.Data)
	update := envelope.Member(e.Params, "update")
	if name, _ := envelope.Text(envelope.Member(update, "sessionUpdate")); name != kind {
		return ""
	}
	return envelope.SessionID(update)
}
