package order

// Table says what the methods mean that this end handles. Its methods are called with the lock
// held.
type Table interface {
	// Request sets what a Request says for its method. It reports whether a request may have
	// such an id. It may be called again with the same request.
	Request(h Handler) bool
	// Notification returns the row of a notification, or nil if the method is of no interest, and
	// the group that it ends.
	Notification(method, params []byte) (Subject, *Ends)
}

// Reason says why a request is not accepted.
type Reason uint8

const (
	Accepted Reason = iota
	Stopped         // nothing more is handled: the request needs no response; all others do
	InUse           // another request has its id
	NotOpen         // it came before the handshake
	TooLate         // it repeats the handshake after other requests
	Refusing        // no new requests are taken
	BadID           // Table.Request returned false
	TooMany         // too many wait, or are open
)

// Refused is a request that was held and is not handled. It must be responded to.
type Refused struct {
	Handler
	Why Reason
}

// gateState says whether the connection has been opened by its handshake.
type gateState uint8

const (
	gateOpen    gateState = iota
	gatePending           // the handshake was read, or sent, and its response is not queued, or read
	gateClosed
)

// gate holds what is read during the handshake.
type gate struct {
	state gateState
	held  []Item // what was read while the state was gatePending
	used  bool   // a request other than the handshake was accepted
}

// Table returns what holds for what is read now, and nil during a handshake.
func (o *Order) Table() Table {
	if t := o.table.Load(); t != nil {
		return *t
	}
	return nil
}

// Hold makes what is read wait until the handshake that this end has begun is over.
func (o *Order) Hold() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.gate.state == gateOpen {
		o.gate.state = gatePending
		o.table.Store(nil)
	}
}

// Open notes that the handshake is over. The table that it has led to decides about what was
// read during it. If to is nil, the handshake has failed, and what was read is refused.
func (o *Order) Open(to Table) []Refused {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.openLocked(to)
}

func (o *Order) openLocked(to Table) (refused []Refused) {
	o.gate.state = gateOpen
	if to == nil {
		o.gate.state, o.gate.used, to = gateClosed, false, o.cfg.Initial
	}
	o.table.Store(&to)
	held := o.gate.held
	o.gate.held = nil
	for i, it := range held {
		if o.gate.state == gatePending { // another handshake was among them
			o.gate.held = append(o.gate.held, held[i:]...)
			break
		}
		if it.Kind != request {
			o.addLocked(-it.Size, 0)
			o.notifyLocked([]byte(it.What.Title()), it)
			continue
		}
		r, _ := it.What.(*Request)
		switch {
		case r.state == done: // cancelled meanwhile
			o.pending.forget(r)
		case o.gate.state == gateClosed && r.do.scope().Method != o.cfg.Handshake:
			refused = append(refused, Refused{r.do, NotOpen})
		case !to.Request(r.do):
			refused = append(refused, Refused{r.do, BadID})
		default:
			o.pending.charge(r, r.joins())
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
