package rpc

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"sync"

	"github.com/acpkit/go-sdk/internal/wire"
)

// requestState says how far the handling of a request has come.
type requestState uint8

const (
	requestQueued  requestState = iota // behind notifications, or behind the handshake
	requestWaiting                     // for a free slot
	requestRunning
	requestAnswered // the answer is on its way, or never will be
)

// request is one request of the peer.
type request struct {
	scope // the handler's ctx

	id     json.RawMessage // as it was written
	key    string          // equal for equal ids
	entry  *Entry          // nil for an extension
	params []byte
	group  string

	// counted: the handler takes a slot while it runs. Set before it is started.
	counted bool
	// Set before it is registered.
	handshake bool       // its answer opens the connection
	before    []*request // those whose handlers must have been entered before its own

	// Guarded by inbound.mu.
	state      requestState
	parked     bool // behind the handshake
	cancelled  bool // by $/cancel_request
	groupEnded bool // by a message that ends its group
	handling   bool // its handler runs
	slot       bool // it has a slot

	afterMu   sync.Mutex // guards all below
	after     []func()
	afterDone bool
}

// idKey makes a map key of an id, so that two spellings of one id are equal.
func idKey(id []byte) string {
	if len(id) == 0 {
		return ""
	}
	if id[0] == '"' {
		if bytes.IndexByte(id, '\\') < 0 {
			return string(id)
		}
		var s string
		if json.Unmarshal(id, &s) != nil {
			return string(id)
		}
		return `"` + s + `"`
	}
	for _, c := range id {
		if c == '.' || c == 'e' || c == 'E' || c == '-' {
			f, err := strconv.ParseFloat(string(id), 64)
			if err != nil || f > 1<<53 || f < -1<<53 || f != math.Trunc(f) {
				return string(id)
			}
			return strconv.FormatInt(int64(f), 10)
		}
	}
	return string(id)
}

// callID reads the id of a response. Ours are integers from 1 on; a peer may
// write them as 7.0 or 7e0.
func callID(id []byte) (uint64, bool) {
	if len(id) == 0 || id[0] == '"' || id[0] == 'n' {
		return 0, false
	}
	n, err := strconv.ParseUint(idKey(id), 10, 64)
	return n, err == nil && n > 0
}

// cancelTarget reads the params of $/cancel_request.
func cancelTarget(params []byte) (key string, ok bool) {
	id := wire.Member(params, "requestId")
	if len(id) == 0 {
		return "", false
	}
	if c := id[0]; c != '"' && c != '-' && c != 'n' && (c < '0' || c > '9') {
		return "", false
	}
	return idKey(id), true
}
