// Package libconn runs an end of the protocol on a connection of sourcegraph/jsonrpc2, for agent/onjsonrpc2
// and client/onjsonrpc2.
package libconn

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/rpc/order"
	"github.com/acpkit/go-sdk/internal/wire"
)

// New returns a handler for any number of connections. For each it calls newOwn with the peer, and
// addRows with the result.
func New[Peer, Own any](cfg rpc.Config, unstable bool, newOwn func(Peer) Own, peer func(*jsonrpc2.Conn) Peer, addRows func(*jsonrpc2.Conn, Own, *endpoint.Table)) jsonrpc2.Handler {
	return &handler{cfg: cfg, build: func(conn *jsonrpc2.Conn, t *endpoint.Table) (any, error) {
		if newOwn == nil {
			return nil, fmt.Errorf("onjsonrpc2: Handler was given a nil func: pass one that returns your %s", cfg.Role)
		}
		own := newOwn(peer(conn))
		if endpoint.IsNil(own) {
			return nil, fmt.Errorf("onjsonrpc2: the func given to Handler returned nil (%T): return your %s", own, cfg.Role)
		}
		t.Unstable = unstable
		addRows(conn, own, t)
		return own, t.Refused("onjsonrpc2", own)
	}}
}

type handler struct {
	cfg   rpc.Config
	build func(*jsonrpc2.Conn, *endpoint.Table) (any, error)
	ends  sync.Map // from *jsonrpc2.Conn to *end
}

// end is the state of one connection.
type end struct {
	conn   *jsonrpc2.Conn
	bare   *rpc.Bare
	broken error // of build

	mu      sync.Mutex // guards the fields below
	running map[jsonrpc2.ID]*request
	queue   []func()   // notifications; the first is being handled
	opening *handshake // the last one that was read
}

// handshake is a request that opens a connection. What was read behind it waits for it, and not for the next one, which may
// be over before.
type handshake struct {
	over chan struct{} // closed when it is
	ok   bool          // set before
}

type request struct {
	*jsonrpc2.Request
	ctx     context.Context
	cancel  context.CancelCauseFunc
	session string     // whose end ends the request, unless it is empty
	before  *handshake // that was read last
	opens   *handshake // if this is one
	refused error
}

// Handle never waits, because the connection does not read before it returns.
func (h *handler) Handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	e := h.end(ctx, conn)
	row, handled := e.bare.Row(r.Method, r.Notif)
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.opening
	if row != nil && row.Ends != rpc.EndsNothing {
		session := envelope.SessionID(paramsOf(r))
		e.cancelLocked(wire.ErrTurnCancelled, func(q *request) bool { return q.session != "" && q.session == session })
	}
	switch {
	case !r.Notif:
		q := &request{Request: r, before: before}
		q.ctx, q.cancel = context.WithCancelCause(ctx)
		if row != nil && row.Group {
			q.session = envelope.SessionID(paramsOf(r))
		}
		if r.Method == h.cfg.Handshake {
			q.opens = &handshake{over: make(chan struct{})}
			e.opening = q.opens
		}
		if e.running[r.ID] != nil {
			q.refused = rpc.Refusal(order.InUse, r.Method)
		} else {
			e.running[r.ID] = q
		}
		go e.serve(q) // ends with its handler
	case r.Method == "$/cancel_request":
		var id jsonrpc2.ID
		if raw := envelope.Member(paramsOf(r), "requestId"); raw != nil && id.UnmarshalJSON(raw) == nil {
			e.cancelLocked(context.Canceled, func(q *request) bool { return q.ID == id })
		}
	case handled:
		e.queue = append(e.queue, func() {
			if before.opened(ctx) {
				e.bare.Notification(ctx, r.Method, paramsOf(r))
			}
		})
		if len(e.queue) == 1 {
			go e.handleQueue() // ends with the queue
		}
	}
}

func (h *handler) end(ctx context.Context, conn *jsonrpc2.Conn) *end {
	if known, ok := h.ends.Load(conn); ok {
		return known.(*end)
	}
	none := &handshake{over: make(chan struct{}), ok: h.cfg.Handshake == ""}
	close(none.over)
	e := &end{conn: conn, opening: none, running: map[jsonrpc2.ID]*request{}}
	cfg, table := h.cfg, endpoint.Table{}
	e.broken = panics.Guard(func() error {
		v, err := h.build(conn, &table)
		endpoint.Extensions(&cfg, v)
		return err
	})
	cfg.Entries = table.Entries
	e.bare = rpc.NewBare(&cfg)
	h.ends.Store(conn, e)
	context.AfterFunc(ctx, func() { h.ends.Delete(conn) }) // the library ends ctx with the connection
	return e
}

func paramsOf(r *jsonrpc2.Request) json.RawMessage { return endpoint.ValueOf(r.Params) }

func (e *end) cancelLocked(cause error, which func(*request) bool) {
	for _, q := range e.running {
		if which(q) {
			q.cancel(cause)
		}
	}
}

// opened waits for the end of the handshake or of ctx, and reports whether it has succeeded.
func (s *handshake) opened(ctx context.Context) bool {
	select {
	case <-s.over:
	case <-ctx.Done():
	}
	select {
	case <-s.over:
		return s.ok
	default:
		return false
	}
}

func (e *end) handleQueue() {
	for more := true; more; {
		e.mu.Lock()
		handle := e.queue[0]
		e.mu.Unlock()
		_ = panics.Contained(handle) // a handler may end its goroutine
		e.mu.Lock()
		e.queue[0] = nil // so that its params are freed
		e.queue = e.queue[1:]
		more = len(e.queue) > 0
		e.mu.Unlock()
	}
}

// serve handles a request and responds to it once, whatever the handler does.
func (e *end) serve(q *request) {
	var result json.RawMessage
	var err error
	failed := panics.Contained(func() {
		switch open := q.before.opened(q.ctx); {
		case q.refused != nil:
			err = q.refused
		case e.broken != nil:
			err = e.broken
		case !open && q.opens == nil:
			err = rpc.Refusal(order.NotOpen, q.Method)
		default:
			result, err = e.bare.Request(q.ctx, q.Method, paramsOf(q.Request))
		}
	})
	response := &jsonrpc2.Response{ID: q.ID, Result: &result}
	if failed != nil {
		err = failed
	}
	if err != nil {
		response.Result, response.Error = nil, e.bare.Fault(q.ctx, q.Method, q.ID, err)
	}
	e.mu.Lock()
	if e.running[q.ID] == q {
		delete(e.running, q.ID) // before the peer can read the response and use the id again
	}
	e.mu.Unlock()
	if err := e.conn.SendResponse(q.ctx, response); err != nil {
		e.bare.Logger().Debug("acp: a response could not be sent", "error", errs.LogText(err))
	}
	q.cancel(context.Canceled)
	if q.opens != nil {
		q.opens.ok = err == nil
		close(q.opens.over)
	}
}
