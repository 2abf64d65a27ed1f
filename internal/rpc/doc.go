// Package rpc is the engine: one end of a JSON-RPC connection, with the order,
// the limits, the cancelling and the ends that the packages agent and client
// promise. It knows methods by their rows (package wire) and never the vocabulary.
//
// # The way of a message
//
//	stream.Read          one goroutine, the reader; it runs no code of the user
//	  |                  and never writes
//	wire.ParseEnvelope   what it is; what is no message is answered and forgotten
//	  |
//	  +- $/cancel_request   ends the ctx of the request it names, here and now
//	  +- request            registered under its id; EndsGroup acts here and now
//	  +- notification       EndsGroup acts here and now
//	  +- response           joined with its call
//	  |
//	  +- handshake gate     not open yet: requests are refused, notifications
//	  |                     forgotten; about to open: both are held
//	queue                one item for each notification, and one for each place
//	  |                  where a request may start or a response may be delivered
//	worker               one goroutine, while there is something in the queue:
//	  |
//	  +- notification       decode, check, middleware, handler, the next one
//	  +- request            a goroutine of its own: decode, check, middleware,
//	  |                     handler, encode, answer
//	  +- response           AtResponse, then the caller goes on
//
// A request or response that is read while the queue is empty and no handler of a
// notification runs does not go through it. What is sent is encoded by the
// sender, given room in the outgoing queue, and handed over through
// sourcegraph/jsonrpc2; one goroutine, started when there is something to write,
// writes all that is there in one go.
//
// The library keeps the calls, their ids and who waits for them. Its reading of
// JSON is left out: it gets only the ids of calls that are over, while their
// answers wait beside it, and it hands frames on that were encoded before.
//
// # The promises
//
//  1. Notifications are handled one at a time, in the order they arrived.
//  2. A request's handler starts only after every notification that arrived before
//     the request has been handled. While a notification handler is inside a Conn
//     method, requests start at once, because the peer may need them for its
//     answer; they then count as inside that handler. A send over another
//     connection, as in a proxy, does not count: nothing that is read here can
//     help it, and what it forwards must not be overtaken.
//  3. A call returns only after every notification that arrived before its
//     response has been handled. A call whose ctx descends from that of a
//     notification handler, or of a request that counts as inside one, returns as
//     soon as its response is there. The wait also ends with the call's ctx.
//  4. Everything a handler sent before it returned is ahead of its answer.
//  5. Handlers may call the peer to any depth in both directions, with a ctx that
//     descends from theirs. The engine never waits in a circle. A notification
//     handler that calls with another ctx would wait for itself; a warning names
//     it after Limits.SlowHandler.
//  6. Every request is answered exactly once, whatever its handler does; only the
//     end of the connection can be quicker.
//  7. The end of the connection fails every pending call with an error that is
//     wire.ErrClosed and wraps the cause.
//
// Two more orders hold. The handler of a message that ends a group is called when
// the handlers of the group's earlier requests have been entered. What is read
// behind a handshake does not hold back the answers to calls that the handshake's
// own handler makes.
//
// # Locks
//
// There are four that hold the state, and none is held while code of the user runs:
// inbound.mu (the order of what arrives), callTable.mu (our calls), outbox.mu (what is
// to be written) and ending.mu (how far the end has come). inbound.mu may be held when
// callTable.mu is taken, the other two are taken alone. A scope has a lock of its own
// below all of them. Those of objectStream belong to the way through the library: they
// may be held when outbox.mu is taken, and no other is held when they are.
package rpc
