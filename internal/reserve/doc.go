// Package reserve bounds the memory of results that are on their way to the peer.
//
// A [Budget] counts the results of the connections that share it, each connection through
// a [Share] of its own. A result counts from its reservation, or from the return of its
// handler if there is none, until its frame is written. Its size in memory counts, and its
// frame.
//
// Only reservations wait, and only large ones: a handler that is about to load a large
// result calls [Result] with its ctx before. It must hold no reservation while it waits for
// a person or for the peer, who may wait for what other reservations hold back.
// Reservations are granted in the order in which they were asked for, with one exception:
// a connection that has no large result in flight gets one at once, so a peer that does not
// read cannot stop the other connections.
//
// Results without a reservation are counted and do not wait. While they have made the
// budget exceeded, [Share.Exceeded] asks the connection to start no handlers.
//
// One lock, that of the Budget, guards all of it. Nothing is called while it is held.
package reserve

import "context"

// Small is the size in bytes below which a result never waits.
const Small = 64 << 10

// Result reserves room for the result of the request whose handler was given ctx, size
// bytes in memory. It may wait, as long as ctx and the connection last. A request has one
// reservation: a second call gives back what the first one has reserved. It ends with the
// request, and with a call to the peer that the handler makes. Outside of a request handler
// nothing is reserved.
func Result(ctx context.Context, size int64) error {
	if r, ok := ctx.Value(Key{}).(Reserver); ok {
		return r.ReserveResult(ctx, size)
	}
	return nil
}

// Key is the key under which the ctx of a handler has its [Reserver].
type Key struct{}

// Reserver reserves room for the result of one request.
type Reserver interface {
	ReserveResult(ctx context.Context, size int64) error
}
