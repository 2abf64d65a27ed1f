package client

import (
	"context"
	"log/slog"
	"sync"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// ResumeOptions configures [Conn.StartResumedSession]. The zero value is ready for use.
type ResumeOptions struct {
	// OnUpdate is called with the updates of the history, in order, before StartResumedSession returns,
	// and then with the updates outside a turn. If it is nil, they are kept until [Session.OnUpdate] is
	// called, within the limits that it states.
	OnUpdate func(ctx context.Context, u acp.SessionUpdate)
	// Replayed is called once if the request has ReplayFrom, before StartResumedSession returns. With nil
	// the history is complete. Otherwise it was cut off, and the error is that of the call.
	//
	// The order is: the history, the marker acp.ReplayComplete, Replayed, what has happened in the session
	// meanwhile, its state, the response. The history may thus be shown before the session can be used,
	// and may be complete even if the call fails. If an agent sends no marker, as those of earlier
	// drafts, the history ends with the response, and so does what has happened meanwhile.
	//
	// Each session that the history announces, such as that of a subagent, has a marker of its own, which
	// Client.SessionUpdate gets. The next message of the connection waits until Replayed returns, so it must
	// not call the agent. A panic is logged.
	Replayed func(err error)
}

// replays are the replays in progress of the sessions of a Conn, at most one of each session.
type replays struct {
	mu      sync.Mutex // guards the field below
	running map[acp.SessionID]*replay
}

// replay is one replay. Its history ends once.
type replay struct {
	log   *slog.Logger
	once  sync.Once
	ended func(err error) // may be nil
	over  chan struct{}   // closed when its call has returned
}

func (r *replay) end(err error) {
	r.once.Do(func() {
		defer func() {
			if p := recover(); p != nil {
				r.log.Error("acp: panic in the function given as Replayed", "error", rpc.Panicked(p))
			}
		}()
		if r.ended != nil {
			r.ended(err)
		}
	})
}

// begin begins a replay when no other one of the session is in progress, whose history would mix with
// this one. The caller must call over when its call has ended. begin waits neither for longer than ctx
// nor than the connection.
func (r *replays) begin(ctx context.Context, c *Conn, id acp.SessionID, ended func(error)) (p *replay, over func(), err error) {
	p = &replay{log: c.log, ended: ended, over: make(chan struct{})}
	for other := r.add(id, p); other != nil; other = r.add(id, p) {
		waited := rpc.Waits(ctx)
		select {
		case <-other.over:
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-c.engine.Ending():
			err = acp.ErrClosed
		}
		waited()
		if err != nil {
			p.end(err)
			return nil, nil, err
		}
	}
	return p, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.running, id)
		close(p.over)
	}, nil
}

// add adds a replay unless there is another one of the session, which it returns.
func (r *replays) add(id acp.SessionID, p *replay) (other *replay) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if other = r.running[id]; other != nil {
		return other
	}
	if r.running == nil {
		r.running = map[acp.SessionID]*replay{}
	}
	r.running[id] = p
	return nil
}

// marked ends the history of a session, whose marker was read.
func (r *replays) marked(id acp.SessionID) {
	r.mu.Lock()
	p := r.running[id]
	r.mu.Unlock()
	if p != nil {
		p.end(nil)
	}
}
