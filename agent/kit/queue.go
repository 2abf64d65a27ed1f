package kit

import (
	"context"
	"fmt"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

// queue limits the prompts of one connection of version 2. Who waits for whom is decided by the
// connection, which knows the order in which they arrived.
type queue struct {
	limit int // prompts of a session that may wait
	auth  func(ctx context.Context) error

	mu      sync.Mutex
	prompts map[acp.SessionID]int  // that wait or run
	running map[acp.SessionID]bool // one of them runs
}

func (a *Agent) newQueue() *queue {
	return &queue{limit: a.queueLimit(), auth: a.opts.Auth.ready, prompts: make(map[acp.SessionID]int), running: make(map[acp.SessionID]bool)}
}

func (a *Agent) queueLimit() int { return max(a.opts.Queue, 0) }

// queueFull is the error of a prompt that cannot wait.
func queueFull(limit int) error {
	if limit == 0 {
		return rpcerr.InvalidRequest(nil).WithDetail("a turn of this session is running: wait for its end, or cancel it")
	}
	return rpcerr.InvalidRequest(nil).WithDetail(fmt.Sprintf("%d prompts of this session wait already: wait for the end of a turn", limit))
}

// enter counts a prompt, or refuses it.
func (q *queue) enter(id acp.SessionID) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.prompts[id] > q.limit {
		return queueFull(q.limit)
	}
	q.prompts[id]++
	return nil
}

// leave is called when a prompt neither waits nor runs any more.
func (q *queue) leave(id acp.SessionID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.leaveLocked(id)
}

func (q *queue) leaveLocked(id acp.SessionID) {
	if q.prompts[id]--; q.prompts[id] <= 0 {
		delete(q.prompts, id)
	}
}

// receiving counts the prompts. They wait in package agent/v2, before there is a
// prompt of version 1.
func (q *queue) receiving(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		req, ok := params.(*acp2.PromptRequest)
		if !ok {
			return next(ctx, method, params)
		}
		if err := q.auth(ctx); err != nil { // before the prompt is part of the conversation
			return nil, err
		}
		id := acp.SessionID(req.SessionID)
		if err := q.enter(id); err != nil {
			return nil, err
		}
		accepted := false
		defer func() {
			if !accepted {
				q.leave(id)
			}
		}()
		res, err := next(ctx, method, params)
		accepted = err == nil
		return res, err
	}
}

// sending learns from the states of sessions when a turn begins and ends.
func (q *queue) sending(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		if n, ok := params.(*acp2.UpdateSessionNotification); ok {
			if u, ok := n.Update.(*acp2.SessionStateUpdate); ok {
				_, idle := u.StateUpdate.(*acp2.IdleStateUpdate)
				q.state(acp.SessionID(n.SessionID), !idle)
			}
		}
		return next(ctx, method, params)
	}
}

// state notes the state of a session. It may be sent again without a change.
func (q *queue) state(id acp.SessionID, running bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if running {
		q.running[id] = true
	} else if q.running[id] {
		delete(q.running, id)
		q.leaveLocked(id)
	}
}
