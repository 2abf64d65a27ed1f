package rpc

import (
	"strings"

	"github.com/acpkit/go-sdk/rpcerr"
)

// Version is what a handshake has led to.
type Version struct {
	// Entries are the methods that this end handles.
	Entries []*Entry
	// StrictIDs: the id of a request must be a string or an integer.
	StrictIDs bool
}

// refusal is a request that is not handled, and the response to it.
type refusal struct {
	id  string
	err *rpcerr.RequestError
}

// checkID returns why a request with this id is refused, or nil.
func (t *rows) checkID(r *request) *rpcerr.RequestError {
	if t.allows(r.key) {
		return nil
	}
	return rpcerr.InvalidRequest(nil).WithDetail("id must be a string or an integer")
}

// allows reports whether a request may have the id with this key.
func (t *rows) allows(key string) bool {
	return !t.strictIDs || strings.HasPrefix(key, `"`) || key != "null" && !strings.ContainsAny(key, ".eE")
}

// handshake leads from the result of a handshake to the rows that hold from then on.
type handshake struct {
	in         *inbound
	negotiated func(result any) Version // nil: the rows stay
	// respond queues a response of the connection itself.
	respond func(id []byte, e *rpcerr.RequestError)
}

// served opens the connection when its handshake has succeeded, and lets go what was
// read during it. The response has been queued before.
func (h *handshake) served(result any, ok bool) {
	var to *rows
	if ok {
		to = h.rows(result)
	}
	h.refuse(h.in.opened(to))
}

func (h *handshake) rows(result any) *rows {
	if h.negotiated == nil {
		return h.in.initial
	}
	return newRows(h.negotiated(result))
}

// refuse responds to requests that are not handled.
func (h *handshake) refuse(refused []refusal) {
	for _, r := range refused {
		h.respond([]byte(r.id), r.err)
	}
}

// call makes what is read wait until the call of a handshake has its response, by which
// it is handled. A handshake that fails changes nothing.
func (h *handshake) call(opts *CallOptions) *CallOptions {
	var result any
	o := *opts
	o.Result = func(v any) {
		result = v
		if opts.Result != nil {
			opts.Result(v)
		}
	}
	o.AtResponse = func(err error) {
		to := h.in.initial
		if err == nil && result != nil {
			to = h.rows(result)
		}
		// Last, because what was held back is handled after the response.
		defer func() { h.refuse(h.in.opened(to)) }()
		if opts.AtResponse != nil {
			opts.AtResponse(err)
		}
	}
	h.in.hold()
	return &o
}
