package streamhttp

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/acpkit/go-sdk/stream"
)

// book is what a client knows of its connection. It decides what is posted, which event streams are
// open, and in which order the reader gets what has arrived. It does no I/O and knows no time: its
// methods are told what has happened and return what is to be done, which the caller then begins.
// They are safe for concurrent use.
type book struct {
	deliver func(stream.Message, error) // gives the reader a message or an error; does not wait
	finish  func(error)                 // gives the reader its last error
	life    context.Context             // ends with the connection
	stop    context.CancelFunc
	quiet   chan struct{} // closed when the connection has ended and all that was begun has too

	mu      sync.Mutex // guards all below
	id      string     // empty before initialize was answered
	first   stream.Message
	begun   bool  // initialize was written
	closed  bool  // nothing more is written
	over    bool  // reading has ended
	leaving error // ends the connection with its last event stream; nil while that of the connection is open
	tasks   int   // how much that was returned as todo has not ended

	lane    []*outgoing   // requests and notifications, in order
	posting bool          // the first of lane is being posted
	replies []*outgoing   // responses that wait for notifications of lane
	notes   int           // how many notifications were written
	passed  int           // how many of them were posted
	queued  int           // bytes of lane
	flying  int           // responses that are not posted yet
	flown   int           // their bytes
	room    chan struct{} // closed and replaced when something was posted

	sources  map[string]*source
	known    map[string]bool  // sessions whose event stream was open
	calls    map[string]*call // by id
	asked    map[string]string
	answered asked // the server's requests that were answered last
	cancels  []stream.Message
	barriers int
	doubts   doubts
}

// todo is what is to be done: event streams to open, and messages to post at the same time.
type todo struct {
	open []*source
	post []*outgoing
}

func newBook(deliver func(stream.Message, error), finish func(error)) *book {
	b := &book{
		deliver: deliver, finish: finish, quiet: make(chan struct{}), room: make(chan struct{}), answered: newAsked(),
		sources: map[string]*source{}, known: map[string]bool{}, calls: map[string]*call{}, asked: map[string]string{},
	}
	b.life, b.stop = context.WithCancel(context.Background())
	return b
}

// do lets a function decide what is to be done, unless the connection has ended. The caller of the book
// calls left for each part when it has ended.
func (b *book) do(decide func(*todo)) (t todo) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		decide(&t)
		b.beginLocked(&t)
	}
	return t
}

func (b *book) beginLocked(t *todo) {
	b.startLocked(t)
	b.tasks += len(t.open) + len(t.post)
}

func (b *book) left() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tasks--
	b.settleLocked()
}

// settleLocked tells Close when nothing is left.
func (b *book) settleLocked() {
	if b.over && b.tasks == 0 {
		close(b.quiet) // once: nothing begins after the end
	}
}

// connection returns the id of the connection, or "".
func (b *book) connection() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.id
}

// initialized is told the id of the connection and the response to initialize.
func (b *book) initialized(id string, m stream.Message) todo {
	return b.do(func(t *todo) {
		delete(b.calls, string(m.ID))
		b.id, b.first = id, m
		if m.Kind == stream.KindErrorResponse {
			b.deliver(m, nil)
			b.endLocked(io.EOF) // the server has forgotten the connection
		} else {
			b.sourceLocked("", t)
		}
	})
}

// sourceLocked returns the event stream of a session, and opens it if it is not open.
func (b *book) sourceLocked(session string, t *todo) *source {
	s := b.sources[session]
	if s == nil {
		s = &source{session: session, fresh: !b.known[session]}
		s.life, s.cancel = context.WithCancel(b.life)
		b.sources[session] = s
		t.open = append(t.open, s)
	}
	return s
}

// attendLocked opens the event stream of a session that the server has named. If too many are open,
// the first message of the session opens it.
func (b *book) attendLocked(session string, t *todo) {
	if session != "" && len(b.sources) < maxSessions {
		b.sourceLocked(session, t)
	}
}

// opened is told that the headers of an event stream have arrived.
func (b *book) opened(s *source) todo {
	return b.do(func(t *todo) {
		if b.sources[s.session] != s { // its session was closed
			return
		}
		s.open = true
		b.known[s.session] = true
		if s.session == "" { // no event may overtake the response to initialize
			b.deliver(b.first, nil)
			b.doneLocked(b.lane[0])
		}
		for _, k := range b.callsLocked(s.session) {
			if k.barrier != nil {
				t.post = append(t.post, k.barrier)
			}
		}
	})
}

// ended is told that an event stream has ended or could not be opened, and will not be continued.
// clean means that the server has ended it.
func (b *book) ended(s *source, err error, clean bool) todo {
	return b.do(func(t *todo) {
		if b.sources[s.session] != s {
			return
		}
		delete(b.sources, s.session) // the next message opens it again
		switch {
		case s.session == "" && clean:
			b.leaving = err
		case s.session == "" || isStatus(err, http.StatusUnauthorized):
			b.endLocked(err)
		default:
			b.sessionEndedLocked(s, err, clean, t)
		}
		if b.leaving != nil && len(b.sources) == 0 {
			b.endLocked(b.leaving)
		}
	})
}

// sessionEndedLocked decides what becomes of the messages of a session whose event stream has ended.
func (b *book) sessionEndedLocked(s *source, err error, clean bool, t *todo) {
	// Nothing is missing if the server has ended it, or knows no event stream of the session.
	complete := clean || !s.open && isStatus(err, http.StatusForbidden, http.StatusNotFound)
	lost := s.open && !isStatus(err, http.StatusGone, http.StatusForbidden, http.StatusConflict)
	loading := false
	for _, k := range b.callsLocked(s.session) {
		switch {
		case k.doubted:
		case k.barrier != nil && complete:
			b.releaseLocked(k)
		case k.barrier != nil || lost:
			b.doubtCallLocked(t, k, err)
		default:
			loading = loading || effectOf(k.method) == opens
		}
	}
	if !s.open && len(b.lane) > 0 && !b.posting && b.lane[0].session == s.session {
		o := b.lane[0]
		// Some servers know a session only after it was loaded.
		if o.bare = effectOf(o.m.Method) == opens && isStatus(err, http.StatusForbidden, http.StatusNotFound); !o.bare {
			b.doubtCallLocked(t, b.calls[string(o.m.ID)], err)
			b.doneLocked(o)
		}
	}
	if !lost && (s.open || !loading) {
		for _, k := range b.callsLocked(s.session) {
			k.doubt()
		}
		b.doubtLocked(t, func() { b.loseSessionLocked(s.session, err) })
	}
}

// fail ends the connection.
func (b *book) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endLocked(err)
}

// endLocked ends the connection. Responses that are held back are dropped: their calls fail with it.
func (b *book) endLocked(err error) {
	if b.over {
		return
	}
	b.over = true
	b.lane, b.replies, b.cancels, b.queued, b.posting = nil, nil, nil, 0, false
	b.makeRoomLocked()
	b.finish(err)
	b.stop()
	b.settleLocked()
}

// close makes writing fail. It reports whether it is the first call.
func (b *book) close() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := !b.closed
	b.closed = true
	b.makeRoomLocked()
	return first
}
