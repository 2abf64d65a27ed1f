package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"
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
	// DrainGrace is how long requests may continue after their sender has closed its end. The
	// default is 5 s. If it is negative, the proxy does not wait for them.
	DrainGrace time.Duration
	// HandlerGrace is how long Wait waits for middleware after the streams are closed. The
	// default is 5 s.
	HandlerGrace time.Duration
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
	c.DrainGrace = cmp.Or(c.DrainGrace, 5*time.Second)
	c.HandlerGrace = cmp.Or(max(c.HandlerGrace, 0), 5*time.Second)
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
