package rpc

import (
	"context"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// methodCancel is the one message that the connection handles itself.
const methodCancel = "$/cancel_request"

// cancelTarget reads the params of $/cancel_request.
func cancelTarget(params []byte) (key string, ok bool) {
	id := envelope.Member(params, "requestId")
	if len(id) == 0 {
		return "", false
	}
	if c := id[0]; c != '"' && c != '-' && c != 'n' && (c < '0' || c > '9') {
		return "", false
	}
	return idKey(string(id)), true
}

// errCancelled is the cause of a ctx that $/cancel_request ended, errGroupEnded that of
// a ctx that a message ended which ends its group.
var (
	errCancelled  = rpcerr.RequestCancelled(nil).WithCause(context.Canceled)
	errGroupEnded = wire.ErrTurnCancelled
)
