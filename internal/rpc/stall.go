package rpc

import (
	"time"

	"github.com/acpkit/go-sdk/internal/wire"
)

// watch sees to it that a queue that stays full ends the connection.
func (o *outbox) watch() {
	written := o.measure()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.full || len(o.waiting) == 0 || o.closed != nil {
		return
	}
	o.full = true
	o.progressLocked(written)
	if o.stall == nil {
		o.stall = time.AfterFunc(o.limits.StallTimeout, o.checkStall)
	} else {
		o.stall.Reset(o.limits.StallTimeout)
	}
}

// measure asks the stream how much has left. While a Write is under way it is called
// without the lock: a stream of the user may let it wait for the Write.
func (o *outbox) measure() int64 {
	if o.meter == nil {
		return 0
	}
	return o.meter.Written()
}

// progressLocked notes that something is written.
func (o *outbox) progressLocked(written int64) { o.progress, o.seen = time.Now(), written }

func (o *outbox) checkStall() {
	written := o.measure()
	o.mu.Lock()
	if o.closed != nil || !o.full {
		o.mu.Unlock()
		return
	}
	if written != o.seen { // a long message is on its way
		o.progressLocked(written)
	}
	if idle := time.Since(o.progress); idle < o.limits.StallTimeout {
		o.stall.Reset(o.limits.StallTimeout - idle)
		o.mu.Unlock()
		return
	}
	o.mu.Unlock()
	o.failed(wire.ErrStalled)
}
