package rpc

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Bare handles and encodes single messages as a Conn does, for an end on a connection of another
// kind: it decodes, checks, calls the handler, encodes, and converts errors. It knows neither order
// nor limits, and has no state.
type Bare struct {
	handlers handlers
	failures failures
}

// NewBare uses what cfg says about methods, checks, errors and the log.
func NewBare(cfg *Config) *Bare {
	b := &Bare{failures: failures{log: LimitLines(cmp.Or(cfg.Logger, slog.Default())), ends: func() bool { return false }}}
	b.handlers.init(cfg, b.failures.log)
	return b
}

// Row returns the row of a method, or nil. ok reports whether a message of the method is handled.
func (b *Bare) Row(method string, notification bool) (e *Entry, ok bool) {
	h := &b.handlers
	if notification {
		e = h.notifications[method]
		return e, e != nil || h.cfg.ExtensionNotification != nil && h.isExtension(method)
	}
	e = h.requests[method]
	return e, e != nil || h.cfg.Extension != nil && h.isExtension(method)
}

// Request handles a request and returns the encoded result. ctx has the cause wire.ErrTurnCancelled
// if the group of the request was ended.
func (b *Bare) Request(ctx context.Context, method string, raw json.RawMessage) (result json.RawMessage, err error) {
	h := &b.handlers
	e, ok := b.Row(method, false)
	if !ok {
		return nil, h.refused(method, rpcerr.MethodNotFound(shown(method)))
	}
	encode := func(res any) (err error) {
		result, err = h.appendValue(nil, e, method, res, func(any) bool { return false })
		return err
	}
	err = safely(func() error {
		if e == nil {
			res, err := h.cfg.Extension(ctx, method, raw)
			if err != nil {
				return err
			}
			return encode(res)
		}
		params, _, _, fields := h.decodeParams(e, raw)
		if fields != nil {
			return h.refused(method, rpcerr.InvalidParams(fields))
		}
		if e.Refuse != nil {
			if why := e.Refuse(params); why != nil {
				return h.refused(method, why)
			}
		}
		res, err := e.Handle(ctx, params)
		if err != nil {
			return err
		}
		return encode(res)
	})
	if err != nil && e != nil && e.Ended != nil && context.Cause(ctx) == errGroupEnded {
		b.failures.log.Info("acp: handler of a cancelled turn failed", "method", method, "error", errs.LogText(err))
		err = encode(e.Ended())
	}
	return result, err
}

// Notification handles a notification, and logs what goes wrong.
func (b *Bare) Notification(ctx context.Context, method string, raw json.RawMessage) {
	h := &b.handlers
	e := h.notifications[method]
	err := safely(func() error {
		if e == nil {
			return h.cfg.ExtensionNotification(ctx, method, raw)
		}
		params, _, _, fields := h.decodeParams(e, raw)
		if fields != nil {
			h.dropped(method, h.invalid(method+" params", fields))
			return nil
		}
		_, err := e.Handle(ctx, params)
		return err
	})
	if err != nil {
		b.failures.Look(method, err, func() {
			h.log.Error("acp: a notification handler failed", "method", shown(method), errorAttr(err))
		})
	}
}

// Fault converts the error of a request for the peer, and logs what is not sent. ctx is that of the
// request.
func (b *Bare) Fault(ctx context.Context, method string, id jsonrpc2.ID, err error) (out *jsonrpc2.Error) {
	var e *rpcerr.RequestError
	unsound := b.failures.Leave(ctx, method, err, func(err error) {
		e, _ = b.failures.fault(err, ctx.Err() != nil, "acp: a request handler failed", "method", shown(method))
	})
	e = cmp.Or(unsound, e)
	if e.Code == rpcerr.CodeRequestCancelled && e.Data == nil {
		e = rpcerr.RequestCancelled(map[string]jsonrpc2.ID{"requestId": id})
	}
	e.As(&out)
	return out
}

// Params checks and encodes the params of a message to the peer. m has no types if it is an extension.
func (b *Bare) Params(m *wire.Method, params any) (raw json.RawMessage, err error) {
	if m.Params == nil {
		return b.handlers.rawParams(m.Name, params)
	}
	err = b.handlers.encode(m.Name, func() (err error) {
		raw, err = b.handlers.appendTyped(nil, m, params, true)
		return err
	})
	return raw, err
}

// Result decodes and checks the result of a call. That of an extension is not decoded.
func (b *Bare) Result(m *wire.Method, raw json.RawMessage) (any, error) {
	if m.Result == nil {
		return raw, nil
	}
	return b.handlers.decodeResult(m, raw)
}

// Logger returns the logger, whose lines have a budget.
func (b *Bare) Logger() *slog.Logger { return b.failures.log }
