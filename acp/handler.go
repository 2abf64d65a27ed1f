package acp

import "context"

// Handler handles one message in its typed form.
//
// Params is a pointer to the params type of the method (*PromptRequest for
// "session/prompt"), or a json.RawMessage when the protocol does not define the
// method or this end does not handle it. For a request the result is a pointer to
// the result type, or what an extension handler returned (inbound) or
// json.RawMessage (outbound). For a notification the result is nil.
//
// On a chain of received messages the ctx is the one the user's method will get;
// on a chain of sent messages it is the caller's.
type Handler func(ctx context.Context, method string, params any) (any, error)

// Middleware wraps a [Handler] with behaviour of its own: logging, tracing,
// policies, rewriting. It may change params and result in place, replace the
// result by one of the same type, answer without calling next, or turn errors
// into others. Both ends take two lists in their Options, one for messages
// received and one for messages sent; the first middleware listed is outermost.
//
// A middleware is called by many goroutines at once. For received notifications
// it runs inside the ordered queue, so what it does there delays the messages
// behind. It does not see cancelling, nor messages that could not be decoded or
// were refused before they reached a handler.
type Middleware func(next Handler) Handler
