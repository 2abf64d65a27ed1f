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
	o.full, o.progress = true, time.Now()
	if o.stall == nil {
		o.stall = time.AfterFunc(o.limits.StallTimeout, o.checkStall)
	} else {
		o.stall.Reset(o.limits.StallTimeout)
	}
}

func (o *outbox) checkStall() {
	o.mu.Lock()
	if o.closed != nil || !o.full {
		o.mu.Unlock()
		return
	}
	if idle := time.Since(o.progress); idle < o.limits.StallTimeout {
		o.stall.Reset(o.limits.StallTimeout - idle)
		o.mu.Unlock()
		return
	}
	o.mu.Unlock()
	o.failed(wire.ErrStalled)
}
