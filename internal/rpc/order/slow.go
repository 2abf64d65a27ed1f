package order

import "time"

// slow sees to it that a notification handler that keeps others waiting for long is named.
type slow struct {
	timer *time.Timer
	armed bool
	begun uint64 // how many handlers of notifications have begun
	of    uint64 // the number of the one that ran when the timer was set, or the next; 0: none yet
}

// handles: the handler of a notification begins.
func (w *slow) handles() {
	w.begun++
	if w.armed && w.of == 0 {
		w.of = w.begun
	}
}

func (w *slow) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// watchLocked: something waits for the handler that runs.
func (o *Order) watchLocked() {
	w := &o.slow
	if w.armed || o.stopped {
		return
	}
	w.armed, w.of = true, 0
	if o.handling != nil {
		w.of = w.begun
	}
	if w.timer == nil {
		w.timer = time.AfterFunc(o.cfg.SlowAfter, o.checkSlow)
	} else {
		w.timer.Reset(o.cfg.SlowAfter)
	}
}

// checkSlow names the handler that runs if something has waited for it all the time.
func (o *Order) checkSlow() {
	o.mu.Lock()
	w, before, handler := &o.slow, o.slow.of, o.handling
	w.armed, w.of = false, 0
	waits := ""
	for it := range o.queue.all() {
		if it.Kind != Notification && it.Kind != Dropped && it.Kind != End {
			if waits = it.What.Title(); waits != "" {
				break
			}
		}
	}
	if waits == "" && o.pressed.paused {
		waits = o.cfg.Call()
	}
	slow := handler != nil && waits != "" && !o.stopped
	if slow && (w.begun != before || inside(handler)) { // not for it, or not for long
		o.watchLocked()
		slow = false
	}
	o.mu.Unlock()
	if slow {
		o.cfg.Slow(handler.scope().Method, waits)
	}
}
