package kit

import (
	"context"
	"fmt"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

// queue limits the prompts of one connection that wait. Who waits for whom is decided by the
// connection, which knows the order in which they arrived.
type queue struct {
	limit int // prompts of a session that may wait

	mu      sync.Mutex
	running map[acp.SessionID]bool
	waiting map[acp.SessionID]int
}

func (a *Agent) newQueue() *queue {
	return &queue{limit: max(a.opts.Queue, 0), running: make(map[acp.SessionID]bool), waiting: make(map[acp.SessionID]int)}
}

// enter counts a prompt as waiting, or refuses it.
func (q *queue) enter(id acp.SessionID) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	ahead := q.waiting[id]
	if q.running[id] {
		ahead++
	}
	switch {
	case ahead > q.limit && q.limit == 0:
		return rpcerr.InvalidRequest(nil).WithDetail("a turn of this session is running: wait for its end, or cancel it")
	case ahead > q.limit:
		return rpcerr.InvalidRequest(nil).WithDetail(fmt.Sprintf("%d prompts of this session wait already", q.limit))
	}
	q.waiting[id]++
	return nil
}

// leave is called when a prompt does not wait any more.
func (q *queue) leave(id acp.SessionID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting[id]--; q.waiting[id] == 0 {
		delete(q.waiting, id)
	}
}

// run tells that a turn of a session begins or has ended.
func (q *queue) run(id acp.SessionID, begins bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if begins {
		q.running[id] = true
	} else {
		delete(q.running, id)
	}
}

// receiving counts the prompts of version 2. They wait in package agent/v2, before there is a
// prompt of version 1.
func (q *queue) receiving(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		if req, ok := params.(*acp2.PromptRequest); ok {
			id := acp.SessionID(req.SessionID)
			if err := q.enter(id); err != nil {
				return nil, err
			}
			defer q.leave(id)
		}
		return next(ctx, method, params)
	}
}

// sending learns from the states of sessions of version 2 when a turn begins and ends.
func (q *queue) sending(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		if n, ok := params.(*acp2.UpdateSessionNotification); ok {
			if u, ok := n.Update.(*acp2.SessionStateUpdate); ok {
				_, idle := u.StateUpdate.(*acp2.IdleStateUpdate)
				q.run(acp.SessionID(n.SessionID), !idle)
			}
		}
		return next(ctx, method, params)
	}
}
