package rpc

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// handleNote decodes a notification and runs its handler.
func (c *Conn) handleNote(s *scope, it *item) {
	defer s.end(errReturned)
	if it.entry == nil {
		c.noteHandled(s, c.invoke(s, nil, json.RawMessage(it.params), nil))
		return
	}
	var params any
	var fields *wire.FieldErrors
	err := c.safely(func() error { params, fields = c.decodeParams(it.entry, it.params); return nil })
	it.params = nil
	if fields != nil {
		err = c.invalid(s.method+" params", fields)
	}
	if err != nil {
		c.dropped(s.method, err)
		return
	}
	after, _ := it.what.([]*request)
	for _, r := range after {
		r.entered.wait()
	}
	c.noteHandled(s, c.invoke(s, it.entry, params, nil))
}

func (c *Conn) noteHandled(s *scope, err error) {
	if err != nil {
		c.log.Error("acp: handling a notification", "method", shown(s.method), errorAttr(err))
	}
}

// dropped tells of a notification that could not be handed on.
func (c *Conn) dropped(method string, err error) {
	c.log.Warn("acp: dropped a notification that could not be decoded", "method", shown(method))
	if c.cfg.OnDropped != nil {
		c.protect("OnDropped", func() { c.cfg.OnDropped(method, err) })
	}
}

// serve handles one request and answers it, whatever its handler does.
func (c *Conn) serve(r *request) {
	// Deferred, because a handler may end its goroutine with runtime.Goexit.
	defer c.writeIfClaimed(r)
	defer c.handlerDone(r)
	defer c.runAfter(r)
	res, err := any(nil), errExited
	defer func() {
		r.entered.over()
		c.answer(r, res, err)
		r.end(errReturned)
	}()
	var params any
	if err = c.safely(func() (err error) { params, err = c.requestParams(r); return err }); err != nil {
		return
	}
	err = errExited
	for _, b := range r.before {
		b.entered.wait()
	}
	r.entered.call()
	err = c.invoke(&r.scope, r.entry, params, &res)
}

// writeIfClaimed makes the goroutine of a request the writer for as long as there
// is something to write: nobody waits for it any more, so it may block.
func (c *Conn) writeIfClaimed(r *request) {
	if r.writes {
		c.out.write()
	}
}

// requestParams decodes the params of a request and lets the raw ones go.
func (c *Conn) requestParams(r *request) (any, error) {
	raw := r.params
	r.params = nil
	if r.entry == nil {
		return json.RawMessage(raw), nil
	}
	v, fields := c.decodeParams(r.entry, raw)
	if fields != nil {
		return nil, rpcerr.InvalidParams(fields)
	}
	return v, nil
}

// decodeParams decodes and checks params; absent ones are an empty object.
func (c *Conn) decodeParams(e *Entry, raw []byte) (any, *wire.FieldErrors) {
	if raw == nil || string(raw) == "null" {
		raw = emptyObject
	}
	v, err := e.Params.Decode(raw)
	if err != nil {
		return nil, complaints(err)
	}
	strict := e.StrictParams && !c.cfg.LenientPaths
	if !e.Params.Valid(v, strict) {
		fields := validate.Struct(v, strict)
		if fields == nil {
			fields = wire.Complain("invalid")
		}
		return nil, fields
	}
	return v, nil
}

// invoke runs the middlewares and the handler and stores the result. A panic
// becomes an error.
func (c *Conn) invoke(ctx *scope, e *Entry, params any, res *any) error {
	return c.safely(func() (err error) {
		var v any
		if c.receive != nil {
			in := incoming{entry: e, note: ctx.req == nil}
			v, err = c.receive(context.WithValue(ctx, incomingKey{c}, in), ctx.method, params)
		} else {
			v, err = c.handle(ctx, e, ctx.req == nil, ctx.method, params)
		}
		if res != nil {
			*res = v
		}
		return err
	})
}

var (
	errExited   = errors.New("the handler ended its goroutine")
	errReturned = context.Canceled
)
