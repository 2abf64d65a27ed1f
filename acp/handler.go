package acp

import (
	"context"
	"encoding/json"
)

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

// Selective is an optional interface for both roles, for types with more methods than they
// serve: a wrapper, or a host whose options enable methods. New calls Handles once for each
// method of the optional interfaces that the value implements, with its name such as
// [MethodSessionLoad]. A method for which it returns false fails with -32601, and the
// capabilities that need the method are not advertised. It must return the same for all
// methods of an interface; otherwise Start returns an error. Handles is not called for the
// methods of [Agent] and [Client], for extensions, and if the value is or wraps a connection.
type Selective interface {
	Handles(method string) bool
}

// ExtensionHandler is an optional interface for both roles. It handles every request whose
// method the protocol does not define. Without it such requests fail with -32601, method
// not found.
//
// The protocol reserves method names that begin with an underscore for extensions,
// preferably followed by a domain: "_example.com/review". Calls of this SDK require the
// underscore. A handler receives whatever the peer sent and should return
// rpcerr.MethodNotFound for unknown methods.
//
// Requests are handled concurrently. Params is nil if the peer sent none; the handler owns
// the bytes. The result is encoded with encoding/json; nil is encoded as null. Errors are
// treated like those of any other method. Protocol: extensibility.
type ExtensionHandler interface {
	HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error)
}

// ExtensionNotificationHandler is the counterpart of [ExtensionHandler] for notifications.
// Without it unknown notifications are ignored. Notifications are handled one at a time, in
// the order of arrival. A returned error is logged. Protocol: extensibility.
type ExtensionNotificationHandler interface {
	HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error
}
