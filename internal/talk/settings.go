package talk

import (
	"context"
	"sync"

	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// Order numbers what an agent reports about a session, such as its options: each value has its
// place in the order of messages, so that an older value does not replace a newer one.
type Order struct {
	mu   *sync.Mutex // of the session, guards last and the settings
	last int         // the last place in use
}

// NextLocked returns a place after all others.
func (o *Order) NextLocked() int {
	o.last++
	return o.last
}

// Setting is a value with its place.
type Setting[T any] struct {
	Value T
	at    int
}

// Set replaces the value, unless it is newer.
func (v *Setting[T]) Set(at int, value T) {
	if at > v.at {
		v.Value, v.at = value, at
	}
}

// Response is a response that contains settings. Its place is between the updates that were read
// before and after it, even if the caller continues later.
type Response struct {
	order *Order
	at    int // the place; 0 until it is known
}

// Response returns a response that is yet to come.
func (o *Order) Response() *Response { return &Response{order: o} }

// Arrived is the AtResponse of the call. It takes the place in the order of messages that belongs
// to the response.
func (r *Response) Arrived(err error) {
	if err == nil {
		r.Tell(func(int) {})
	}
}

// Tell calls f with the place of the response, with the lock of the session. If the place is not
// known, for example because a middleware responded, it is the next one.
func (r *Response) Tell(f func(at int)) {
	r.order.mu.Lock()
	defer r.order.mu.Unlock()
	if r.at == 0 {
		r.at = r.order.NextLocked()
	}
	f(r.at)
}

// Settle makes a call whose response has settings of the session, and stores them. order is that of
// the session, or nil.
func Settle[P, R any](ctx context.Context, m endpoint.Request[P, R], out *endpoint.Sender, req *P, order *Order, store func(at int, res *R)) (*R, error) {
	if order == nil {
		return m.Call(ctx, out, req, nil)
	}
	response := order.Response()
	res, err := m.Call(ctx, out, req, &rpc.CallOptions{AtResponse: response.Arrived})
	if err == nil {
		response.Tell(func(at int) { store(at, res) })
	}
	return res, err
}
