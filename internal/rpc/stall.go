package rpc

import (
	"time"

	"github.com/acpkit/go-sdk/internal/wire"
)

// watchLocked sees to it that a queue that stays full ends the connection.
func (o *outbox) watchLocked() {
	if o.full {
		return
	}
	o.full = true
	o.progressLocked()
	if o.stall == nil {
		o.stall = time.AfterFunc(o.limits.StallTimeout, o.checkStall)
	} else {
		o.stall.Reset(o.limits.StallTimeout)
	}
}

// progressLocked notes that something is written.
func (o *outbox) progressLocked() {
	o.progress = time.Now()
	if o.meter != nil {
		o.seen = o.meter.Written()
	}
}

func (o *outbox) checkStall() {
	o.mu.Lock()
	if o.closed != nil || !o.full {
		o.mu.Unlock()
		return
	}
	if o.meter != nil && o.meter.Written() != o.seen { // a long message is on its way
		o.progressLocked()
	}
	if idle := time.Since(o.progress); idle < o.limits.StallTimeout {
		o.stall.Reset(o.limits.StallTimeout - idle)
		o.mu.Unlock()
		return
	}
	o.mu.Unlock()
	o.failed(wire.ErrStalled)
}
