package acp

import (
	"context"
	"encoding/json"
)

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
// treated like those of any other method.
//
// Protocol: extensibility.
type ExtensionHandler interface {
	HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error)
}

// ExtensionNotificationHandler is the counterpart of [ExtensionHandler] for notifications.
// Without it unknown notifications are ignored. Notifications are handled one at a time, in
// the order of arrival. A returned error is logged.
//
// Protocol: extensibility.
type ExtensionNotificationHandler interface {
	HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error
}
