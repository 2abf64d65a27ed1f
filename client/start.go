package client

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
)

// StartSession starts an empty session. Updates of the session that the agent sends before
// its response are kept for it.
//
// Protocol: session/new.
func (c *Conn) StartSession(ctx context.Context, req *acp.NewSessionRequest) (*Session, error) {
	defer c.sessions.create()()
	res, err := c.callNew(ctx, req)
	if err != nil {
		return nil, err
	}
	return c.introduce(res.SessionID, res.Modes, res.ConfigOptions), nil
}

// StartLoadedSession opens a stored session, and the agent replays its history. onUpdate is
// called with the updates of the replay, in order, before StartLoadedSession returns, and
// then with later updates outside a turn. If onUpdate is nil, the updates are kept until
// [Session.OnUpdate] is called, within the limits that it states.
//
// If there already is a Session for the session, StartLoadedSession returns it, and
// onUpdate replaces its function. If a turn of that Session is in flight, the error is
// [acp.ErrTurnRunning], because the updates of the turn could not be distinguished from
// the history.
//
// Protocol: session/load. Capability: loadSession.
func (c *Conn) StartLoadedSession(ctx context.Context, req *acp.LoadSessionRequest, onUpdate func(context.Context, acp.SessionUpdate)) (*Session, error) {
	if req == nil {
		req = &acp.LoadSessionRequest{}
	}
	s, ok := c.open(req.SessionID), false
	defer func() { c.sessions.opened(s, ok) }() // runs even if a middleware panics
	ended, err := s.beginReplay(onUpdate)
	if err != nil {
		return nil, err
	}
	defer func() { ended(ok) }()
	response := &settingResponse{s: s}
	res, err := c.callLoad(ctx, req, response.arrived)
	if err != nil {
		return nil, err
	}
	ok = true
	response.reopened(res.Modes, res.ConfigOptions)
	return s, nil
}

// StartResumedSession opens a stored session without a replay of its history. If there
// already is a Session for the session, StartResumedSession returns it.
//
// Protocol: session/resume. Capability: sessionCapabilities.resume.
func (c *Conn) StartResumedSession(ctx context.Context, req *acp.ResumeSessionRequest) (*Session, error) {
	if req == nil {
		req = &acp.ResumeSessionRequest{}
	}
	s, ok := c.open(req.SessionID), false
	defer func() { c.sessions.opened(s, ok) }() // runs even if a middleware panics
	response := &settingResponse{s: s}
	res, err := c.callResume(ctx, req, response.arrived)
	if err != nil {
		return nil, err
	}
	ok = true
	response.reopened(res.Modes, res.ConfigOptions)
	return s, nil
}

// StartForkedSession starts a session from the context of another one, which does not
// change.
//
// Unstable: see Options.Unstable. Protocol: session/fork. Capability:
// sessionCapabilities.fork.
func (c *Conn) StartForkedSession(ctx context.Context, req *acp.ForkSessionRequest) (*Session, error) {
	defer c.sessions.create()()
	res, err := c.callFork(ctx, req)
	if err != nil {
		return nil, err
	}
	return c.introduce(res.SessionID, res.Modes, res.ConfigOptions), nil
}

// introduce returns the Session for the id in a response. Settings from updates that
// arrived before are newer than those of the response and stay.
func (c *Conn) introduce(id acp.SessionID, modes *acp.SessionModeState, options []acp.SessionConfigOption) *Session {
	s := c.find(id)
	s.started(modes, options)
	return s
}
