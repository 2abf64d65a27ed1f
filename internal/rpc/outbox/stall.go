package outbox

import (
	"time"

	"github.com/acpkit/go-sdk/internal/wire"
)

// stall is the watch over a queue, or a reserve, that stays full. Box.mu guards it.
type stall struct {
	timer    *time.Timer
	watching bool      // the timer runs
	last     time.Time // when something was written last, or when it became full
	seen     int64     // what the meter showed then
}

func (s *stall) stop() {
	if s.watching {
		s.watching = false
		s.timer.Stop()
	}
}

// progress notes that something was written.
func (s *stall) progress(seen int64, full bool) {
	if !s.watching {
		return
	}
	s.last, s.seen = time.Now(), seen
	if !full {
		s.stop()
	}
}

// fullLocked reports whether the peer keeps us waiting: a sender waits for room, or the
// queue, which a sender has given up on, is still full, or the reserve is.
func (b *Box) fullLocked() bool {
	return len(b.room.waiters) > 0 || b.room.bytes > b.room.limit/2 || b.own.bytes > b.own.limit
}

// watch ends the connection if the queue or the reserve stays full and nothing is written.
func (b *Box) watch() {
	seen := b.measure()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stall.watching || !b.fullLocked() || b.room.closed != nil {
		return
	}
	b.stall.watching, b.stall.last, b.stall.seen = true, time.Now(), seen
	if b.stall.timer == nil {
		b.stall.timer = time.AfterFunc(b.cfg.StallTimeout, b.checkStall)
	} else {
		b.stall.timer.Reset(b.cfg.StallTimeout)
	}
}

// measure asks the stream how much has left. No lock is held: a stream of the user may let
// it wait for a Write that is stuck.
func (b *Box) measure() int64 {
	if b.cfg.Features.Written == nil {
		return 0
	}
	return b.cfg.Features.Written()
}

func (b *Box) checkStall() {
	seen := b.measure()
	b.mu.Lock()
	s := &b.stall
	if b.room.closed != nil || !s.watching {
		b.mu.Unlock()
		return
	}
	if !b.fullLocked() { // senders that waited have left
		s.watching = false
		b.mu.Unlock()
		return
	}
	if seen != s.seen { // a long message is on its way
		s.last, s.seen = time.Now(), seen
	}
	if idle := time.Since(s.last); idle < b.cfg.StallTimeout {
		s.timer.Reset(b.cfg.StallTimeout - idle)
		b.mu.Unlock()
		return
	}
	b.mu.Unlock()
	b.cfg.Failed(wire.ErrStalled)
}
