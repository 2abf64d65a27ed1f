package rpc

import (
	"strconv"

	"github.com/acpkit/go-sdk/internal/wire"
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
