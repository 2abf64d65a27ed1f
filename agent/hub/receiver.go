package hub

import (
	"context"
	"errors"
	"iter"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
)

// receiver is what an attachment belongs to: a connection, or a caller of Watch.
type receiver interface {
	// update sends an update. An error means that the receiver has ended.
	update(ctx context.Context, a *attachment, u acp.SessionUpdate) error
	// ask asks a question until ctx is done. It does not wait.
	ask(ctx context.Context, a *attachment, q *question)
	// entered is called when an attachment begins, which an error prevents, and left when it has ended. If the hub has ended
	// it, why is ErrSlow or ErrLost. session.mu is held; they must not block.
	entered(a *attachment) error
	left(a *attachment, why error)
}

// update implements receiver. It sends an update in the form that the client supports, or not.
func (c *conn) update(ctx context.Context, a *attachment, u acp.SessionUpdate) error {
	if !c.conn.ClientCapabilities().Has("plan") {
		if u = a.plan.Of(u); u == nil {
			return nil
		}
	}
	err := c.conn.SessionUpdate(ctx, &acp.SessionNotification{SessionID: a.session.id, Update: u})
	if invalid, ok := errors.AsType[*acp.InvalidError](err); ok { // of a tolerated agent, or of an older version
		c.hub.log.Warn("an update is left out", "session", string(a.session.id), "error", invalid)
		return nil
	}
	if _, ok := errors.AsType[*acp.CapabilityError](err); ok {
		return nil
	}
	return err
}

// ask implements receiver.
func (c *conn) ask(ctx context.Context, a *attachment, q *question) {
	s := a.session
	asked, done, ok := s.asking(ctx, a, q)
	if !ok {
		return
	}
	c.hub.do(func() { // ends when the client responds, the question is withdrawn or the attachment ends
		defer done()
		var res any
		var err error
		if q.permission != nil {
			res, err = c.conn.RequestPermission(asked, q.permission)
		} else {
			res, err = c.conn.CreateElicitation(asked, q.form)
		}
		if asked.Err() == nil && (err != nil || !s.answer(asked, a, q, res)) {
			s.abstain(a, q)
		}
	})
}

// entered implements receiver.
func (c *conn) entered(a *attachment) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return acp.ErrClosed
	}
	if err := c.hasRoom(); err != nil {
		return err
	}
	c.attached[a.session.id] = a
	return nil
}

// hasRoom returns an error if the connection can have no more sessions. c.mu must be held.
func (c *conn) hasRoom() error {
	if len(c.attached) >= c.hub.opts.Limits.Connection {
		return refused("this connection has too many sessions: close one of them")
	}
	return nil
}

// left implements receiver.
func (c *conn) left(a *attachment, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.attached, a.session.id)
	if why != nil {
		c.cut(why)
	}
}

// cut ends the connection. why is the reason that Serve returns: ErrSlow or ErrLost. c.mu must be held.
func (c *conn) cut(why error) {
	if c.why != nil || c.ctx.Err() != nil { // it ends already
		return
	}
	c.why = why
	c.hub.log.Warn("the connection of a client is closed", "error", why)
	grace := goneTime
	if errors.Is(why, ErrSlow) { // it would not read the responses
		grace = 0
	}
	c.hub.do(func() { // ends when the responses are written, or after the grace
		ctx, stop := context.WithTimeout(c.hub.ctx, grace)
		defer stop()
		_ = c.conn.Shutdown(ctx)
	})
}

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
		w.thread.Opened(now.Modes, now.Options)
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
