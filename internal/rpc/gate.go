package rpc

import "github.com/acpkit/go-sdk/rpcerr"

// gateState says whether the connection has been opened by its handshake.
type gateState uint8

const (
	gateOpen    gateState = iota
	gatePending           // the handshake was read, or sent, and its response is not queued, or read
	gateClosed
)

// gate holds what is read during the handshake. Guarded by the lock of inbound.
type gate struct {
	state gateState
	held  []item // what was read while the state was gatePending
	used  bool   // a request other than the handshake was accepted
}

// notInitialized is the response to a request before the handshake.
func notInitialized(method string) *rpcerr.RequestError {
	return rpcerr.InvalidRequest(nil).WithDetail("ACP connection must be initialized before '" + shown(method) + "'")
}

// errLateHandshake is the response to a handshake that is repeated too late.
var errLateHandshake = rpcerr.InvalidRequest(nil).WithDetail("a repeated initialize must come before every other request")

// opened: the handshake is over. What was read during it is handled with the rows that
// it has led to, or refused when there are none.
func (in *inbound) opened(rows *rows) (refused []refusal) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.openLocked(rows)
}

func (in *inbound) openLocked(to *rows) (refused []refusal) {
	in.gate.state = gateOpen
	if to == nil {
		in.gate.state, in.gate.used, to = gateClosed, false, in.initial
	}
	in.rows.Store(to)
	held := in.gate.held
	in.gate.held = nil
	for i, it := range held {
		if in.gate.state == gatePending { // another handshake was among them
			in.gate.held = append(in.gate.held, held[i:]...)
			break
		}
		r := it.request
		switch {
		case r == nil && in.gate.state == gateClosed:
			it.drop(errBeforeHandshake)
			in.pushLocked(it)
		case r == nil:
			in.queueLocked(it)
		case r.state == requestDone: // cancelled meanwhile
			in.pending.forget(r)
		case in.gate.state == gateClosed && r.method != in.handshake:
			refused = append(refused, in.refuseLocked(r, notInitialized(r.method)))
		default:
			r.resolve(to)
			if err := to.checkID(r); err != nil {
				refused = append(refused, in.refuseLocked(r, err))
			} else {
				in.placeLocked(r)
			}
		}
	}
	in.idleLocked()
	return refused
}

// refuseLocked lets go of a held request that is not handled.
func (in *inbound) refuseLocked(r *request, err *rpcerr.RequestError) refusal {
	in.pending.forget(r)
	in.pending.remove(r)
	r.wasCalled()
	return refusal{r.id, err}
}

// hold makes what is read wait until the handshake that this end has begun is over.
func (in *inbound) hold() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.gate.state == gateOpen {
		in.gate.state = gatePending
		in.rows.Store(nil)
	}
}
