package agent

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/internal/replay"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// markReplays makes the handler of session/resume send a marker after the history, and keeps back until
// then what happens in the session meanwhile. What the handler sends with its ctx is history.
func (c *Conn) markReplays(e *rpc.Entry) {
	c.replays.Ending = c.engine.Ending()
	c.replays.Full = func(id string) {
		c.log.Warn("acp: many updates wait for the end of a replay, and their senders from now on: send the history with the ctx of the handler of session/resume", "session", id)
	}
	handle := e.Handle
	e.Handle = func(ctx context.Context, params any) (any, error) {
		req, ok := params.(*acp.ResumeSessionRequest)
		if !ok || req.ReplayFrom == nil {
			return handle(ctx, params)
		}
		waited := rpc.Waits(ctx)
		inside, r, err := c.replays.Begin(ctx, string(req.SessionID))
		waited()
		if err != nil {
			return nil, err
		}
		defer r.End() // runs even if the handler panics
		res, err := handle(inside, params)
		if err == nil {
			err = c.replayed(inside)
		}
		return res, err
	}
}

// replayed sends the markers of the replay whose history is sent with ctx, if there is one.
func (c *Conn) replayed(ctx context.Context) error {
	r := replay.Of(ctx)
	if r == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	return r.Complete(ctx, func(id string) error {
		return methodSessionUpdate.Notify(ctx, &c.out, &acp.UpdateSessionNotification{SessionID: acp.SessionID(id), Update: &acp.ReplayComplete{}})
	})
}

// errNoReplay is the error for a marker of the agent itself.
var errNoReplay = errors.New("agent: replay_complete is sent by the Conn: return from the handler of session/resume after the last replayed update")

// sessionUpdate sends an update, after the end of a replay of its session unless it is history.
func (c *Conn) sessionUpdate(ctx context.Context, n *acp.UpdateSessionNotification) error {
	if n == nil || c.relays { // the agent at the other end of a relay marks its replays
		return methodSessionUpdate.Notify(ctx, &c.out, n)
	}
	child := ""
	switch u := n.Update.(type) {
	case *acp.SubagentUpdate:
		child = string(endpoint.ValueOf(u).SessionID)
	case *acp.ReplayComplete:
		return errNoReplay
	}
	id := string(n.SessionID)
	for !c.replays.Enter(ctx, id, child) {
		if kept, err := c.keep(ctx, n); kept || err != nil {
			return err
		}
	}
	defer c.replays.Leave(id) // runs even if a middleware panics
	return methodSessionUpdate.Notify(ctx, &c.out, n)
}

// keep keeps a copy of an update back until the end of the replay, and reports whether it did. The update
// is checked now, as it would be if it were sent.
func (c *Conn) keep(ctx context.Context, n *acp.UpdateSessionNotification) (kept bool, err error) {
	if err := c.guard(methodSessionUpdate.Method, n); err != nil {
		return false, err
	}
	b, err := json.Marshal(n)
	if err != nil {
		return false, err
	}
	later := new(acp.UpdateSessionNotification)
	if err := json.Unmarshal(b, later); err != nil {
		return false, err
	}
	sending := context.WithoutCancel(ctx)
	return c.replays.Keep(ctx, string(n.SessionID), func() {
		if err := methodSessionUpdate.Notify(sending, &c.out, later); err != nil {
			c.log.Debug("acp: an update that waited for the end of a replay could not be sent", "error", err)
		}
	})
}
