package rpc

import (
	"context"
	"strconv"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// What the engine itself writes and reads of a message beside its payload.

const version = `{"jsonrpc":"2.0"`

func appendCall(b []byte, id uint64, method string) []byte {
	b = append(b, version+`,"id":`...)
	b = strconv.AppendUint(b, id, 10)
	b = append(b, `,"method":`...)
	return wire.AppendString(b, method)
}

func appendNotification(b []byte, method string) []byte {
	b = append(b, version+`,"method":`...)
	return wire.AppendString(b, method)
}

// appendHead begins a response; a nil id is null.
func appendHead(b []byte, id []byte) []byte {
	b = append(b, version+`,"id":`...)
	if id == nil {
		return append(b, "null"...)
	}
	return append(b, id...)
}

// lenHead is the length of what appendHead appends.
func lenHead(id string) int { return len(version) + len(`,"id":`) + len(id) }

// callID reads the id of a response. Ours are integers from 1 on; a peer may
// write them as 7.0 or 7e0.
func callID(id []byte) (uint64, bool) {
	if len(id) == 0 || id[0] == '"' || id[0] == 'n' {
		return 0, false
	}
	if len(id) < 19 { // what all peers write, without making a string of it
		n, digits := uint64(0), true
		for _, c := range id {
			n = n*10 + uint64(c-'0')
			digits = digits && c-'0' <= 9
		}
		if digits {
			return n, n > 0
		}
	}
	n, err := strconv.ParseUint(envelope.IDKey(string(id)), 10, 64)
	if err != nil {
		return 0, false
	}
	return n, n > 0
}

// groupKey names the group that a message belongs to.
func groupKey(params []byte) string {
	return envelope.IDKey(string(envelope.Member(params, "sessionId")))
}

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
	return envelope.IDKey(string(id)), true
}

// errCancelled is the cause of a ctx that $/cancel_request ended, errGroupEnded that of
// a ctx that a message ended which ends its group.
var (
	errCancelled  = rpcerr.RequestCancelled(nil).WithCause(context.Canceled)
	errGroupEnded = wire.ErrTurnCancelled
)
