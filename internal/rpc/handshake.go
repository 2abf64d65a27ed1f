package rpc

import (
	"github.com/acpkit/go-sdk/internal/rpc/order"
	"github.com/acpkit/go-sdk/rpcerr"
)

// handshake opens the connection with the result of a handshake, of either end.
type handshake struct {
	c       *Conn
	initial *rows
}

// open releases what was read during the handshake, with the rows that the result leads to, or the
// initial rows if result is nil.
func (h *handshake) open(result any) {
	to := h.initial
	if negotiated := h.c.cfg.Negotiated; negotiated != nil && result != nil {
		to = newRows(negotiated(result), &h.c.handlers)
	}
	h.refuse(h.c.order.Open(to))
}

// fail refuses what was read during the handshake.
func (h *handshake) fail() { h.refuse(h.c.order.Open(nil)) }

// refuse responds to requests that are not handled.
func (h *handshake) refuse(refused []order.Refused) {
	for _, it := range refused {
		r, _ := it.Handler.(*request)
		h.c.respondOwn([]byte(r.ID), refusal(it.Why, r.Method))
	}
}

// refusal is the response to a request that is not handled.
func refusal(why order.Reason, method string) *rpcerr.RequestError {
	invalid := rpcerr.InvalidRequest(nil)
	switch why {
	case order.InUse:
		return invalid.WithDetail("id is in use")
	case order.NotOpen:
		return invalid.WithDetail("ACP connection must be initialized before '" + shown(method) + "'")
	case order.TooLate:
		return invalid.WithDetail("a repeated initialize must come before every other request")
	case order.BadID:
		return invalid.WithDetail("id must be a string or an integer")
	case order.Refusing:
		return rpcerr.InternalError(nil).WithDetail(errShutdown.Error())
	}
	return rpcerr.New(rpcerr.CodeInternalError, "Too many requests", nil) // order.TooMany
}

// call returns the options for a call that is a handshake. What is read from now on waits for its
// response. A handshake that fails changes nothing.
func (h *handshake) call(opts *CallOptions) *CallOptions {
	var result any
	o := *opts
	o.Result = func(v any) {
		result = v
		if opts.Result != nil {
			opts.Result(v)
		}
	}
	o.AtResponse = func(err error) {
		if err != nil {
			result = nil
		}
		defer h.open(result) // last, because what was held back is handled after the response
		if opts.AtResponse != nil {
			opts.AtResponse(err)
		}
	}
	h.c.order.Hold()
	return &o
}
