package talk

import (
	"context"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/internal/rpc"
)

// Idle cancels prompts of whose session the agent sends nothing for long. A message counts from its
// arrival at the handlers until its handler has returned: while the person is asked, or the agent waits
// for the end of a command at this end, the agent is not silent.
type Idle struct {
	// Limit is the longest silence; nothing is watched if it is not positive.
	Limit time.Duration
	// Error returns the error of a turn after the silence. last is when the last message arrived.
	Error func(limit time.Duration, last time.Time) error
	// SessionOf returns the session that a message of the agent belongs to. A message for which ok is
	// false counts for all sessions.
	SessionOf func(params any) (id string, ok bool)

	mu      sync.Mutex // guards the fields below, and those of the watches
	watched map[*IdleWatch]struct{}
	handled map[string]int // handlers that run, by session
	general int            // those that run for all sessions
}

// IdleWatch is one prompt that is watched. A nil *IdleWatch never expires.
type IdleWatch struct {
	idle    *Idle
	id      string
	begun   time.Time // when the prompt was sent, or the latest message was handled
	last    time.Time // of the latest message; zero if there was none
	timer   *time.Timer
	cancel  context.CancelCauseFunc
	expired bool
}

// Watch changes cfg so that i sees every message but notifications that nobody handles. It must be called after all else that changes
// cfg.Receiving.
func (i *Idle) Watch(cfg *rpc.Config) {
	if i.Limit <= 0 {
		return
	}
	i.watched, i.handled = map[*IdleWatch]struct{}{}, map[string]int{}
	onDropped, onRefused := cfg.OnDropped, cfg.OnRefused
	cfg.OnRefused = func(method string) {
		i.arrived("", false)()
		if onRefused != nil {
			onRefused(method)
		}
	}
	cfg.OnDropped = func(method string, err error) {
		i.arrived("", false)()
		if onDropped != nil {
			onDropped(method, err)
		}
	}
	first := func(next rpc.Handler) rpc.Handler {
		return func(ctx context.Context, method string, params any) (any, error) {
			defer i.arrived(i.SessionOf(params))()
			return next(ctx, method, params)
		}
	}
	cfg.Receiving = append([]rpc.Middleware{first}, cfg.Receiving...)
}

// arrived records a message. The caller must call the result when its handler has returned.
func (i *Idle) arrived(id string, known bool) (handled func()) {
	i.note(id, known, 1)
	return func() { i.note(id, known, -1) }
}

func (i *Idle) note(id string, known bool, delta int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !known {
		i.general += delta
	} else if i.handled[id] += delta; i.handled[id] == 0 {
		delete(i.handled, id)
	}
	now := time.Now()
	for w := range i.watched {
		if known && w.id != id {
			continue
		}
		if w.begun = now; delta > 0 {
			w.last = now
		}
	}
}

// Begin returns a ctx for a prompt of a session, which is cancelled when the session has been silent
// for too long. The watch begins with its method Sent.
func (i *Idle) Begin(ctx context.Context, id string) (context.Context, *IdleWatch) {
	if i.Limit <= 0 {
		return ctx, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &IdleWatch{idle: i, id: id, cancel: cancel}
}

// Sent begins the watch: the prompt is queued for sending.
func (w *IdleWatch) Sent() {
	if w == nil {
		return
	}
	i := w.idle
	i.mu.Lock()
	defer i.mu.Unlock()
	w.begun = time.Now()
	if w.timer == nil {
		w.timer = time.AfterFunc(i.Limit, w.check)
		i.watched[w] = struct{}{}
	}
}

// check cancels the prompt if it was silent for too long, and otherwise looks again later.
func (w *IdleWatch) check() {
	i := w.idle
	i.mu.Lock()
	defer i.mu.Unlock()
	if _, on := i.watched[w]; !on {
		return
	}
	if i.general > 0 || i.handled[w.id] > 0 {
		w.begun = time.Now()
	}
	if left := i.Limit - time.Since(w.begun); left > 0 {
		w.timer.Reset(left)
		return
	}
	w.expired = true
	delete(i.watched, w)
	w.cancel(w.errLocked())
}

func (w *IdleWatch) errLocked() error { return w.idle.Error(w.idle.Limit, w.last) }

// End ends the watch.
func (w *IdleWatch) End() {
	if w == nil {
		return
	}
	i := w.idle
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.watched, w)
	if w.timer != nil {
		w.timer.Stop()
	}
	w.cancel(nil)
}

// Err returns the error of a turn that was cancelled because of the silence, or nil.
func (w *IdleWatch) Err() error {
	if w == nil {
		return nil
	}
	w.idle.mu.Lock()
	defer w.idle.mu.Unlock()
	if !w.expired {
		return nil
	}
	return w.errLocked()
}
