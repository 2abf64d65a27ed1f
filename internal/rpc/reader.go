package rpc

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"strconv"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/rpc/order"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// reader reads messages and passes them to the order and to the calls, on one goroutine. It runs
// no handler, and waits only for the stream and for the documented back-pressure.
type reader struct {
	c      *Conn
	stream *guarded
	idless bool // a response without a usable id was logged
}

func (r *reader) run() {
	defer close(r.c.end.readerDone)
	for {
		r.c.out.WaitOwn()
		goesOn, over := r.c.order.WaitRoom()
		if !goesOn {
			return
		}
		if over {
			r.c.finish(endBroken, wire.ErrOverloaded)
			return
		}
		msg, e, err := r.stream.next()
		if err != nil {
			if tooLarge, ok := errors.AsType[*stream.TooLargeError](err); ok {
				r.tooLarge(tooLarge)
				continue
			}
			if lost, ok := errors.AsType[*stream.LostError](err); ok {
				r.lost(lost)
				continue
			}
			if errors.Is(err, io.EOF) {
				r.c.finish(endEOF, err)
			} else {
				r.c.finish(endRead, err)
			}
			return
		}
		if err := r.message(msg, &e); err != nil {
			r.c.finish(endRead, err)
			return
		}
	}
}

// message passes one message on. It returns an error only if the stream fails, to which it
// reports invalid input.
func (r *reader) message(msg []byte, e *envelope.Envelope) error {
	size := int64(len(msg))
	switch e.Kind {
	case envelope.KindNotification:
		r.notification(e, size)
	case envelope.KindRequest:
		r.request(e, size)
	case envelope.KindResponse, envelope.KindErrorResponse, envelope.KindBadResponse:
		r.response(e)
	case envelope.KindNotJSON:
		if r.stream.noise != nil {
			return r.skip(msg)
		}
		r.c.log.Warn("acp: received something that is not JSON", "reason", e.Reason)
		r.c.respondOwn(nil, rpcerr.ParseError(nil))
	case envelope.KindBadRequest:
		r.c.log.Warn("acp: received something that is not a message",
			"reason", cmp.Or(e.Reason, `it needs "jsonrpc":"2.0", and a method or a result or an error`))
		if r.stream.noise != nil && envelope.Member(msg, "jsonrpc") == nil {
			return r.skip(msg)
		}
		r.c.respondOwn(e.ID, rpcerr.InvalidRequest(nil).WithDetail(e.Reason))
	}
	return nil
}

// skip hands what is not a message back to a tolerant stream, which may find messages in it.
func (r *reader) skip(line []byte) error {
	skipped, err := r.stream.report(line)
	if skipped && bytes.Contains(line, []byte(`"jsonrpc"`)) {
		r.c.log.Warn("acp: skipped a line that looks like a message", "line", safetext.OneLine(string(line), 200))
	}
	return err
}

// tooLarge handles a message that the stream skipped.
func (r *reader) tooLarge(e *stream.TooLargeError) {
	r.c.log.Warn("acp: received a message that is too long", "bytes", e.Size, "limit", e.Limit)
	id := []byte(e.ID)
	if !e.HasResult {
		r.c.respondOwn(id, rpcerr.InvalidRequest(nil).WithDetail("message is too long"))
		return
	}
	r.responded(id, func(k *call) { k.err = responseError(k, e) })
}

func (r *reader) notification(e *envelope.Envelope, size int64) {
	h := &r.c.handlers
	it := order.Item{Size: size + order.NotificationOverhead, Params: e.Params}
	if entry := h.notifications[string(e.Method)]; entry != nil {
		it.What = entry
		if entry.Ends != EndsNothing {
			it.Ends = entry.ends(e.Params)
		}
	} else {
		method := string(e.Method)
		switch {
		case method == methodCancel:
			r.cancel(e.Params)
			return
		case h.cfg.ExtensionNotification == nil || !h.isExtension(method):
			r.c.log.Debug("acp: ignored a notification", "method", shown(method))
			return
		}
		it.What = extension(method)
	}
	r.c.order.Notify(it)
}

func (r *reader) request(e *envelope.Envelope, size int64) {
	q := &request{params: e.Params, entry: r.c.handlers.requests[string(e.Method)]}
	q.ID = string(e.ID)
	q.Key = envelope.IDKey(q.ID)
	q.Bad = !r.c.handlers.allows(q.Key)
	q.parent, q.conn, q.req, q.up, q.Size = r.c.life, r.c, q, r.c.up, size+order.RequestOverhead
	q.Inside = q.insideNotification()
	if q.entry == nil {
		q.Method = string(e.Method)
	} else {
		q.Method, q.Waits = q.entry.Name, q.entry.Waits || q.entry.Group
		if q.entry.Ends != EndsNothing {
			q.Ends = q.entry.ends(e.Params)
		}
		if q.entry.Group {
			q.Group = groupKey(e.Params)
		}
	}
	if r.c.network && r.c.cfg.Reopens(q.Method) {
		r.c.calls.reopen(envelope.SessionID(e.Params))
	}
	if why := r.c.order.Accept(q); why > order.Stopped {
		r.c.respondOwn([]byte(q.ID), Refusal(why, q.Method))
	}
}

// cancel ends the ctx of the request that $/cancel_request names. A request that was not started
// is responded to at once and never started.
func (r *reader) cancel(params []byte) {
	unstarted, refused := r.c.order.Cancel(envelope.IDKey(string(envelope.Member(params, "requestId"))))
	if q, ok := unstarted.(*request); ok {
		q.params = nil // its place may be far
		r.c.respondOwn([]byte(q.ID), cancelledResponse(q))
	}
	r.c.refuse(refused)
}

func (r *reader) response(e *envelope.Envelope) {
	r.responded(e.ID, func(k *call) {
		if e.TooDeep || e.Kind == envelope.KindBadResponse {
			k.err = r.c.handlers.invalid(k.method+" result", wire.Violation(e.Reason))
		} else {
			k.result, k.fault = e.Result, e.Error
		}
	})
}

// responded finds the call that a response belongs to, stores the outcome, and gives the response
// its place in the order.
func (r *reader) responded(id []byte, store func(*call)) {
	n, ok := callID(id)
	if !ok {
		if n, err := strconv.ParseUint(string(bytes.Trim(id, `"`)), 10, 64); err == nil {
			if method := r.c.calls.waiting(n); method != "" {
				r.c.log.Warn("acp: received a response whose id is a string, to a request whose id is a number", "id", n, "method", method)
				return
			}
		}
		// Some peers send such responses to messages that they do not understand, some to every
		// $/cancel_request.
		if !r.idless {
			r.idless = true
			r.c.log.Warn("acp: received a response without a usable id; further ones are not logged")
		}
		return
	}
	var k, place *call
	if n < firstExpectation {
		k, place = r.c.calls.responded(n, store)
	}
	if k == nil {
		if r.c.calls.issued(n) {
			r.c.log.Debug("acp: received a response that no call waits for", "id", n)
		} else {
			r.c.log.Warn("acp: received a response to a call that was never made")
		}
		return
	}
	r.c.calls.place(k, place, order.Delivery)
}

// lost fails the calls that a *stream.LostError names.
func (r *reader) lost(e *stream.LostError) {
	if e.ID != nil {
		if id, ok := callID(e.ID); ok {
			r.c.calls.failOne(id, e)
		}
		return
	}
	r.c.log.Warn("acp: a session was lost", "error", e)
	for _, id := range r.c.calls.lose(e) {
		r.c.calls.failOne(id, e)
	}
}
