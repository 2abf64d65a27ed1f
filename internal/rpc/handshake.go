package rpc

import (
	"strings"

	"github.com/acpkit/go-sdk/internal/rpc/order"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Version is what a handshake has led to.
type Version struct {
	// Entries are the methods that this end handles.
	Entries []*Entry
	// StrictIDs: the id of a request must be a string or an integer.
	StrictIDs bool
}

// rows are the methods that this end handles.
type rows struct {
	requests, notifications map[string]*Entry
	strictIDs               bool
	ignores                 func(method string) bool // reports whether a notification without a row is of no interest
}

func (h *handlers) rows(v Version) *rows {
	t := &rows{requests: map[string]*Entry{}, notifications: map[string]*Entry{}, strictIDs: v.StrictIDs, ignores: h.ignores}
	for _, e := range v.Entries {
		if e.Notification {
			t.notifications[e.Name] = e
		} else {
			t.requests[e.Name] = e
		}
	}
	return t
}

// Request finds the row of a request, and what it means for the order. It implements [order.Table].
func (t *rows) Request(h order.Handler) bool {
	r, _ := h.(*request)
	if r.rows != t {
		r.rows, r.entry = t, t.requests[r.Method]
		r.Waits, r.Member, r.Ends = false, false, nil
		if e := r.entry; e != nil {
			r.Method = e.Name
			r.Waits, r.Member, r.Ends = e.Waits || e.Group, e.Group, e.ends(r.params)
			if e.Group {
				r.Group = groupKey(r.params)
			}
		}
	}
	return t.allows(r.Key)
}

// name returns the method of a request, as it is in its row if there is one: that saves a copy.
func (t *rows) name(method []byte) string {
	if e := t.requests[string(method)]; e != nil {
		return e.Name
	}
	return string(method)
}

// Notification finds the row of a notification. It implements [order.Table].
func (t *rows) Notification(method, params []byte) (order.Subject, *order.Ends) {
	if e := t.notifications[string(method)]; e != nil {
		return e, e.ends(params)
	}
	if name := string(method); !t.ignores(name) {
		return order.Name(name), nil
	}
	return nil, nil
}

// allows reports whether a request may have the id with this key.
func (t *rows) allows(key string) bool {
	return !t.strictIDs || strings.HasPrefix(key, `"`) || key != "null" && !strings.ContainsAny(key, ".eE")
}

// Title implements [order.Subject].
func (e *Entry) Title() string { return e.Name }

// ends returns the group that a message with these params ends, or nil.
func (e *Entry) ends(params []byte) *order.Ends {
	if e.Ends == EndsNothing {
		return nil
	}
	return &order.Ends{Group: groupKey(params), All: e.Ends == EndsAll}
}

// handshake leads from the result of a handshake to the rows that hold from then on.
type handshake struct {
	order   *order.Order
	initial *rows
	// negotiated returns the rows that a result leads to; nil: the initial ones stay.
	negotiated func(result any) *rows
	// respond queues a response of the connection itself.
	respond func(id []byte, e *rpcerr.RequestError)
}

// open lets what was read during the handshake go on with its result, or with the initial rows
// if it has none.
func (h *handshake) open(result any) {
	to := h.initial
	if result != nil && h.negotiated != nil {
		to = h.negotiated(result)
	}
	h.refuse(h.order.Open(to))
}

// fail refuses what was read during the handshake.
func (h *handshake) fail() { h.refuse(h.order.Open(nil)) }

// refuse responds to requests that are not handled.
func (h *handshake) refuse(refused []order.Refused) {
	for _, it := range refused {
		r, _ := it.Handler.(*request)
		h.respond([]byte(r.ID), refusal(it.Why, r.Method))
	}
}

// refusal is the response to a request that is not handled.
func refusal(why order.Reason, method string) *rpcerr.RequestError {
	invalid := rpcerr.InvalidRequest(nil)
	switch why {
	case order.InUse:
		return invalid.WithDetail("id is in use")
	case order.NotOpen:
		return invalid.WithDetail("ACP connection must be initialized before '" + shown(method) + "'")
	case order.TooLate:
		return invalid.WithDetail("a repeated initialize must come before every other request")
	case order.BadID:
		return invalid.WithDetail("id must be a string or an integer")
	case order.Refusing:
		return rpcerr.InternalError(nil).WithDetail(errShutdown.Error())
	}
	return rpcerr.New(rpcerr.CodeInternalError, "Too many requests", nil) // order.TooMany
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
		if err != nil {
			result = nil
		}
		defer h.open(result) // last, because what was held back is handled after the response
		if opts.AtResponse != nil {
			opts.AtResponse(err)
		}
	}
	h.order.Hold()
	return &o
}
