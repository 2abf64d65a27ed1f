package rpc

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream/safetext"
)

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

// callID reads the id of a response. Ours are integers from 1 on; a peer may write them as 7.0
// or 7e0.
func callID(id []byte) (n uint64, ok bool) {
	n, err := strconv.ParseUint(string(id), 10, 64)
	if err != nil {
		n, err = strconv.ParseUint(envelope.IDKey(string(id)), 10, 64)
	}
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

// errCancelled is the cause of a ctx that $/cancel_request ended, errGroupEnded that of a ctx that
// ended with its group.
var (
	errCancelled  = rpcerr.RequestCancelled(nil).WithCause(context.Canceled)
	errGroupEnded = wire.ErrTurnCancelled
)

// shown returns a method's name, which the peer may have chosen, in the form for an error or a log.
func shown(method string) string {
	return safetext.OneLine(method, 128)
}

var emptyObject = json.RawMessage("{}")
