package rpc

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// methodCancel is the one message that the connection handles itself.
const methodCancel = "$/cancel_request"

// onCancel ends the ctx of the request that $/cancel_request names. One that was
// not started is answered at once and never is.
func (c *Conn) onCancel(params []byte) {
	key, ok := cancelTarget(params)
	if !ok {
		return
	}
	in := &c.in
	in.mu.Lock()
	r := in.byID[key]
	if r == nil {
		in.mu.Unlock()
		return
	}
	r.cancelled = true
	r.end(errCancelled)
	unstarted := r.parked || r.state == requestWaiting
	if unstarted {
		in.unregisterLocked(r)
		in.emptyLocked(r)
		r.entered.over()
	}
	in.mu.Unlock()
	if unstarted {
		c.answerOwn([]byte(r.id), cancelledAnswer(r))
	}
}

// emptyLocked lets go what a request holds that will never be started. What is left of
// it counts as waiting until its place in the line is reached: a peer could cancel
// whatever it asks for.
func (in *inbound) emptyLocked(r *request) {
	r.params, r.before, r.method, r.group = nil, nil, "", ""
	left := requestOverhead + int64(len(r.id)+len(r.key))
	in.waits -= r.size - left
	r.size = left
}

// cancelTarget reads the params of $/cancel_request.
func cancelTarget(params []byte) (key string, ok bool) {
	id := wire.Member(params, "requestId")
	if len(id) == 0 {
		return "", false
	}
	if c := id[0]; c != '"' && c != '-' && c != 'n' && (c < '0' || c > '9') {
		return "", false
	}
	return idKey(string(id)), true
}

// errCancelled is the cause of a ctx that $/cancel_request ended.
var errCancelled = rpcerr.RequestCancelled(nil).WithCause(context.Canceled)

// cancelledAnswer is how a request is answered that the peer cancelled.
func cancelledAnswer(r *request) *rpcerr.RequestError {
	return rpcerr.RequestCancelled(map[string]json.RawMessage{"requestId": json.RawMessage(r.id)})
}

// sendCancel tells the peer that nobody waits for an answer any more. It does not
// wait for room: when there is none, the peer does not read anyway.
func (c *Conn) sendCancel(id uint64) {
	f := newFrame()
	f.b = appendNotification(f.b[:0], methodCancel)
	f.b = fmt.Appendf(f.b, `,"params":{"requestId":%d}}`, id)
	f.own = true
	size := f.cost()
	if !c.out.tryReserveOwn(size) {
		f.free()
		return
	}
	_ = c.pushNotification(context.Background(), methodCancel, f, size) // the connection ended: no matter
}
