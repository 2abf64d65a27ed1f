package rpc

import (
	"sync"
	"sync/atomic"
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
