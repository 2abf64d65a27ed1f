package rpc

import (
	"log/slog"
	"time"
)

// slowWatch sees to it that a notification handler that keeps others waiting for long
// is named in the log. Guarded by the lock of inbound.
type slowWatch struct {
	in    *inbound
	after time.Duration
	log   *slog.Logger
	// call names a call of ours that waits for its response.
	call func() string

	timer *time.Timer
	armed bool
	begun uint64 // how many handlers of notifications have begun
	of    uint64 // the number of the one that ran when the timer was set, or the next; 0: none yet
}

// watchLocked: something waits for the handler that runs.
func (w *slowWatch) watchLocked() {
	if w.armed || w.in.stopped {
		return
	}
	w.armed, w.of = true, 0
	if w.in.order.handling != nil {
		w.of = w.begun
	}
	if w.timer == nil {
		w.timer = time.AfterFunc(w.after, w.check)
	} else {
		w.timer.Reset(w.after)
	}
}

// handles: the handler of a notification begins.
func (w *slowWatch) handles() {
	w.begun++
	if w.armed && w.of == 0 {
		w.of = w.begun
	}
}

func (w *slowWatch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

func (w *slowWatch) check() {
	in := w.in
	in.mu.Lock()
	handler, before := in.order.handling, w.of
	w.armed, w.of = false, 0
	waiting := in.order.waits()
	if waiting == "" && in.pressed.paused {
		waiting = w.call()
	}
	again := handler != nil && waiting != "" && (w.begun != before || handler.inside > 0)
	if again {
		w.watchLocked()
	}
	stopped := in.stopped
	in.mu.Unlock()
	if handler == nil || waiting == "" || stopped || again {
		return
	}
	w.log.Warn("acp: a notification handler keeps a call or request waiting; if the handler waits for it, pass it the handler's ctx",
		"handler", shown(handler.method), "waiting", shown(waiting), "for", w.after)
}
