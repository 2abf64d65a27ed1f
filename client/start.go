package client

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
)

// StartSession starts an empty session. Updates that the agent sends before its answer
// has arrived are kept and belong to the session.
//
// Protocol: session/new.
func (c *Conn) StartSession(ctx context.Context, req *acp.NewSessionRequest) (*Session, error) {
	res, err := c.newSession(ctx, req)
	if err != nil {
		return nil, err
	}
	return c.introduce(res.SessionID, res.Modes, res.ConfigOptions), nil
}

// StartLoadedSession opens a stored session whose history the agent replays. The replay
// goes to onUpdate, in order and before StartLoadedSession returns; later updates
// outside a turn follow. With a nil onUpdate they are kept until [Session.OnUpdate] is
// called, as far as there is room.
//
// Loading a session that has a Session already gives the same one, with onUpdate in
// place of the function it had. While a turn of it runs that fails with
// [acp.ErrTurnRunning], because nobody could tell its updates from the history.
//
// Protocol: session/load. Capability: loadSession.
func (c *Conn) StartLoadedSession(ctx context.Context, req *acp.LoadSessionRequest, onUpdate func(context.Context, acp.SessionUpdate)) (*Session, error) {
	if req == nil {
		req = &acp.LoadSessionRequest{}
	}
	s, fresh := c.sessions.find(req.SessionID)
	undo, err := s.beginReplay(onUpdate)
	if err != nil {
		return nil, err
	}
	answer := &settingAnswer{s: s}
	res, err := c.loadSession(ctx, req, answer.watch())
	if err != nil {
		undo()
		if fresh {
			c.sessions.detach(s)
		}
		return nil, err
	}
	answer.reopened(res.Modes, res.ConfigOptions)
	return s, nil
}

// StartResumedSession opens a stored session without a replay. A session that has a
// Session already keeps it.
//
// Protocol: session/resume. Capability: sessionCapabilities.resume.
func (c *Conn) StartResumedSession(ctx context.Context, req *acp.ResumeSessionRequest) (*Session, error) {
	if req == nil {
		req = &acp.ResumeSessionRequest{}
	}
	s, fresh := c.sessions.find(req.SessionID)
	answer := &settingAnswer{s: s}
	res, err := c.resumeSession(ctx, req, answer.watch())
	if err != nil {
		if fresh {
			c.sessions.detach(s)
		}
		return nil, err
	}
	answer.reopened(res.Modes, res.ConfigOptions)
	return s, nil
}

// StartForkedSession starts a session from the context of another one, which stays as
// it is.
//
// Unstable: see Options.Unstable. Protocol: session/fork. Capability:
// sessionCapabilities.fork.
func (c *Conn) StartForkedSession(ctx context.Context, req *acp.ForkSessionRequest) (*Session, error) {
	res, err := c.forkSession(ctx, req)
	if err != nil {
		return nil, err
	}
	return c.introduce(res.SessionID, res.Modes, res.ConfigOptions), nil
}

// introduce makes the Session that an answer has named. Updates may have told more of
// it meanwhile, which stays.
func (c *Conn) introduce(id acp.SessionID, modes *acp.SessionModeState, options []acp.SessionConfigOption) *Session {
	s, _ := c.sessions.find(id)
	s.started(modes, options)
	return s
}
