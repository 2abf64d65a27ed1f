package rpc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/internal/rpc/outbox"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// Notify sends a notification. params is a pointer to its params type. It returns
// when the message is queued for writing.
func (c *Conn) Notify(ctx context.Context, m *wire.Method, params any) error {
	return c.notifyThrough(ctx, m, m.Name, params)
}

// NotifyExtension sends a notification that the protocol does not define. params
// is a json.RawMessage or anything encoding/json takes; nil leaves params out.
func (c *Conn) NotifyExtension(ctx context.Context, method string, params any) error {
	return c.notifyThrough(ctx, nil, method, params)
}

// notifyThrough runs the sending middlewares around the notification.
func (c *Conn) notifyThrough(ctx context.Context, m *wire.Method, method string, params any) (err error) {
	if err := c.wrong(); err != nil {
		return err
	}
	if m == nil {
		if params, err = c.handlers.rawParams(method, params); err != nil {
			return err
		}
	}
	if c.send == nil {
		return c.notify(ctx, m, method, params)
	}
	_, err = c.sendThrough(ctx, &outgoing{m: m}, method, params)
	return err
}

// outgoing is the message that passes through the sending middlewares.
type outgoing struct {
	call *call // nil for a notification
	opts *CallOptions

	m *wire.Method // of a notification
}

// outgoingKey finds it in the ctx. Each connection has its own, because a
// middleware may use another connection.
type outgoingKey struct{ c *Conn }

// sendThrough runs the sending middlewares. It converts a panic to an error, because it may run on
// a goroutine of this package, and because others wait for the end of the call.
func (c *Conn) sendThrough(ctx context.Context, out *outgoing, method string, params any) (res any, err error) {
	err = safely(func() (err error) {
		res, err = c.send(context.WithValue(ctx, outgoingKey{c}, out), method, params)
		return err
	})
	if p, ok := err.(*panicError); ok {
		c.log.Error("acp: panic in a sending middleware", "method", shown(method), errorAttr(p))
		return nil, fmt.Errorf("acp: %s: sending middleware: %w", shown(method), err)
	}
	return res, panics.Sound(err)
}

// sendWrapped is the handler inside of the sending middlewares.
func (c *Conn) sendWrapped(ctx context.Context, method string, params any) (any, error) {
	out, ok := ctx.Value(outgoingKey{c}).(*outgoing)
	if !ok {
		return nil, fmt.Errorf("acp: %s: a sending middleware passed on a foreign ctx", shown(method)) //errlint:ignore a mistake in a middleware
	}
	if out.call == nil {
		return nil, c.notify(ctx, out.m, method, params)
	}
	// Each attempt is a call of its own.
	k := *out.call
	return c.call(ctx, &k, params, out.opts)
}

func (c *Conn) notify(ctx context.Context, m *wire.Method, method string, params any) error {
	if err := c.usable(); err != nil {
		return err
	}
	f := outbox.NewFrame()
	f.About = method
	f.Data = appendNotification(f.Data, method)
	head := len(f.Data)
	err := c.handlers.encodeParams(f, m, method, params, !arrived(ctx, params))
	if err == nil {
		err = ctx.Err()
	}
	f = f.Fit()
	if err == nil {
		c.describe(f, stream.Message{Kind: stream.KindNotification, Method: method}, head)
		err = c.reserve(ctx, f)
	}
	if err != nil {
		f.Free()
		return c.sooner(ctx, err)
	}
	switch c.out.Push(f) {
	case outbox.Begin:
		c.out.Start()
	case outbox.Dropped:
		return closed(c.end.cause())
	}
	return nil
}

// reserve waits for room for a notification. A handler that waits counts as inside a Conn method.
func (c *Conn) reserve(ctx context.Context, f *outbox.Frame) error {
	if c.out.TryReserve(f) {
		return nil
	}
	s := scopeOf(ctx)
	s.enter(c, false)
	defer s.leave(c, false)
	return c.out.Reserve(ctx, f)
}

// frameRefused handles a message that the stream cannot carry. A call fails with the error, and a
// request gets an internal error; the connection goes on. The writer calls it.
func (c *Conn) frameRefused(f *outbox.Frame, err error) {
	switch {
	case f.Call != 0:
		c.calls.failOne(f.Call, err)
		return
	case f.Request != "" && !f.IsOwn():
		id := errs.NewErrorID()
		c.log.Error("acp: stream refused a response", "method", shown(f.About), "error", err, memberErrorID, id)
		c.respondOwn([]byte(f.Request), InternalError(id))
		return
	}
	c.log.Error("acp: stream refused a message", "method", shown(cmp.Or(f.About, "response")), "error", err)
}

// describe sets the fields of a message whose Data is complete that a network stream needs: m, and
// the session that the params or the result name. That member begins at f.Data[body:] if there is
// one.
func (c *Conn) describe(f *outbox.Frame, m stream.Message, body int) {
	if !c.network {
		return
	}
	if m.Method == methodCancel { // a user's own
		f.Message = stream.ParseMessage(f.Data)
		return
	}
	m.Data = f.Data
	if m.ID == nil && m.Kind == stream.KindErrorResponse {
		m.ID = json.RawMessage("null")
	}
	if m.Kind != stream.KindErrorResponse {
		if _, payload, ok := bytes.Cut(f.Data[body:], []byte(":")); ok {
			m.SessionID = envelope.SessionID(payload[:len(payload)-1])
		}
	}
	f.Message = m
}
