package streamhttp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
)

// said is a message of the server or of the client.
type said struct {
	m       stream.Message
	on      string // of the server: the event stream
	session string
	since   int // of a request of the client: how many messages the server had sent before

	lost               bool // it may be lost, which the reader learns from an error
	arrived, delivered bool // of the server; the response to a barrier counts as delivered
	taken, over        bool // of the client; over: the reader has the response, or an error in its place
}

// world is the book of a client between a server and a reader that do at random what they may.
type world struct {
	*rand.Rand
	t       *testing.T
	b       *book
	failing bool // things may fail
	dying   bool // the server has ended the connection
	writes  int  // what the client may still write

	opening, open     []*source
	posting, accepted []*outgoing // POSTs, and those that the server has accepted without the client's knowledge
	barriers          []*outgoing
	written, sent     []*said
	turns             []*said         // requests on which the agent works
	asked             []*said         // requests of the agent that the reader has not answered
	unordered         map[string]bool // sessions for which the server refuses to give an order
	ended             error
}

var sessions = []string{"s", "t"}

func (w *world) pick(of []string) string { return of[w.IntN(len(of))] }

// do begins what the book says.
func (w *world) do(t todo) {
	w.opening = append(w.opening, t.open...)
	w.posting = append(w.posting, t.post...)
}

// find returns a message by its text.
func find(all []*said, m stream.Message) *said {
	at := slices.IndexFunc(all, func(s *said) bool { return string(s.m.Data) == string(m.Data) })
	if at < 0 {
		return nil
	}
	return all[at]
}

// call returns a request of the client by its id.
func (w *world) call(id []byte) *said {
	at := slices.IndexFunc(w.written, func(s *said) bool { return s.m.Kind == stream.KindRequest && string(s.m.ID) == string(id) })
	require.GreaterOrEqual(w.t, at, 0, "nobody knows the call %s", id)
	return w.written[at]
}

// deliver is what the reader gets.
func (w *world) deliver(m stream.Message, err error) {
	require.NoError(w.t, w.ended, "%s is delivered after the end", m.Data)
	if lost, ok := errors.AsType[*stream.LostError](err); ok {
		require.False(w.t, w.dying, "a loss is reported, but the connection ends: %v", lost)
		if lost.ID != nil {
			require.False(w.t, w.call(lost.ID).over, "the call %s is over twice", lost.ID)
			w.call(lost.ID).over = true
		}
		for _, c := range w.written {
			c.over = c.over || lost.ID == nil && c.session == lost.SessionID
		}
		return
	}
	s := find(w.sent, m)
	if s == nil {
		return // the response to initialize
	}
	require.False(w.t, s.delivered, "%s is delivered twice", m.Data)
	s.delivered = true
	at := slices.Index(w.sent, s)
	later := func(o *said) bool { return o.on == s.on && o.delivered && !bytes.HasPrefix(o.m.ID, []byte(barrierID)) }
	switch {
	case m.IsResponse():
		c := w.call(m.ID)
		for n, before := range w.sent[:at] {
			if c.session != "" && before.on == c.session && !c.over && !w.unordered[c.session] && (n >= c.since || !before.lost) {
				require.True(w.t, before.delivered, "%s overtakes %s", m.Data, before.m.Data)
			}
		}
		c.over = true
		if s.on != "" {
			require.False(w.t, slices.ContainsFunc(w.sent[at+1:], later), "%s is late", m.Data)
		}
	case m.CancelID != nil:
		asked := slices.IndexFunc(w.sent, func(o *said) bool { return string(o.m.ID) == string(m.CancelID) })
		require.True(w.t, w.sent[asked].delivered, "%s overtakes its request", m.Data)
	default:
		require.False(w.t, slices.ContainsFunc(w.sent[at+1:], func(o *said) bool {
			return later(o) && !(o.on == "" && (o.m.IsResponse() || o.m.CancelID != nil))
		}), "%s is late", m.Data)
		if m.Kind == stream.KindRequest {
			w.asked = append(w.asked, s)
		}
	}
}

func (w *world) write(text string) {
	m := stream.ParseMessage([]byte(text))
	w.written = append(w.written, &said{m: m, session: m.SessionID, since: len(w.sent)})
	t, room, err := w.b.write(m)
	require.NoError(w.t, err)
	require.Nil(w.t, room)
	w.do(t)
}

// say is a message of the server.
func (w *world) say(on, format string, args ...any) {
	m := stream.ParseMessage(fmt.Appendf(nil, format, args...))
	w.sent = append(w.sent, &said{m: m, on: on, delivered: bytes.HasPrefix(m.ID, []byte(barrierID))})
}

// take lets the server accept a message.
func (w *world) take(o *outgoing) {
	if o.beside() {
		w.say(o.session, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, o.m.ID)
		w.barriers = append(w.barriers, o)
		return
	}
	s := find(w.written, o.m)
	require.False(w.t, s.taken, "%s is posted twice", o.m.Data)
	s.taken = true
	at := slices.Index(w.written, s)
	for _, before := range w.written[:at] {
		if !before.m.IsResponse() && before.m.Kind != stream.KindRequest {
			require.True(w.t, before.taken || before.lost, "%s overtakes %s", o.m.Data, before.m.Data)
		}
	}
	for _, after := range w.written[at:] {
		require.True(w.t, after == s || after.m.IsResponse() || s.m.IsResponse() || !after.taken, "%s is overtaken by %s", o.m.Data, after.m.Data)
	}
	if o.m.Kind == stream.KindRequest {
		w.turns = append(w.turns, s)
	}
}

