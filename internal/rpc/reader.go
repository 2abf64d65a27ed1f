package rpc

import (
	"errors"
	"io"
	"strings"

	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// read is the reader: it takes what arrives, in order, and decides where it goes.
// It runs no code of the user and waits for nothing but the stream and the
// documented back-pressure.
func (c *Conn) read() {
	defer close(c.end.readerDone)
	for {
		if !c.waitRoom() {
			return
		}
		msg, err := c.cfg.Stream.Read()
		if err != nil {
			var tooLarge *stream.TooLargeError
			if errors.As(err, &tooLarge) {
				c.onTooLarge(tooLarge)
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
		if err := c.onMessage(msg); err != nil {
			c.finish(endRead, err)
			return
		}
	}
}

// onMessage takes one message apart and passes it on. It fails only when the stream
// does, to which it hands back what is no message.
func (c *Conn) onMessage(msg []byte) error {
	e := wire.ParseEnvelope(msg)
	size := int64(len(msg))
	switch e.Kind {
	case wire.KindNotification:
		c.onNotification(&e, size)
	case wire.KindRequest:
		c.onRequest(&e, size)
	case wire.KindResponse, wire.KindErrorResponse, wire.KindBadResponse:
		c.onResponse(&e)
	case wire.KindNotJSON:
		if c.noise != nil {
			return c.noise(msg)
		}
		c.log.Warn("acp: received something that is not JSON", "reason", e.Reason)
		c.answerOwn(nil, rpcerr.ParseError(nil))
	case wire.KindBadRequest:
		c.log.Warn("acp: received something that is not a message", "reason", e.Reason)
		c.answerOwn(e.ID, rpcerr.InvalidRequest(nil).WithDetail(e.Reason))
	}
	return nil
}

// onTooLarge deals with a message that the stream skipped.
func (c *Conn) onTooLarge(e *stream.TooLargeError) {
	c.log.Warn("acp: received a message that is too long", "bytes", e.Size, "limit", e.Limit)
	id := []byte(e.ID)
	if !e.HasResult {
		c.answerOwn(id, rpcerr.InvalidRequest(nil).WithDetail("message is too long"))
		return
	}
	c.answered(id, func(k *call) { k.err = answerError(k, e) })
}

func (c *Conn) onNotification(e *wire.Envelope, size int64) {
	entry := c.notifications[string(e.Method)]
	if entry == nil {
		method := string(e.Method)
		if method == methodCancel {
			c.onCancel(e.Params)
			return
		}
		if c.cfg.ExtensionNotification == nil || strings.HasPrefix(method, "$/") || isProtocol(method) {
			c.log.Debug("acp: ignored a notification", "method", shown(method))
			return
		}
		c.admitNote(item{kind: itemNote, size: size + noteOverhead, params: e.Params, what: method}, "")
		return
	}
	group := ""
	if entry.EndsGroup {
		group = groupKey(e.Params)
	}
	c.admitNote(item{kind: itemNote, size: size + noteOverhead, entry: entry, params: e.Params}, group)
}

func (c *Conn) onRequest(e *wire.Envelope, size int64) {
	r := &request{id: string(e.ID), entry: c.requests[string(e.Method)], params: e.Params}
	r.key = idKey(r.id)
	r.scope.parent, r.scope.conn, r.scope.size, r.scope.req = c.life, c, size+requestOverhead, r
	if r.entry != nil {
		r.method = r.entry.Name
		if r.entry.Group || r.entry.EndsGroup {
			r.group = groupKey(e.Params)
		}
		if r.entry.Group {
			r.entered = newEntered()
		}
	} else {
		r.method = string(e.Method)
	}
	if refusal := c.admitRequest(r); refusal != nil {
		c.answerOwn([]byte(r.id), refusal)
	}
}

func (c *Conn) onResponse(e *wire.Envelope) {
	c.answered(e.ID, func(k *call) {
		switch {
		case e.TooDeep:
			k.err = c.invalid(k.method+" result", wire.Complain(e.Reason))
		case e.Kind == wire.KindBadResponse:
			k.err = c.invalid(k.method+" result", wire.Complain(e.Reason))
		default:
			k.result, k.fault = e.Result, e.Error
		}
	})
}

// answered finds the call that an answer belongs to, stores what it says, and
// gives the answer its place in the order.
func (c *Conn) answered(id []byte, store func(*call)) {
	n, ok := callID(id)
	if !ok {
		// Some peers answer so what they could not make sense of.
		c.log.Warn("acp: received an answer without a usable id")
		return
	}
	c.calls.mu.Lock()
	k := c.calls.pending[n]
	if k == nil {
		c.calls.mu.Unlock()
		if c.calls.issued(n) {
			c.log.Debug("acp: received an answer that nobody waits for any more", "id", n)
		} else {
			c.log.Warn("acp: received an answer to a call that was never made")
		}
		return
	}
	c.calls.removeLocked(k)
	k.state = callAnswered
	store(k)
	lifting := k.lifting
	k.lifting = false
	place := k.placeLocked()
	c.calls.mu.Unlock()
	if lifting {
		c.endLifting()
	}
	if !k.exempt {
		c.placeResponse(k)
		return
	}
	if place != nil {
		c.placeResponse(place)
	}
	c.deliver(k)
}
