package streamhttp

import (
	"bytes"
	"cmp"
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

// call is a request of ours that waits for its response. A response that arrives on the event stream of
// the connection is held back while events may be missing that the server has sent before on that of
// its session. A barrier, a request for a method that does not exist, shows when they have arrived: its
// response follows them.
type call struct {
	id              json.RawMessage
	method, session string
	m               stream.Message // the response that is held back
	barrier         *outgoing      // nil unless the response is held back
	events          int            // of the event stream, when that was last looked at
	doubted         bool           // it is lost, unless it fails with the connection: see doubts
}

// arrived is told an event, in the order of its event stream.
func (b *book) arrived(s *source, m stream.Message) todo {
	return b.do(func(t *todo) {
		s.events++
		switch {
		case m.IsResponse():
			b.responseLocked(s, m, t)
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
			b.attendLocked(subagent(&m), t) // its updates arrive there, and no response names it
			b.deliver(m, nil)
		}
	})
}

// skipped is told that an event was too long to be read.
func (b *book) skipped(s *source, long *stream.TooLargeError) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if long.HasResult {
		delete(b.calls, string(long.ID))
	} else if long.ID != nil {
		b.asked[string(long.ID)] = s.session
	}
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
		if p := b.doubts.probe; p != nil && string(p.m.ID) == id {
			b.probedLocked(t, nil)
			return
		}
		for _, k := range b.calls {
			if k.barrier != nil && string(k.barrier.m.ID) == id {
				b.releaseLocked(k)
			}
		}
		return
	}
	b.attendLocked(m.SessionID, t) // its updates are waiting there
	k := cmp.Or(b.calls[id], new(call))
	if k.barrier != nil || k.doubted {
		return // a second response, or one that may come without the updates before it
	}
	k.m = m
	if s.session != "" || k.session == "" {
		b.releaseLocked(k)
		return
	}
	b.barriers++
	name, _ := json.Marshal(k.session) // a string can be encoded
	k.barrier = &outgoing{releases: k, session: k.session, m: stream.ParseMessage(fmt.Appendf(nil,
		`{"jsonrpc":"2.0","id":%s%d","method":"_acpkit/barrier","params":{"sessionId":%s}}`, barrierID, b.barriers, name))}
	if b.sourceLocked(k.session, t).open {
		t.post = append(t.post, k.barrier)
	}
}

// releaseLocked delivers a response. If no other call of the session waits, it ends the event stream of
// a session that is closed or could not be opened.
func (b *book) releaseLocked(k *call) {
	delete(b.calls, string(k.m.ID))
	b.deliver(k.m, nil)
	s, does := b.sources[k.session], effectOf(k.method)
	if s == nil || k.session == "" {
		return
	}
	switch {
	case does == noEffect:
	case k.m.Kind == stream.KindResponse:
		s.closed = does == closes
	case s.events <= 1: // it has carried this response alone
		s.closed = s.closed || does == opens || k.method == "session/delete"
	}
	if s.closed && len(b.callsLocked(k.session)) == 0 {
		delete(b.sources, k.session)
		delete(b.known, k.session)
		s.cancel()
	}
}

// callsLocked returns the calls of a session, in the order of their ids.
func (b *book) callsLocked(session string) (all []*call) {
	for _, k := range b.calls {
		if k.session == session {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(x, y *call) int { return bytes.Compare(x.id, y.id) })
	return all
}

// refusedLocked is told that the POST of a barrier has failed. A server that refuses it gives no order.
// If it may have been lost, updates may be missing: the call fails.
func (b *book) refusedLocked(k *call, err error) {
	status, refused := errors.AsType[*stream.StatusError](err)
	switch refused = refused && status.Code/100 == 4 && status.Code != http.StatusTooManyRequests; {
	case b.calls[string(k.m.ID)] != k || k.doubted: // it has ended
	case refused:
		b.releaseLocked(k)
	default:
		b.loseLocked(k, err)
	}
}

// expired is told that a barrier was not answered for some time. If nothing has arrived meanwhile on
// the event stream of its session either, although the reader was waiting, the call fails. again
// reports that it waits on.
func (b *book) expired(o *outgoing, waiting bool) (again bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := o.releases
	if b.over || b.calls[string(k.m.ID)] != k || k.doubted {
		return false
	}
	if events := b.sources[k.session].events; !waiting || k.events != events {
		k.events = events
		return true
	}
	b.loseLocked(k, errors.New("streamhttp: the response has arrived, but the server does not say whether the updates before it have"))
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