// step does one thing that can happen. It reports false if nothing can.
func (w *world) step() bool {
	var can []func()
	may := func(what func()) { can = append(can, what) }
	if w.writes > 0 {
		may(func() {
			w.writes--
			n, session := len(w.written), w.pick(sessions)
			switch w.IntN(6) {
			case 0:
				w.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/new"}`, n))
			case 1, 2:
				w.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"%s","n":%d}}`, session, n))
			default:
				method := w.pick([]string{"session/prompt", "session/load", "session/close", "session/set_mode"})
				w.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s","params":{"sessionId":"%s"}}`, n, method, session))
			}
		})
	}
	for i, q := range w.asked {
		if w.ended != nil {
			break
		}
		may(func() {
			w.asked = slices.Delete(w.asked, i, i+1)
			w.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, q.m.ID))
		})
	}
	for i, s := range w.opening {
		may(func() {
			w.opening = slices.Delete(w.opening, i, i+1)
			if w.failing && s.session != "" && w.IntN(8) == 0 {
				code := []int{500, 403}[w.IntN(2)]
				w.unordered[s.session] = w.unordered[s.session] || code == 403
				for _, m := range w.written {
					m.lost = m.lost || m.session == s.session && !m.taken
				}
				w.endSource(s, &stream.StatusError{Code: code}, false)
				return
			}
			w.open = append(w.open, s)
			w.do(w.b.opened(s))
		})
	}
	for i, o := range w.posting {
		may(func() {
			w.posting = slices.Delete(w.posting, i, i+1)
			err := w.failure(o)
			if w.dying && o.probe { // what it does to other messages ends the connection
				err = &stream.StatusError{Code: 404}
			}
			if err != nil {
				w.do(w.b.posted(o, err))
				w.b.left()
				return
			}
			w.take(o)
			w.accepted = append(w.accepted, o)
		})
	}
	for i, o := range w.accepted {
		may(func() {
			w.accepted = slices.Delete(w.accepted, i, i+1)
			w.do(w.b.posted(o, nil))
			w.b.left()
		})
	}
	for i, turn := range w.turns {
		may(func() { w.work(i, turn) })
	}
	for i, s := range w.open {
		next := slices.IndexFunc(w.sent, func(m *said) bool { return m.on == s.session && !m.arrived && !m.lost })
		if next >= 0 && s.life.Err() == nil {
			may(func() {
				m := w.sent[next]
				m.arrived = true
				if k := w.b.calls[string(m.m.ID)]; m.m.IsResponse() && k != nil && k.doubted {
					m.delivered = true // in vain: its call is lost
				}
				w.do(w.b.arrived(s, m.m))
			})
		}
		if s.life.Err() != nil || w.dying || w.failing && s.session != "" && w.IntN(20) == 0 {
			may(func() {
				w.open = slices.Delete(w.open, i, i+1)
				if w.dying && s.session == "" {
					w.endSource(s, io.EOF, next < 0)
					return
				}
				clean := next < 0 && w.IntN(2) == 0
				for _, m := range w.sent {
					m.lost = m.lost || m.on == s.session && !m.arrived && s.life.Err() == nil
				}
				w.endSource(s, io.ErrUnexpectedEOF, clean)
			})
		}
	}
	if w.failing && len(w.barriers) > 0 && w.IntN(20) == 0 {
		may(func() {
			if o := w.barriers[w.IntN(len(w.barriers))]; o.probe {
				w.do(w.b.unanswered(o))
			} else {
				w.b.expired(o, w.IntN(2) == 0)
			}
		})
	}
	if len(can) > 0 {
		can[w.IntN(len(can))]()
	}
	return len(can) > 0
}

func (w *world) endSource(s *source, err error, clean bool) {
	w.do(w.b.ended(s, err, clean))
	w.b.left()
}

// failure returns the error of a POST, or nil.
func (w *world) failure(o *outgoing) error {
	if !w.failing || o.m.Kind != stream.KindRequest || w.IntN(8) > 0 {
		return nil
	}
	err := []error{ErrUncertain, errUnanswered, &stream.StatusError{Code: 500}, &stream.StatusError{Code: 409}}[w.IntN(4)]
	switch {
	case o.probe:
	case o.releases != nil:
		w.unordered[o.session] = w.unordered[o.session] || isStatus(err, 409)
	case w.IntN(2) == 0:
		w.take(o) // and the response is lost
	}
	return err
}

// work does a part of a turn.
func (w *world) work(i int, turn *said) {
	n, session := len(w.sent), turn.session
	switch w.IntN(4) {
	case 0:
		w.turns = slices.Delete(w.turns, i, i+1)
		on := w.pick([]string{session, ""})
		if session == "" {
			w.say("", `{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"%s","n":%d}}`, turn.m.ID, w.pick(sessions), n)
		} else {
			w.say(on, `{"jsonrpc":"2.0","id":%s,"result":{"n":%d}}`, turn.m.ID, n)
		}
	case 1:
		w.say(session, `{"jsonrpc":"2.0","id":"a%d","method":"session/request_permission","params":{"sessionId":"%s"}}`, n, session)
		if w.IntN(2) == 0 {
			w.say("", `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a%d"}}`, n)
		}
	default:
		w.say(session, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","n":%d}}`, session, n)
	}
}
