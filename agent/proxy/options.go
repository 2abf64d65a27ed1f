// Package proxy passes messages between a client and an agent. Experimental: it may change in any
// release. It does not depend on a version of the protocol or on its methods, and does not decode
// the messages, so members and methods that the schema does not define are not lost.
//
//	process, err := stream.Command(exec.Command("gemini", "--acp"), nil)
//	if err != nil {
//		return err
//	}
//	return proxy.New(stream.Stdio(), process, nil).Run(ctx)
//
// # What is passed on
//
// A message is passed on unchanged, byte for byte, including its id; only what a reader of lines may
// take for the end of one is written in another way (see [stream.Lines]). A cancel is passed on
// after the request that it cancels. A message that is not JSON-RPC is passed on too; the
// end that reads it must reject it. What a tolerant stream skips is not, and is logged if it looks
// like a message.
//
// All messages in one direction keep their order: requests, notifications and responses.
// The proxy has no queue: an end that does not read slows down the end that writes to it.
//
// # Middleware
//
// A [Middleware] sees the requests and notifications of one end, with their raw params, and
// the responses to them. It may change a message, respond by itself, or fail. A message that
// it does not change is passed on byte for byte. To keep the order, messages that were read
// after a message wait until the middleware has passed it on, and messages that were read
// after a response wait until the middleware has returned it. A middleware must call
// [Release] before it waits for anything else; the calls of a [Peer] do so themselves.
//
// # How it ends
//
// When the client closes its end, the agent may still respond to the client's requests in
// flight within 5 s. When the agent closes its end, requests in flight to it
// fail. Then both streams are closed.
//
// Use packages agent and client instead for a proxy that needs typed messages, or limits of
// its own at each end. Use stream.Forward for a proxy that needs no middleware.
package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
)

// Message is a request or a notification on its way through the proxy.
type Message struct {
	// Method and Params may be changed before the message is passed on. Params are nil
	// if there are none.
	Method string
	Params json.RawMessage
	// ID is the id of a request as its sender wrote it, and nil for a notification.
	ID json.RawMessage
}

// Handler handles one message. For a request it returns the raw result or an error. An
// *[Error], which is an error that the other end responded with, is sent byte for byte. Of
// an *rpcerr.RequestError the code, message and data are sent. Of any other error the sender
// gets only "Internal error". For a notification the result is nil, and an error is logged.
//
// ctx is done when the sender cancels the request, and when the proxy ends.
type Handler func(ctx context.Context, m *Message) (json.RawMessage, error)

// Middleware wraps a [Handler]. The innermost handler passes the message on. A middleware
// may call next more than once; each call passes the message on again. The handlers that a
// middleware returns must be safe for concurrent use.
type Middleware func(next Handler) Handler

// Options configure a [Proxy]. The zero value selects the defaults, and a nil *Options is
// equivalent to it. New copies the options.
type Options struct {
	// FromClient wraps the handling of messages of the client, and FromAgent that of
	// messages of the agent. The first middleware of a list is the outermost.
	FromClient, FromAgent []Middleware

	// Logger receives what cannot be returned to a caller: messages that could not be
	// passed on, errors of middleware, and panics. Params are never logged. If Logger is
	// nil, slog.Default() is used.
	Logger *slog.Logger

	// MaxOpen is the number of requests of each end that may be in flight before new ones
	// fail with "Too many requests". The default is 100,000.
	MaxOpen int
}

func (o *Options) clone() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.FromClient, c.FromAgent = slices.Clone(c.FromClient), slices.Clone(c.FromAgent)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	c.MaxOpen = cmp.Or(max(c.MaxOpen, 0), 100_000)
	return c
}

// chain wraps last in the middlewares, and returns nil if there are none.
func chain(list []Middleware, last Handler) Handler {
	list = slices.DeleteFunc(list, func(m Middleware) bool { return m == nil })
	if len(list) == 0 {
		return nil
	}
	for _, m := range slices.Backward(list) {
		last = m(last)
	}
	return last
}
