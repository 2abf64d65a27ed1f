package rpc

import "sync/atomic"

// pressure says whether the reader must pause, because too much waits to be handled.
// Guarded by the lock of inbound.
type pressure struct {
	budget, most int64

	queued  int64       // bytes of notifications that wait
	held    int64       // bytes of updates that were handled but not yet given out
	lifting int         // calls that wait for a response and are not streams
	paused  bool        // the reader waits
	over    atomic.Bool // the budget is exceeded; written under the lock
}

func (p *pressure) total() int64 { return p.queued + p.held }

// add counts bytes of notifications that wait, and of updates that are held. It
// reports whether the reader must be woken.
//
// The reader is not woken for every single message that was handled: when the budget
// was exceeded it goes on with an eighth of it free. It cannot wait for that in vain,
// since the queue goes on getting shorter, and it does not wait when the queue is empty.
func (p *pressure) add(queued, held int64) (wake bool) {
	p.queued += queued
	p.held += held
	total := p.total()
	if over := total > p.budget; over != p.over.Load() {
		p.over.Store(over)
	}
	return p.paused && total <= p.budget && (p.queued == 0 || total <= p.budget-p.budget/8)
}
