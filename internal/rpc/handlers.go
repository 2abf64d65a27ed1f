package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/internal/rpc/order"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// handlers passes a message to the user's handler: decode, check, middleware, handler.
type handlers struct {
	codec
	rows
	receive Handler // the middlewares around handle; nil without any
}

func (h *handlers) init(cfg *Config, log *slog.Logger) {
	h.codec, h.rows = codec{cfg: cfg, log: log}, newRows(cfg.Entries)
	h.receive = wrap(cfg.Receiving, h.handleWrapped)
}

// isExtension reports whether a method without a row goes to the handlers of extensions.
func (h *handlers) isExtension(method string) bool {
	return !strings.HasPrefix(method, "$/") && !(h.cfg.Defined != nil && h.cfg.Defined(method))
}

// notification decodes a notification and runs its handler.
func (h *handlers) notification(s *scope, it *order.Item) {
	defer s.end(errReturned)
	if it.Kind == order.Dropped {
		h.dropped(s.Method, errBeforeHandshake)
		return
	}
	var raw []byte // the raw params, if the handler may ask for them
	if h.cfg.RawParams {
		raw = it.Params
	}
	entry, ok := it.What.(*Entry)
	if !ok {
		if err := h.invoke(s, nil, json.RawMessage(it.Params), raw, nil); err != nil {
			h.failed(s, err)
		}
		return
	}
	var params any
	var held int64
	var fields *wire.FieldErrors
	err := safely(func() error { params, s.odd, held, fields = h.decodeParams(entry, it.Params); return nil })
	it.Params = nil
	s.Size = held + int64(len(raw)) + order.NotificationOverhead // the decoded message
	if fields != nil {
		err = h.invalid(s.Method+" params", fields)
	}
	if err != nil {
		h.dropped(s.Method, err)
		return
	}
	if it.Ends != nil {
		it.Ends.AwaitCalled(s.parent.Done()) // ends with the connection
	}
	if err := h.invoke(s, entry, params, raw, nil); err != nil {
		h.failed(s, err)
	}
}

func (h *handlers) failed(s *scope, err error) {
	s.conn.Look(s.Method, err, func() {
		if s.conn.Ordinary(err) {
			h.log.Debug("acp: a notification handler ended with the connection", "method", shown(s.Method))
			return
		}
		h.log.Error("acp: a notification handler failed", "method", shown(s.Method), errorAttr(err))
	})
}

// dropped reports a notification that no handler gets.
func (h *handlers) dropped(method string, err error) {
	h.log.Warn("acp: dropped a notification", "method", shown(method), "reason", shown(err.Error()))
	if h.cfg.OnDropped != nil {
		protect(h.log, "OnDropped", func() { h.cfg.OnDropped(method, err) })
	}
}

// refused reports a request that no handler gets, and returns the error of its response.
func (h *handlers) refused(method string, e *rpcerr.RequestError) error {
	h.log.Debug("acp: refused a request", "method", shown(method), "code", int(e.Code))
	if h.cfg.OnRefused != nil {
		h.cfg.OnRefused(method)
	}
	return &peerMistake{e}
}

// requestParams decodes the params of a request and frees the raw ones.
func (h *handlers) requestParams(r *request) (any, error) {
	raw := r.params
	r.params = nil
	if r.entry == nil {
		return json.RawMessage(raw), nil
	}
	v, odd, held, fields := h.decodeParams(r.entry, raw)
	r.odd = odd
	if fields != nil {
		return nil, h.refused(r.Method, rpcerr.InvalidParams(fields))
	}
	if r.entry.Refuse != nil {
		if e := r.entry.Refuse(v); e != nil {
			return nil, h.refused(r.Method, e)
		}
	}
	if !h.cfg.RawParams {
		held -= int64(len(raw))
	}
	r.Grow(held)
	return v, nil
}

// invoke runs the middlewares and the handler and stores the result. A panic
// becomes an error.
func (h *handlers) invoke(s *scope, e *Entry, params any, raw []byte, res *any) error {
	return safely(func() (err error) {
		var v any
		ctx := context.Context(s)
		if h.cfg.RawParams {
			ctx = context.WithValue(ctx, rawParamsKey{}, json.RawMessage(raw))
		}
		in := incoming{entry: e, request: s.req}
		if h.receive != nil {
			v, err = h.receive(context.WithValue(ctx, incomingKey{h}, in), s.Method, params)
		} else {
			v, err = h.handle(ctx, in, s.Method, params)
		}
		if res != nil {
			*res = v
		}
		return err
	})
}

// incoming is the message that passes through the receiving middlewares.
type incoming struct {
	entry   *Entry
	request *request // nil: a notification
}

type incomingKey struct{ h *handlers }

// handleWrapped is the handler inside of the receiving middlewares.
func (h *handlers) handleWrapped(ctx context.Context, method string, params any) (any, error) {
	in, ok := ctx.Value(incomingKey{h}).(incoming)
	if !ok {
		return nil, fmt.Errorf("acp: %s: a receiving middleware passed on a foreign ctx", shown(method)) //errlint:ignore a mistake in a middleware
	}
	return h.handle(ctx, in, method, params)
}

func (h *handlers) handle(ctx context.Context, in incoming, method string, params any) (any, error) {
	if in.entry != nil {
		if in.request != nil {
			in.request.Called()
		}
		return in.entry.Handle(ctx, params)
	}
	raw, ok := params.(json.RawMessage)
	if !ok { // a middleware's own
		var err error
		if raw, err = encodeRaw(params); err != nil {
			return nil, encodingError(method+" params", err)
		}
	}
	switch {
	case in.request == nil:
		return nil, h.cfg.ExtensionNotification(ctx, method, raw)
	case h.cfg.Extension == nil || !h.isExtension(method):
		return nil, h.refused(method, rpcerr.MethodNotFound(shown(method)))
	}
	return h.cfg.Extension(ctx, method, raw)
}

func wrap(list []Middleware, h Handler) Handler {
	if len(list) == 0 {
		return nil
	}
	for _, l := range slices.Backward(list) {
		h = l(h)
	}
	return h
}

// rows has the methods that this end handles.
type rows struct{ requests, notifications map[string]*Entry }

func newRows(entries []*Entry) rows {
	t := rows{map[string]*Entry{}, map[string]*Entry{}}
	for _, e := range entries {
		if e.Notification {
			t.notifications[e.Name] = e
		} else {
			t.requests[e.Name] = e
		}
	}
	return t
}

// extension is the method of a notification without a row.
type extension string

// Title implements [order.Subject].
func (e extension) Title() string { return string(e) }

// allows reports whether a request may have the id with this key.
func (h *handlers) allows(key string) bool {
	return !h.cfg.StrictIDs || strings.HasPrefix(key, `"`) || key != "null" && !strings.ContainsAny(key, ".eE")
}

// Title implements [order.Subject].
func (e *Entry) Title() string { return e.Name }

// ends returns the group that a message with these params ends.
func (e *Entry) ends(params []byte) *order.Ends {
	return &order.Ends{Group: groupKey(params), All: e.Ends == EndsAll}
}
