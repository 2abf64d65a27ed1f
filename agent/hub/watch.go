package hub

import (
	"context"
	"iter"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
)

// Watch returns an iterator over snapshots of a session, for a status line or a bot in this process. It
// opens the session if it is only stored, and starts no agent. The questions that are open are among the permissions
// of a snapshot. The iteration ends when ctx is done and when the session is deleted; if the session cannot be
// opened, the only pair is nil and the error.
func (h *Hub) Watch(ctx context.Context, id acp.SessionID) iter.Seq2[*thread.Snapshot, error] {
	return func(yield func(*thread.Snapshot, error) bool) {
		ctx, end := context.WithCancel(ctx)
		defer end()
		w := &watcher{hub: h, thread: thread.New(), end: end}
		a, now, err := h.attach(ctx, id, "", watching, w)
		if err != nil {
			yield(nil, err)
			return
		}
		defer a.session.detach(a)
		a.send(ctx, now.events(true))
		w.thread.Opened(now.modes, now.options)
		a.start(ctx)
		for snapshot := range w.thread.Watch(ctx) {
			if !yield(snapshot, nil) {
				return
			}
		}
	}
}

// watcher is the receiver of a Watch.
type watcher struct {
	hub    *Hub
	thread *thread.Thread
	end    context.CancelFunc
}

func (w *watcher) update(_ context.Context, _ *attachment, u acp.SessionUpdate) error {
	w.thread.Apply(u)
	return nil
}

func (w *watcher) ask(ctx context.Context, a *attachment, q *question) {
	if q.permission == nil {
		return
	}
	asked, done, ok := a.session.asking(ctx, a, q)
	if !ok {
		return
	}
	key := w.thread.Permission(q.permission)
	w.hub.do(func() { // ends when the question does, or the Watch
		defer done()
		<-asked.Done()
		w.thread.Answered(key)
	})
}

func (w *watcher) entered(*attachment) error { return nil }

func (w *watcher) left(*attachment, error) { w.end() }
