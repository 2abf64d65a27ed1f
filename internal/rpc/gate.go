package rpc

import "github.com/acpkit/go-sdk/rpcerr"

// gate says whether the connection has been opened by its handshake.
type gate uint8

const (
	gateOpen    gate = iota
	gatePending      // the handshake has been read and not answered
	gateClosed
)

// handshakeAnswered opens the connection, or not, and lets go what was read behind
// the handshake. The answer has been queued before.
func (c *Conn) handshakeAnswered(ok bool) {
	in := &c.in
	var refused []*request
	in.mu.Lock()
	in.gate = gateOpen
	if !ok {
		in.gate = gateClosed
	}
	held := in.held
	in.held = nil
	for i, it := range held {
		if in.gate == gatePending { // another handshake was among them
			in.held = append(in.held, held[i:]...)
			break
		}
		r, _ := it.what.(*request)
		switch {
		case it.kind == itemNote && in.gate == gateOpen:
			c.enqueueLocked(it)
		case it.kind == itemNote:
			in.backlog -= it.size
			in.pressureLocked(c.limits.Backlog)
		case r.state == requestAnswered: // cancelled meanwhile
			in.waits -= r.size
		case in.gate == gateClosed && r.method != c.cfg.Handshake:
			in.waits -= r.size
			in.unregisterLocked(r)
			r.entered.over()
			refused = append(refused, r)
		default:
			r.parked = false
			c.placeRequestLocked(r)
		}
	}
	in.signalIdleLocked()
	in.mu.Unlock()
	c.refuseAll(refused)
}

func (c *Conn) refuseAll(refused []*request) {
	for _, r := range refused {
		c.answerOwn([]byte(r.id), notInitialized(r.method))
	}
}

func notInitialized(method string) *rpcerr.RequestError {
	return rpcerr.InvalidRequest(nil).WithDetail("ACP connection must be initialized before '" + shown(method) + "'")
}
