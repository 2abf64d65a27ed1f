package hub

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Start starts the agent and waits for its handshake, so that an agent that does not work is known
// before the first client comes. It does nothing if the agent runs.
func (h *Hub) Start(ctx context.Context) error {
	_, err := h.supervisor(ctx)
	return err
}

// supervisor returns the agent. It starts it if there is none, or if the last one was given up.
func (h *Hub) supervisor(ctx context.Context) (*supervise.Supervisor, error) {
	if err := h.starting.take(ctx); err != nil {
		return nil, err
	}
	defer h.starting.give()
	h.mu.Lock()
	running, closing := h.agent, h.closing
	h.mu.Unlock()
	if closing {
		return nil, errShutdown
	}
	if running != nil {
		return running, nil
	}
	s := supervise.New(h.agentOptions())
	if err := s.Start(h.ctx); err != nil {
		_ = s.Close()
		_ = s.Wait() // Start has returned why
		return nil, err
	}
	h.mu.Lock()
	h.agent = s
	h.mu.Unlock()
	h.do(func() { h.ended(s, s.Wait()) }) // ends with the Supervisor, which h.ctx ends
	return s, nil
}

// running returns the agent and the connection to it. It waits while the agent is being started again. The error is for a
// client.
func (h *Hub) running(ctx context.Context) (*supervise.Supervisor, *client.Conn, error) {
	s, err := h.supervisor(ctx)
	if err == nil {
		var below *client.Conn
		if below, err = s.Conn(ctx); err == nil {
			return s, below, nil
		}
	}
	if _, ok := errors.AsType[*rpcerr.RequestError](err); ok || ctx.Err() != nil {
		return nil, nil, err
	}
	h.log.Error("the agent could not be started", "error", err)
	return nil, nil, rpcerr.InternalError(nil).WithDetail("the agent could not be started: the log of the hub says why").WithCause(err)
}

// ended forgets an agent that has failed too often: the next prompt starts another one.
func (h *Hub) ended(s *supervise.Supervisor, err error) {
	h.mu.Lock()
	if h.agent == s {
		h.agent = nil
	}
	h.mu.Unlock()
	if err != nil && h.ctx.Err() == nil {
		h.log.Error("the agent failed too often, and is started again for the next prompt", "error", err)
	}
}

func (h *Hub) agentOptions() *supervise.Options {
	o := h.opts.Agent
	user := endpoint.ValueOf(o.Conn)
	user.Logger = cmp.Or(user.Logger, h.log)
	user.CancelGrace = cmp.Or(user.CancelGrace, math.MaxInt64) // a turn ends when the agent says so
	user.Sending = append(slices.Clone(user.Sending), h.sending)
	o.Conn = &user
	o.Handshake = cmp.Or(o.Handshake, handshakeTime)
	o.Client = h.client
	down := o.OnDown
	o.OnDown = func(d supervise.Down) {
		h.log.Warn("the agent has ended", "error", d.Err)
		if down != nil {
			down(d)
		}
	}
	o.OnReturn = h.returned
	return &o
}

// handshakeTime is how long an agent may take to start, unless Options.Agent says otherwise: clients wait for it.
const handshakeTime = 10 * time.Second

// sending marks the sessions whose history the agent is replaying. All of the replay has been
// handled when the call returns, and nothing that the agent sends later.
func (h *Hub) sending(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		if req, ok := params.(*acp.LoadSessionRequest); ok {
			of := h.below.Load().replaying
			h.mu.Lock()
			of[req.SessionID] = true
			h.mu.Unlock()
			defer func() {
				h.mu.Lock()
				defer h.mu.Unlock()
				delete(of, req.SessionID)
			}()
		}
		return next(ctx, method, params)
	}
}

// returned handles that the agent was started again and a session reopened, or not.
func (h *Hub) returned(r supervise.Return) {
	for _, s := range h.open() {
		if d := s.side.Load(); d == nil || d.session != r.Session {
			continue
		}
		if err := cmp.Or(r.Err, r.Lost); err != nil {
			h.log.Warn("a session could not be continued at the agent", "session", string(s.id), "error", err)
		}
		if r.Err != nil { // its next prompt tries again
			return
		}
		h.do(func() { // ends when the session can be used, or with the agent
			if _, err := h.openAtAgent(h.ctx, s); err != nil {
				h.log.Warn("a session cannot be used yet", "session", string(s.id), "error", err)
			}
		})
	}
}
