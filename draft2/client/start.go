package client

import (
	"context"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
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
// replays the session's history, and onUpdate is called with its updates, in order, before
// StartResumedSession returns. After that onUpdate gets the updates outside a turn. If it is
// nil, they are kept until [Session.OnUpdate] is called, within the limits that it states.
//
// If there already is a Session for the session, StartResumedSession returns it, and
// onUpdate replaces its function unless it is nil. If a turn of that Session is in flight
// and the request has ReplayFrom, the error is [acp.ErrTurnRunning], because the updates of
// the turn could not be distinguished from the history.
//
// The state that the agent sends before its response ends no turn.
//
// Protocol: session/resume. Capability: session.
func (c *Conn) StartResumedSession(ctx context.Context, req *acp.ResumeSessionRequest, onUpdate func(context.Context, acp.SessionUpdate)) (*Session, error) {
	id := string(endpoint.Present(&req).SessionID)
	s, ok := owner(c.sessions.Open(version{c}, id)), false
	defer func() { c.sessions.Opened(&s.talk, ok) }() // runs even if a middleware panics
	ended, err := s.beginResume(req.ReplayFrom != nil, onUpdate)
	if err != nil {
		return nil, err
	}
	defer func() { ended(ok) }()
	response := s.talk.Order().Response()
	res, err := c.callResume(ctx, req, response.Arrived)
	if err != nil {
		return nil, err
	}
	ok = true
	s.reopened(response, res.ConfigOptions, res.AvailableCommands)
	return s, nil
}

// beginResume sets onUpdate, unless it is nil, as the function for the updates outside a
// turn. The caller must call ended with the outcome of the resume.
func (s *Session) beginResume(replay bool, onUpdate func(context.Context, acp.SessionUpdate)) (ended func(ok bool), err error) {
	if replay {
		return s.talk.Replay(onUpdate)
	}
	return func(ok bool) {
		if ok && onUpdate != nil {
			s.OnUpdate(onUpdate)
		}
	}, nil
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

func (c *Conn) callResume(ctx context.Context, req *acp.ResumeSessionRequest, atResponse func(error)) (*acp.ResumeSessionResponse, error) {
	replay := endpoint.Present(&req).ReplayFrom != nil
	c.turns.reopen(req.SessionID, replay)
	return methodResumeSession.Call(ctx, &c.out, req, &rpc.CallOptions{AtResponse: func(err error) {
		c.turns.reopened(req.SessionID, replay, err == nil)
		if atResponse != nil {
			atResponse(err)
		}
	}})
}
