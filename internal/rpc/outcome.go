package rpc

import (
	"bytes"
	"encoding/json"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/rpc/order"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// deliver wakes the caller. It is called at the place of the response in the order.
func (t *calls) deliver(k *call) {
	t.mu.Lock()
	at := k.at
	k.at = nil
	runs := at != nil || k.took != nil
	switch {
	case k.state == callSettled: // abandoned, while its response waited
		err := k.err
		t.mu.Unlock()
		if at != nil {
			protect(t.codec.log, "AtResponse", func() { at(err) })
		}
		return
	case runs:
		k.state = callDelivering
	default:
		k.state = callSettled
	}
	t.mu.Unlock()
	if runs {
		t.runAt(k, at)
	}
	if k.settled != nil {
		close(k.settled)
	}
}

// runAt runs Result, and at.
func (t *calls) runAt(k *call, at func(error)) {
	k.valueErr = safely(func() (err error) { k.value, err = t.decode(k); return err })
	k.decoded = true
	if k.took != nil && k.value != nil {
		protect(t.codec.log, "Result", func() { k.took(k.value) })
	}
	if at != nil {
		protect(t.codec.log, "AtResponse", func() { at(k.valueErr) })
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	k.state = callSettled
}

// placeLocked returns what is to run at the place of the response of a call that does not wait
// for that place, or nil.
func (k *call) placeLocked() *call {
	if !k.exempt || k.at == nil {
		return nil
	}
	place := &call{method: k.method, m: k.m, origin: origin{negotiates: k.negotiates}, at: k.at, vacant: k.vacant, state: callResponded, result: k.result, fault: k.fault, err: k.err}
	k.at = nil
	return place
}

// cancel reports whether $/cancel_request must be sent for a call that continues.
func (t *calls) cancel(k *call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k.state != callPending || k.cancelled {
		return false
	}
	k.cancelled = true
	return true
}

// abandon ends the wait for a response with err. It reports false if the call was settled
// before. inFlight reports whether the peer must be told.
func (t *calls) abandon(k *call, err error) (abandoned, inFlight bool) {
	t.mu.Lock()
	switch k.state {
	case callSettled:
		t.mu.Unlock()
		return false, false
	case callDelivering: // AtResponse does not block
		t.mu.Unlock()
		<-k.settled
		return false, false
	case callResponded: // AtResponse is called when the place of the response is reached
		k.state, k.err = callSettled, err
		k.result, k.fault = nil, nil // its place in the queue may be reached much later
		t.mu.Unlock()
		return true, false
	}
	at := t.dropLocked(k, err)
	t.mu.Unlock()
	if at != nil {
		t.enqueue(&call{method: k.method, origin: origin{negotiates: k.negotiates}, at: at, err: err, state: callResponded}, order.Last)
	}
	return true, true
}

// dropLocked settles a call in flight with err.
func (t *calls) dropLocked(k *call, err error) (at func(error)) {
	t.removeLocked(k)
	at = k.at
	k.state, k.err, k.at = callSettled, err, nil
	return at
}

// withdraw ends a call that was not sent, and returns why. If the connection ended first, that is
// the reason, and AtResponse is called elsewhere.
func (t *calls) withdraw(k *call, err error) error {
	t.mu.Lock()
	if k.state != callPending {
		if k.err != nil {
			err = k.err
		}
		t.mu.Unlock()
		return err
	}
	at := t.dropLocked(k, err)
	t.mu.Unlock()
	if at != nil {
		at(err)
	}
	return err
}

func (t *calls) outcome(k *call) (any, error) {
	if k.raw != nil && k.result != nil {
		*k.raw = bytes.Clone(k.result)
	}
	if k.decoded {
		return k.value, k.valueErr
	}
	return t.decode(k)
}

func (t *calls) decode(k *call) (any, error) {
	switch {
	case k.err != nil:
		return nil, k.err
	case k.fault != nil:
		if name := envelope.Repeated(k.fault, "code", "message", "data"); name != "" {
			return nil, t.codec.invalid(k.method+" result", wire.Violation("error object has two members "+name))
		}
		e := new(rpcerr.RequestError)
		if err := e.UnmarshalJSON(k.fault); err != nil {
			return nil, t.codec.invalid(k.method+" result", wire.Violation(err.Error()))
		}
		if k.m == nil {
			return nil, &RawError{Raw: k.fault, err: e}
		}
		return nil, e
	case k.m == nil:
		return json.RawMessage(k.result), nil
	}
	var v any
	var err error
	if k.vacant != nil && vacant(k.result) {
		t.codec.log.Warn("acp: response without a result", "method", k.method)
		v = k.vacant()
	} else {
		v, err = t.codec.decodeResult(k.m, k.result)
	}
	if err == nil && k.incomplete && k.m.Streams {
		err = closed(t.cause())
	}
	return v, err
}

// vacant reports whether a result is null or an object without members.
func vacant(raw []byte) bool {
	return string(raw) == "null" || len(bytes.Trim(raw, "{} \t\r\n")) == 0
}
