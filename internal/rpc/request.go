package rpc

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

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

	id     string // as it was written
	key    string // equal for equal ids
	entry  *Entry // nil for an extension
	params []byte
	group  string

	// counted: the handler takes a slot while it runs. Set before it is started.
	counted bool
	// forwards: the handler used another connection, so its result is likely to have
	// arrived there.
	forwards atomic.Bool

	// Set before it is registered.
	handshake bool       // its answer opens the connection
	before    []*request // those whose handlers must have been entered before its own

	// Guarded by inbound.mu.
	state      requestState
	parked     bool     // behind the handshake
	cancelled  bool     // by $/cancel_request
	groupEnded bool     // by a message that ends its group
	handling   bool     // its handler runs
	slot       bool     // it has a slot
	prev, next *request // in the list of those whose goroutine runs

	// writes: the goroutine is to be the writer when it is done. Its own alone.
	writes bool

	afterMu   sync.Mutex // guards all below
	after     []func()
	afterDone bool
}

// idKey makes a map key of an id, so that two spellings of one id are equal.
func idKey(id string) string {
	if strings.HasPrefix(id, `"`) {
		var s string
		if strings.IndexByte(id, '\\') < 0 || json.Unmarshal([]byte(id), &s) != nil {
			return id
		}
		return `"` + s + `"`
	}
	if !strings.ContainsAny(id, ".eE-") {
		return id
	}
	f, err := strconv.ParseFloat(id, 64)
	if err != nil || f > 1<<53 || f < -1<<53 || f != math.Trunc(f) {
		return id
	}
	return strconv.FormatInt(int64(f), 10)
}

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
	n, err := strconv.ParseUint(idKey(string(id)), 10, 64)
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
	return idKey(string(id)), true
}
