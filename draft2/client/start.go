package client

import (
	"context"
	"time"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/talk"
)

// StartSession starts an empty session. Updates of the session that the agent sends before
// its response are kept for it.
//
// Protocol: session/new. Capability: session.
func (c *Conn) StartSession(ctx context.Context, req *acp.NewSessionRequest) (*Session, error) {
	defer c.sessions.Create()()
	res, err := methodNewSession.Call(ctx, &c.out, req, nil)
	if err != nil {
		return nil, err
	}
	return c.introduce(res.SessionID, res.ConfigOptions, res.AvailableCommands), nil
}

// StartResumedSession opens a stored session. If the request has ReplayFrom, the agent
// replays the session's history; [ResumeOptions] has what is called then.
//
// If there already is a Session for the session, StartResumedSession returns it, and
// OnUpdate replaces its function unless it is nil. If a turn of that Session is in flight
// and the request has ReplayFrom, the error is [acp.ErrTurnRunning], because the updates of
// the turn could not be distinguished from the history. A second replay of a session begins when the
// first one has ended. If ctx is done during a replay, the agent is asked to cancel it, and its response is
// returned if it comes within Options.CancelGrace.
//
// The state that the agent sends before its response ends no turn.
//
// Protocol: session/resume. Capability: session.
func (c *Conn) StartResumedSession(ctx context.Context, req *acp.ResumeSessionRequest, opts *ResumeOptions) (*Session, error) {
	id := string(endpoint.Present(&req).SessionID)
	o := endpoint.ValueOf(opts)
	var p *replay
	err := talk.ErrExited
	if req.ReplayFrom != nil {
		begun, over, failed := c.replays.begin(ctx, c, req.SessionID, o.Replayed)
		if failed != nil {
			return nil, failed
		}
		p = begun
		defer over()
		defer func() { p.end(err) }() // runs even if a middleware panics
	}
	s, ok := owner(c.sessions.Open(version{c}, id)), false
	defer func() { c.sessions.Opened(&s.talk, ok) }()
	ended := func(bool) {}
	if p != nil {
		if ended, err = s.talk.Replay(o.OnUpdate); err != nil {
			return nil, err
		}
		err = talk.ErrExited
	}
	defer func() { ended(ok) }()
	response := s.talk.Order().Response()
	var res *acp.ResumeSessionResponse
	if res, err = c.callResume(ctx, req, response.Arrived, p); err != nil {
		return nil, err
	}
	ok = true
	s.reopened(response, res.ConfigOptions, res.AvailableCommands)
	if p == nil && o.OnUpdate != nil {
		s.OnUpdate(o.OnUpdate)
	}
	return s, nil
}

// StartForkedSession starts a session from the context of another one, which does not
// change.
//
// Unstable: see Options.Unstable. Protocol: session/fork. Capability: session.fork.
func (c *Conn) StartForkedSession(ctx context.Context, req *acp.ForkSessionRequest) (*Session, error) {
	defer c.sessions.Create()()
	res, err := methodForkSession.Call(ctx, &c.out, req, nil)
	if err != nil {
		return nil, err
	}
	return c.introduce(res.SessionID, res.ConfigOptions, res.AvailableCommands), nil
}

// introduce returns the Session for the id in a response. What updates reported before is
// newer than what the response reports, and stays.
func (c *Conn) introduce(id acp.SessionID, options []acp.SessionConfigOption, commands []acp.AvailableCommand) *Session {
	s := c.Session(id)
	s.talk.Mu.Lock()
	defer s.talk.Mu.Unlock()
	t := &s.settings
	if t.options.Value == nil {
		t.options.Value = options
	}
	if t.commands.Value == nil {
		t.commands.Value = commands
	}
	return s
}

// callResume calls session/resume. p is the replay that it requests, or nil. If ctx ends, the history goes on
// until the response, and would mix with that of the next replay.
func (c *Conn) callResume(ctx context.Context, req *acp.ResumeSessionRequest, atResponse func(error), p *replay) (*acp.ResumeSessionResponse, error) {
	replays := endpoint.Present(&req).ReplayFrom != nil
	c.turns.reopen(req.SessionID, replays)
	var grace time.Duration
	if p != nil {
		grace = max(c.opts.CancelGrace, 0)
	}
	return methodResumeSession.Call(ctx, &c.out, req, &rpc.CallOptions{Grace: grace, AtResponse: func(err error) {
		if p != nil && err == nil {
			p.end(nil)
		}
		c.turns.reopened(req.SessionID, replays, err == nil)
		if atResponse != nil {
			atResponse(err)
		}
	}})
}
