package rpc

import (
	"cmp"
	"errors"
	"io"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// reader takes what arrives, in order, and tells inbound and the calls. It is one
// goroutine; it runs no code of the user and waits for nothing but the stream and the
// documented back-pressure.
type reader struct {
	*Conn
	stream *guarded
	noise  func([]byte) error // takes what is not JSON, in place of a response; nil: it is responded to
	idless bool               // a response without a usable id was logged
}

func (c *reader) run() {
	defer close(c.end.readerDone)
	for c.goesOn() {
		msg, e, err := c.stream.next()
		if err != nil {
			if tooLarge, ok := errors.AsType[*stream.TooLargeError](err); ok {
				c.tooLarge(tooLarge)
				continue
			}
			if lost, ok := errors.AsType[*stream.LostError](err); ok {
				c.lost(lost)
				continue
			}
			if errors.Is(err, io.EOF) {
				c.finish(endEOF, err)
			} else {
				c.finish(endRead, err)
			}
			return
		}
		if c.end.closing.Load() {
			return
		}
		if err := c.message(msg, &e); err != nil {
			c.finish(endRead, err)
			return
		}
	}
}

// goesOn waits while too much waits to be handled. It reports whether there is still
// anything to read for.
func (c *reader) goesOn() bool {
	c.out.WaitOwn()
	ok, over := c.in.waitRoom()
	if ok && over {
		c.finish(endBroken, wire.ErrOverloaded)
	}
	return ok && !over
}

// message takes one message apart and passes it on. It fails only when the stream does,
// to which it hands back what is no message.
func (c *reader) message(msg []byte, e *envelope.Envelope) error {
	size := int64(len(msg))
	switch e.Kind {
	case envelope.KindNotification:
		c.notification(e, size)
	case envelope.KindRequest:
		c.request(e, size)
	case envelope.KindResponse, envelope.KindErrorResponse, envelope.KindBadResponse:
		c.response(e)
	case envelope.KindNotJSON:
		if c.noise != nil {
			return c.noise(msg)
		}
		c.log.Warn("acp: received something that is not JSON", "reason", e.Reason)
		c.respondOwn(nil, rpcerr.ParseError(nil))
	case envelope.KindBadRequest:
		c.log.Warn("acp: received something that is not a message",
			"reason", cmp.Or(e.Reason, `it needs "jsonrpc":"2.0", and a method or a result or an error`))
		c.respondOwn(e.ID, rpcerr.InvalidRequest(nil).WithDetail(e.Reason))
	}
	return nil
}

// tooLarge deals with a message that the stream skipped.
func (c *reader) tooLarge(e *stream.TooLargeError) {
	c.log.Warn("acp: received a message that is too long", "bytes", e.Size, "limit", e.Limit)
	id := []byte(e.ID)
	if !e.HasResult {
		c.respondOwn(id, rpcerr.InvalidRequest(nil).WithDetail("message is too long"))
		return
	}
	c.responded(id, func(k *call) { k.err = responseError(k, e) })
}

func (c *reader) notification(e *envelope.Envelope, size int64) {
	it := item{kind: itemNotification, size: size + notificationOverhead, params: e.Params}
	rows := c.in.rows.Load()
	if rows != nil {
		it.entry = rows.notifications[string(e.Method)]
	}
	if it.entry == nil {
		method := string(e.Method)
		if method == methodCancel {
			c.cancel(e.Params)
			return
		}
		if rows != nil && c.handlers.ignores(method) {
			c.log.Debug("acp: ignored a notification", "method", shown(method))
			return
		}
		it.rare = &rare{name: method}
	}
	c.in.notification(it)
}

func (c *reader) request(e *envelope.Envelope, size int64) {
	r := &request{id: string(e.ID), params: e.Params}
	r.key = idKey(r.id)
	r.scope.parent, r.scope.conn, r.scope.size, r.scope.req, r.scope.up = c.life, c.Conn, size+requestOverhead, r, c.up
	rows := c.in.rows.Load()
	if rows != nil {
		if entry := rows.requests[string(e.Method)]; entry != nil {
			r.method = entry.Name // saves the copy
		}
	}
	if r.method == "" {
		r.method = string(e.Method)
	}
	if rows != nil {
		r.resolve(rows)
	}
	if c.network && c.reopens(r.method) {
		c.calls.reopen(envelope.SessionID(e.Params))
	}
	if refusal := c.in.request(r); refusal != nil {
		c.respondOwn([]byte(r.id), refusal)
	}
}

// cancel ends the ctx of the request that $/cancel_request names. One that was not
// started is responded to at once and never is.
func (c *reader) cancel(params []byte) {
	key, ok := cancelTarget(params)
	if !ok {
		return
	}
	unstarted, refused := c.in.cancel(key)
	if unstarted != nil {
		c.respondOwn([]byte(unstarted.id), cancelledResponse(unstarted))
	}
	c.handshake.refuse(refused)
}

func (c *reader) response(e *envelope.Envelope) {
	c.responded(e.ID, func(k *call) {
		switch {
		case e.TooDeep:
			k.err = c.handlers.invalid(k.method+" result", wire.Violation(e.Reason))
		case e.Kind == envelope.KindBadResponse:
			k.err = c.handlers.invalid(k.method+" result", wire.Violation(e.Reason))
		default:
			k.result, k.fault = e.Result, e.Error
		}
	})
}

// responded finds the call that a response belongs to, stores what it says, and gives
// the response its place in the order.
func (c *reader) responded(id []byte, store func(*call)) {
	n, ok := callID(id)
	if !ok {
		// Some peers respond so to what they could not make sense of, and some to every
		// $/cancel_request.
		if !c.idless {
			c.idless = true
			c.log.Warn("acp: received a response without a usable id; further ones are not logged")
		}
		return
	}
	var k, place *call
	if n < firstExpectation {
		k, place = c.calls.responded(n, store)
	}
	if k == nil {
		if c.calls.issued(n) {
			c.log.Debug("acp: received a response that no call waits for", "id", n)
		} else {
			c.log.Warn("acp: received a response to a call that was never made")
		}
		return
	}
	if !k.exempt {
		c.placeResponse(k)
		return
	}
	c.calls.deliver(k) // Result comes before AtResponse
	if place != nil {
		c.placeResponse(place)
	}
}

// placeResponse delivers a response at its place in the order.
func (c *reader) placeResponse(k *call) {
	if c.in.response(k) {
		c.calls.deliver(k)
	}
}
