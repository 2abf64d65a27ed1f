package order

import "slices"

// Reason is the reason why a request is not accepted.
type Reason uint8

const (
	Accepted Reason = iota
	Stopped         // nothing more is handled: the request needs no response; all others do
	InUse           // another request has its id
	NotOpen         // it came before the handshake
	TooLate         // it repeats the handshake after other requests
	Refusing        // no new requests are taken
	BadID           // Request.Bad is set
	TooMany         // too many wait, or are open
)

// Refused is a request that was held and is not handled. It must be responded to.
type Refused struct {
	Handler
	Why Reason
}

// gateState reports whether the handshake has opened the connection.
type gateState uint8

const (
	gateOpen    gateState = iota
	gatePending           // the handshake was read, or sent, and its response is not queued, or read
	gateClosed            // the handshake has failed, or there was none yet
)

// gate holds the messages that are read during the handshake.
type gate struct {
	state    gateState
	held     []Item // what was read while the state was gatePending
	notified bool   // notifications are among them: responses that are read now wait behind them
	used     bool   // a request other than the handshake was accepted
}

// Hold makes messages wait that are read until the handshake of this end is over.
func (o *Order) Hold() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.gate.state == gateOpen {
		o.gate.state = gatePending
	}
}

// Holds reports whether notifications wait for the end of the handshake.
func (o *Order) Holds() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.gate.notified
}

// awaitsOpeningLocked returns the title of a response that waits for the end of this end's handshake, or "".
func (o *Order) awaitsOpeningLocked() string {
	if !o.gate.notified || o.cfg.Handshake == "" {
		return ""
	}
	for _, it := range o.gate.held {
		if it.Kind != request && it.Kind != Notification && it.Kind != End {
			return it.What.Title()
		}
	}
	return ""
}

// Open records that the handshake is over. Messages that were read during it are handled, or
// refused if the handshake has failed.
func (o *Order) Open(ok bool) []Refused {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.openLocked(ok)
}

func (o *Order) openLocked(ok bool) (refused []Refused) {
	o.gate.state = gateOpen
	if !ok {
		o.gate.state, o.gate.used = gateClosed, false
	}
	held := o.gate.held
	o.gate.held, o.gate.notified = nil, false
	for i, it := range held {
		if o.gate.state == gatePending { // another handshake was among them
			o.gate.held = append(o.gate.held, held[i:]...)
			o.gate.notified = slices.ContainsFunc(held[i:], func(it Item) bool { return it.Kind == Notification })
			break
		}
		switch it.Kind {
		case request:
		case Notification:
			o.addLocked(-it.Size, 0)
			o.notifyLocked(it)
			continue
		default: // a response, or the end of input
			o.pushLocked(it)
			continue
		}
		r, _ := it.What.(*Request)
		switch {
		case r.state == done: // cancelled meanwhile
			o.pending.forget(r)
		case o.gate.state == gateClosed && r.do.scope().Method != o.cfg.Handshake:
			refused = append(refused, Refused{r.do, NotOpen})
		case r.Bad:
			refused = append(refused, Refused{r.do, BadID})
		default:
			o.placeLocked(r)
		}
	}
	for _, it := range refused {
		o.pending.forget(it.request())
		o.pending.remove(it.request())
	}
	o.idleLocked()
	return refused
}
