package acp

import "context"

// Handler handles one message in its typed form.
//
// Params is a pointer to the params type of the method, such as *PromptRequest for
// "session/prompt". It is a json.RawMessage if the protocol does not define the method or
// this end does not handle it. For a request the result is a pointer to the result type of
// the method. For an extension it is what the extension handler returned, if the request
// was received, or a json.RawMessage, if it was sent. For a notification the result is nil.
//
// For a received message, ctx is the one that the method of the user receives; for a sent
// message, it is that of the caller.
type Handler func(ctx context.Context, method string, params any) (any, error)

// Middleware wraps a [Handler], for example to log, trace, restrict or rewrite messages.
// It may change params and result in place, replace the result by one of the same type,
// return without calling next, or replace an error. The Options of both ends have two
// lists, one for received and one for sent messages; the first middleware is the outermost.
//
// A Middleware must be safe for concurrent use. For received notifications it runs in the
// ordered queue, so it delays the messages that follow. It does not see cancellations, nor
// messages that could not be decoded or were refused before they reached a handler.
type Middleware func(next Handler) Handler
