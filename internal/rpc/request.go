package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"sync"

	"github.com/acpkit/go-sdk/internal/reserve"
	"github.com/acpkit/go-sdk/internal/rpc/outbox"
	"github.com/acpkit/go-sdk/stream"
)

// The life of a request of the peer:
//
//	read       reader.request makes it, inbound.request registers it and gives it a place
//	held       the handshake before it is not over: inbound.opened lets it go on
//	queued     notifications before it are not handled: the worker reaches its place,
//	           or one of their handlers waits in a Conn method
//	waiting    all slots are taken, or too many responses wait for room
//	running    request.serve: decode, check, middleware, handler
//	responding request.respond: encode, wait for room in the outgoing queue
//	done       the response is queued, or never will be; the id is free
//
// Its ctx ends with $/cancel_request, with a message that ends its group, with the
// connection, and with its response. A request that is cancelled before it runs is
// responded to at once and never runs.

// requestState says how far the handling of a request has come.
type requestState uint8

const (
	requestHeld requestState = iota
	requestQueued
	requestWaiting
	requestRunning
	requestResponding
	requestDone
)

// endedBy says what has ended the ctx of a request before its time.
type endedBy uint8

const (
	endedByNone  endedBy = iota
	endedByPeer          // $/cancel_request
	endedByGroup         // a message that ends its group; it prevails
)

// request is one request of the peer.
type request struct {
	scope // the handler's ctx

	id     string // as it was written
	key    string // equal for equal ids
	rows   *rows  // in which its entry was looked up
	entry  *Entry // nil for an extension
	params []byte
	group  string

	// called is closed when the handler of a group's request is called, or never will be; nil
	// without a group.
	called     chan struct{}
	calledOnce sync.Once

	// Guarded by the lock of inbound.
	state     requestState
	endedBy   endedBy
	handshake bool          // its response opens the connection; set before it is started
	before    []*request    // those whose handlers must have been called before its own; set likewise
	slot      bool          // it has a slot
	served    bool          // nothing runs for it
	over      chan struct{} // closed when its response is queued; nil while no one waits for that
	relay     chan struct{} // closed when its response is queued, or its handler waits for something else
	released  bool          // Release was called
	member    member
	task      task

	results results
	result  reserve.Claim // what the handler has reserved

	// writes: the goroutine is to be the writer when it is done. Its own alone.
	writes bool

	afterMu   sync.Mutex // guards all below
	after     []func()
	afterDone bool
}

// resolve finds the row of the method.
func (r *request) resolve(rows *rows) {
	if r.rows == rows {
		return
	}
	r.rows, r.entry = rows, rows.requests[r.method]
	if e := r.entry; e != nil {
		r.method = e.Name
		if e.Group || e.Ends != EndsNothing {
			r.group = groupKey(r.params)
		}
		if e.Group && r.called == nil {
			r.called = make(chan struct{})
			r.size += groupOverhead
		}
	}
}

// counted reports whether the handler takes a slot while it runs. Those that wait for
// people, for processes or for the peer do not.
func (r *request) counted() bool { return r.entry == nil || !r.entry.Waits && !r.entry.Group }

// serve handles the request and responds to it, whatever its handler does.
func (r *request) serve() {
	growStack()
	// Deferred, because a handler may end its goroutine with runtime.Goexit.
	defer r.write()
	defer r.conn.in.ends(r)
	defer r.runAfter()
	res, err := any(nil), errExited
	defer func() {
		defer r.end(errReturned) // respond may not return
		r.wasCalled()
		result := res
		res = nil // respond lets go of it when it is encoded
		r.respond(result, err)
	}()
	c := r.conn
	var params any
	raw := c.handlers.kept(r.params)
	if err = safely(func() (err error) { params, err = c.handlers.requestParams(r); return err }); err != nil {
		return
	}
	err = errExited
	waitCalled(&r.scope, r.before)
	err = c.handlers.invoke(&r.scope, r.entry, params, raw, &res)
}

// wasCalled notes that the handler is being called, or never will be.
func (r *request) wasCalled() {
	if r != nil && r.called != nil {
		r.calledOnce.Do(func() { close(r.called) })
	}
}

// waitCalled waits until the handlers of all requests were called, for the handler of the
// message that has ended their group. A goroutine cannot know that a function has executed
// its first statement, so what the handler registers may not be found; its ctx had ended
// before.
func waitCalled(s *scope, requests []*request) {
	for _, r := range requests {
		select {
		case <-r.called:
		case <-s.parent.Done(): // the connection ends
		}
	}
}

