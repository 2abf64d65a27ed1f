package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Notify sends a notification. params is a pointer to its params type. It returns
// when the message is queued for writing.
func (c *Conn) Notify(ctx context.Context, m *wire.Method, params any) error {
	s := scopeOf(ctx)
	o := s.enter(c, false)
	defer s.leave(c, false)
	if c.send == nil {
		return c.notify(ctx, m, m.Name, params, !o.forwards)
	}
	_, err := c.sendThrough(ctx, &outgoing{m: m, strict: !o.forwards}, m.Name, params)
	return err
}

// NotifyExtension sends a notification that the protocol does not define. params
// is a json.RawMessage or anything encoding/json takes; nil leaves params out.
func (c *Conn) NotifyExtension(ctx context.Context, method string, params any) error {
	s := scopeOf(ctx)
	s.enter(c, false)
	defer s.leave(c, false)
	raw, err := c.rawParams(method, params)
	if err != nil {
		return err
	}
	if c.send == nil {
		return c.notify(ctx, nil, method, raw, true)
	}
	_, err = c.sendThrough(ctx, &outgoing{}, method, raw)
	return err
}

// outgoing is what a message's way through the sending middlewares leads to.
type outgoing struct {
	call *call // nil for a notification
	opts *CallOptions

	// Of a notification.
	m      *wire.Method
	strict bool
}

// outgoingKey finds it in the ctx. Each connection has its own, because a
// middleware may use another connection.
type outgoingKey struct{ c *Conn }

// sendThrough runs the sending middlewares. A panic of one becomes an error, since it
// may be on a goroutine of ours, and since others wait for how the call ends.
func (c *Conn) sendThrough(ctx context.Context, out *outgoing, method string, params any) (res any, err error) {
	err = c.safely(func() (err error) {
		res, err = c.send(context.WithValue(ctx, outgoingKey{c}, out), method, params)
		return err
	})
	if p, ok := err.(*panicError); ok {
		c.log.Error("acp: panic in a sending middleware", "method", shown(method), errorAttr(p))
		return nil, fmt.Errorf("acp: %s: sending middleware: %w", shown(method), err)
	}
	return res, err
}

// sendWrapped is what the sending middlewares wrap.
func (c *Conn) sendWrapped(ctx context.Context, method string, params any) (any, error) {
	out, ok := ctx.Value(outgoingKey{c}).(*outgoing)
	if !ok {
		return nil, fmt.Errorf("acp: %s: a sending middleware passed on a foreign ctx", shown(method))
	}
	if out.call == nil {
		return nil, c.notify(ctx, out.m, method, params, out.strict)
	}
	// Each attempt is a call of its own.
	k := &call{method: out.call.method, m: out.call.m, origin: out.call.origin, at: out.call.at}
	return c.call(ctx, k, params, out.opts)
}

func (c *Conn) notify(ctx context.Context, m *wire.Method, method string, params any, strict bool) error {
	if err := c.usable(); err != nil {
		return err
	}
	f := newFrame()
	f.b = appendNotification(f.b[:0], method)
	err := c.encodeParams(f, m, method, params, strict)
	if err == nil {
		err = ctx.Err()
	}
	size := f.cost()
	if err == nil {
		err = c.out.reserve(ctx, size)
	}
	if err != nil {
		f.free()
		return c.sooner(ctx, err)
	}
	return c.pushNotification(ctx, method, f, size)
}

// pushNotification queues an encoded notification for which room was reserved.
func (c *Conn) pushNotification(ctx context.Context, method string, f *frame, size int64) error {
	own := f.own
	if err := c.objects.notify(ctx, c.lib, method, f); err != nil {
		c.out.unreserve(size, own)
		return closed(c.cause())
	}
	return nil
}

// encodeParams is appendParams for a frame. The user's encoding methods may panic.
func (c *Conn) encodeParams(f *frame, m *wire.Method, method string, params any, strict bool) error {
	err := c.safely(func() (err error) {
		f.b, err = c.appendParams(f.b, m, method, params, strict)
		return err
	})
	if p, ok := err.(*panicError); ok {
		return c.encodingPanic(method, p)
	}
	return err
}

// rawParams encodes the params of an extension.
func (c *Conn) rawParams(method string, params any) (raw json.RawMessage, err error) {
	err = c.safely(func() (err error) { raw, err = encodeRaw(params); return err })
	if p, ok := err.(*panicError); ok {
		return nil, c.encodingPanic(method, p)
	}
	if err != nil {
		return nil, encodingError(method+" params", err)
	}
	return raw, nil
}

func (c *Conn) encodingPanic(method string, p *panicError) error {
	c.log.Error("acp: panic while encoding params", "method", shown(method), errorAttr(p))
	return encodingError(shown(method)+" params", p)
}

// appendParams checks and encodes params and closes the message. What is only
// forwarded is checked like what arrives: a proxy must not be stricter than the
// ends.
func (c *Conn) appendParams(b []byte, m *wire.Method, method string, params any, strict bool) ([]byte, error) {
	if m == nil {
		raw, err := encodeRaw(params)
		if err != nil {
			return b, encodingError(method+" params", err)
		}
		if raw != nil {
			b = append(append(b, `,"params":`...), raw...)
		}
		return append(b, '}'), nil
	}
	if !m.Params.Is(params) {
		return b, fmt.Errorf("acp: %s: params are a %T", method, params)
	}
	if !m.Params.Valid(params, strict) {
		return b, c.invalid(method+" params", validate.Struct(params, strict))
	}
	b, err := m.Params.Append(append(b, `,"params":`...), params)
	if err != nil {
		return b, c.unencodable(method+" params", err)
	}
	return append(b, '}'), nil
}

// encodeRaw encodes a value of an extension, on one line; nil stays nil.
func encodeRaw(v any) (json.RawMessage, error) {
	switch raw := v.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		if raw == nil {
			return nil, nil
		}
		end, err := wire.Skip(raw, 0, wire.MaxDepth-1)
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(raw[end:])) > 0 {
			return nil, errors.New("something follows the value")
		}
		if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
			return raw, nil
		}
		var line bytes.Buffer
		if err := json.Compact(&line, raw); err != nil {
			return nil, err
		}
		return line.Bytes(), nil
	}
	return json.Marshal(v)
}

// unencodable is the error for a typed value that has no JSON form. The checks let some
// of them pass, such as a nil pointer where a variant is expected, because encoding
// finds them anyway.
func (c *Conn) unencodable(what string, err error) error {
	if bad, ok := errors.AsType[*wire.EncodeError](err); ok {
		return c.invalid(what, bad.Fields())
	}
	return encodingError(what, err)
}

func encodingError(what string, err error) error {
	return fmt.Errorf("acp: encoding %s: %w", what, err)
}

// invalid builds the error for a value that breaks the schema.
func (c *Conn) invalid(where string, fields *wire.FieldErrors) error {
	if fields == nil {
		fields = wire.Complain("invalid")
	}
	if c.cfg.Invalid != nil {
		return c.cfg.Invalid(where, fields)
	}
	return fmt.Errorf("acp: invalid %s: %s", where, fields)
}
