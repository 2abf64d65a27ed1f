// Package rpc is the engine: one end of a JSON-RPC connection, with the order, the
// limits, the cancelling and the ends that the packages agent and client promise. It
// knows methods by their rows (package wire), and no vocabulary and no version.
//
// # The way of a message
//
//	Stream.Read        one goroutine, the reader; it runs no handler and never writes
//	  |
//	envelope.Parse     what it is; invalid input gets an error response
//	  |
//	  +- $/cancel_request  ends the ctx of the request that it names, here and now
//	  +- response          is joined with its call
//	  +- request           is registered under its id
//	  +- notification
//	  |
//	order              before the handshake requests are refused and notifications dropped;
//	  |                during it both are held. Entry.Ends ends the ctx of what was read
//	  |                before, here and now. Then there is one item for each notification,
//	  |                and one for each place where a request may start or a response may
//	  |                be delivered
//	worker             one goroutine, while there is something in the queue:
//	  |
//	  +- notification      decode, check, middleware, handler, then the next one
//	  +- request           beside the worker and other requests, when there is a slot:
//	  |                    decode, check, middleware, handler, encode, queue
//	  +- response          AtResponse, then the caller goes on
//
// A request or response that is read while the queue is empty and no notification is handled
// does not go through it, except for a response that a relay passes on. The sender encodes
// what is sent, waits for room in the outgoing queue (package outbox) and adds it; one writer
// writes all that is there in one go.
//
// # The parts
//
// docs/architecture.md lists the parts and their files, from the first that a message meets to
// the last that all others use. The packages order, outbox and reserve know nothing of the
// engine, and each has a lock of its own.
//
// # The promises
//
//  1. Notifications are handled one at a time, in the order they arrived.
//  2. A request's handler starts only after every notification that arrived before the
//     request has been handled. While a notification handler waits inside a Conn method,
//     for a response or for room in the outgoing queue, requests start at once, because
//     the peer may need them for what the handler waits for; they then count as inside
//     that handler. A send over another connection, as in a proxy, does not count: nothing
//     that is read here can help it, and what it forwards must not be overtaken.
//  3. A call returns only after every notification that arrived before its response has
//     been handled. A call whose ctx descends from that of a notification handler, or of a
//     request that counts as inside one, returns as soon as its response is there. The wait
//     also ends with the call's ctx.
//  4. Everything a handler sent before it returned is before its response.
//  5. Handlers may call the peer to any depth in both directions, with a ctx that descends
//     from theirs. The engine never waits in a circle. A notification handler that calls
//     with another ctx would wait for itself; a warning names it after Limits.SlowHandler.
//  6. Every request is responded to exactly once, whatever its handler does; only the end
//     of the connection can be quicker.
//  7. The end of the connection fails every pending call with an error that is
//     wire.ErrClosed and wraps the cause.
//
// Three more orders hold. The handler of a message that ends a group is called after the
// handlers of the group's earlier requests. What is read during a handshake does not hold back
// the responses to calls that the handshake's own handler makes; a response to another call
// waits, as any does, behind the notifications that are held. In a relay (Config.Relay) what
// is read after a response waits until the response of the handler that made the call is
// queued, so that nothing overtakes what the relay passes on. That wait ends too with the ctx
// of the handler, with its next call and with Release.
//
// # Why the engine keeps its own calls
//
// An update that passes through the connection of sourcegraph/jsonrpc2 takes about 23 µs and
// 113 allocations, handlers run on its read loop, and one line that is not JSON ends it. So
// the engine reads, orders and joins responses with calls itself. It uses that library's
// Error as the error member of responses, package stream/objectstream connects its
// streams and connections with ours, and tests use its Conn as an independent peer.
//
// # Locks
//
// No lock is held while code of the user runs. They are, from the first that is taken to
// the last:
//
//	calls.mu               our calls
//	order.Order.mu         what was read and is not handled, and the requests and work that are open
//	ending.mu              how far the end has come
//	request.mu             what AfterResponse registered, and what the handler got from its calls;
//	                       many are alike, and none is taken in another
//	reserve.Budget.mu      the results that are not written, of all connections that share it
//	outbox.Box.mu          what is to be written
//	lines.mu               how many lines the log may still take
//
// That of the calls may be held when Order.mu is taken, and Order.mu when that of the budget is.
// All others are taken alone.
package rpc