// handlerStack is what decoding, a short handler and encoding take of a stack, or a
// little more.
const handlerStack = 2 << 10

// growStack makes the stack of the goroutine large enough for most handlers. A new stack
// has about 1 KiB, which a request always exceeds. Go then copies it, frame by frame, and
// that is cheapest while there are few frames: it is a quarter of what a short request
// costs if it happens in the depth of decoding.
//
//go:noinline
func growStack() {
	var room [handlerStack]byte
	runtime.KeepAlive(&room)
}

// respond encodes what the handler returned and queues it. If that fails the request has
// failed: the response then says -32603. Until it is queued the request counts against
// the limits as if its handler ran.
func (r *request) respond(res any, err error) {
	ended := r.conn.in.responds(r)
	f := outbox.NewFrame()
	encoded, ok := false, false
	// Deferred, because an encoding method may end its goroutine with runtime.Goexit.
	defer func() {
		if !encoded {
			r.conn.handlers.appendResponse(f, r, nil, errExited, ended)
		}
		if !r.handshake {
			res = nil // only the frame takes memory while it waits
		}
		r.queue(f.Fit(), res, ok)
	}()
	ok = r.conn.handlers.appendResponse(f, r, res, err, ended)
	encoded = true
}

// queue queues the response.
func (r *request) queue(f *outbox.Frame, res any, ok bool) {
	c := r.conn
	f.Request, f.About = r.id, r.method
	// A result that is decoded takes about as much memory as it does encoded.
	f.Result = c.results.Count(&r.result, int64(len(f.Data)), int64(cap(f.Data)))
	if c.network {
		m := stream.Message{Kind: stream.KindErrorResponse, ID: json.RawMessage(r.id)}
		if ok {
			m.Kind = stream.KindResponse
		}
		c.describe(f, m, lenHead(r.id))
	}
	duty := outbox.Dropped
	err := r.reserve(f)
	c.in.responded(r) // before the peer can read it, who may use its id again
	if err == nil {
		duty = c.out.Push(f)
	}
	r.writes = duty == outbox.Begin
	c.in.relayed(r)
	if duty == outbox.Dropped {
		c.log.Debug("acp: a response came too late", "method", shown(r.method))
	}
	if r.handshake {
		if r.writes { // much may follow
			r.writes = false
			c.out.Start()
		}
		c.handshake.served(res, ok)
	}
}

// reserve takes room for the response in the outgoing queue.
func (r *request) reserve(f *outbox.Frame) error {
	c := r.conn
	if c.out.TryReserve(f) {
		return nil
	}
	defer c.in.stalls(r, int64(len(f.Data)))()
	return c.out.Reserve(context.Background(), f) // ends with the connection
}

// write makes the goroutine of the request the writer for as long as there is something
// to write: no one waits for it, so it may block.
func (r *request) write() {
	if r.writes {
		r.conn.out.Write()
	}
}

// relayedLocked lets the worker of another connection go on, which waits until the
// response is queued.
func (r *request) relayedLocked() {
	if r.relay != nil {
		close(r.relay)
		r.relay = nil
	}
}

// AfterResponse registers f to run after the response to the request that is being
// handled has been queued for sending, or could not be. Several run in the order
// of registration, on the handler's goroutine. It returns false, and f never
// runs, when ctx is not that of a request handler or its response has left already.
func AfterResponse(ctx context.Context, f func()) bool {
	s := scopeOf(ctx)
	if s == nil || s.req == nil || f == nil {
		return false
	}
	r := s.req
	r.afterMu.Lock()
	defer r.afterMu.Unlock()
	if r.afterDone {
		return false
	}
	r.after = append(r.after, f)
	return true
}

// runAfter runs what AfterResponse registered.
func (r *request) runAfter() {
	for {
		r.afterMu.Lock()
		if len(r.after) == 0 {
			r.afterDone = true
			r.afterMu.Unlock()
			return
		}
		f := r.after[0]
		r.after = r.after[1:]
		r.afterMu.Unlock()
		if r.writes { // the response must not wait for f
			r.writes = false
			r.conn.out.Start()
		}
		protect(r.conn.log, "AfterResponse", f)
	}
}

var (
	errExited   = errors.New("the handler ended its goroutine")
	errReturned = context.Canceled
)
