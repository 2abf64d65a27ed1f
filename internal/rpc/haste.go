package rpc

import "time"

// haste decides for which calls Hasten of the stream is called. That is worth
// its price in a program that computes on all processors only. Such a program cannot be
// recognized directly; its calls take long. So when a call has taken long, Hasten is
// called for those that follow. That goes on while it helps: some calls are left out to see
// whether they would be as quick, and ever more of them while the peer itself is what takes
// long. The owner guards it.
type haste struct {
	able bool // the stream has Hasten; set before anything else

	on     bool
	told   int // calls since one was left out
	misses int // calls in a row that took long although the stream was told
	skips  int // calls to be left out
}

// What decides speed. docs/performance.md has the measurements ("While all processors compute"),
// and internal/bench/RESULTS.md what calls take then.
const (
	// longCall is what a call takes at least when its response waited for the scheduler.
	longCall = 2 * time.Millisecond
	// fewCalls is how many may be in flight. Where there are more of them they share the
	// wait, and the reader has other responses to read.
	fewCalls = 4
	// leftOut means that one of so many calls is left out to see what it takes: few, for a
	// call in a hundred may take long for it.
	leftOut = 1000
	// allowedMisses is how many calls in a row may take long before some are left out.
	allowedMisses = 4
)

// begin notes that a call is about to be sent, and reports whether the stream is to be told.
func (h *haste) begin(k *call) bool {
	if !h.able {
		return false
	}
	k.began = time.Now()
	switch {
	case !h.on:
	case h.skips > 0:
		h.skips--
	case h.told == leftOut:
		h.told = 0
	default:
		h.told++
		k.awaited = true
	}
	return k.awaited
}

// end notes that a call has its response.
func (h *haste) end(k *call) {
	if k.began.IsZero() {
		return
	}
	long := time.Since(k.began) >= longCall
	switch {
	case k.awaited && !long:
		h.misses = 0
	case k.awaited:
		if h.misses++; h.misses >= allowedMisses {
			h.skips = 1 << min(h.misses-allowedMisses, 8)
		}
	case long:
		h.on = true
	default:
		*h = haste{able: true}
	}
}
