package rpc

import (
	"github.com/acpkit/go-sdk/internal/rpc/order"
	"github.com/acpkit/go-sdk/rpcerr"
)

// refuse responds to requests that were held and are not handled.
func (c *Conn) refuse(refused []order.Refused) {
	for _, it := range refused {
		r, _ := it.Handler.(*request)
		c.respondOwn([]byte(r.ID), refusal(it.Why, r.Method))
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

// hold makes what is read wait until the call of a handshake has its response. It returns the
// options for the call.
func (c *Conn) hold(opts *CallOptions) *CallOptions {
	c.order.Hold()
	o := *opts
	o.AtResponse = func(err error) {
		defer func() { c.refuse(c.order.Open(true)) }() // last: what was held is handled after the response
		if opts.AtResponse != nil {
			opts.AtResponse(err)
		}
	}
	return &o
}
