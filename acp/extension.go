package acp

import (
	"context"
	"encoding/json"
)

// ExtensionHandler is an optional interface for both roles. The SDK calls it with
// every request whose method the protocol does not define; without it such
// requests are answered with -32601, method not found.
//
// The protocol reserves names that begin with an underscore for extensions, best
// followed by a domain: "_example.com/review". The callers of this SDK insist on
// the underscore; a handler sees whatever the peer sent and should return
// rpcerr.MethodNotFound for what it does not know.
//
// Requests are handled concurrently. Params is nil when the peer sent none; the
// bytes belong to the handler. The result is written with encoding/json; nil is
// answered as null. Errors travel as those of any other method.
//
// Protocol: extensibility.
type ExtensionHandler interface {
	HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error)
}

// ExtensionNotificationHandler is the notification form of [ExtensionHandler].
// Without it unknown notifications are ignored. It is called in the order of
// arrival among all other notifications, one at a time; an error is logged and
// not answered.
//
// Protocol: extensibility.
type ExtensionNotificationHandler interface {
	HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error
}
