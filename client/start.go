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
// called, as far as there is room. A Session that stood for the same id before is at
// its end, as if it had been closed.
//
// Protocol: session/load. Capability: loadSession.
func (c *Conn) StartLoadedSession(ctx context.Context, req *acp.LoadSessionRequest, onUpdate func(context.Context, acp.SessionUpdate)) (*Session, error) {
	if req == nil {
		req = &acp.LoadSessionRequest{}
	}
	// What was kept before belongs to the history that is now told from the start.
	s, before := c.sessions.attach(req.SessionID, false)
	if onUpdate != nil {
		s.OnUpdate(onUpdate)
	}
	res, err := c.loadSession(ctx, req)
	if err != nil {
		c.sessions.putBack(s, before)
		return nil, err
	}
	before.forget()
	s.settle(res.Modes, res.ConfigOptions, true)
	return s, nil
}

// StartResumedSession opens a stored session without a replay. As with
// StartLoadedSession, a Session that stood for it before is at its end.
//
// Protocol: session/resume. Capability: sessionCapabilities.resume.
func (c *Conn) StartResumedSession(ctx context.Context, req *acp.ResumeSessionRequest) (*Session, error) {
	if req == nil {
		req = &acp.ResumeSessionRequest{}
	}
	s, before := c.sessions.attach(req.SessionID, true)
	res, err := c.resumeSession(ctx, req)
	if err != nil {
		c.sessions.putBack(s, before)
		return nil, err
	}
	before.forget()
	s.settle(res.Modes, res.ConfigOptions, true)
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
	s, before := c.sessions.attach(id, true)
	before.forget()
	s.settle(modes, options, false)
	return s
}

// settle takes what the answer tells of modes and options. Where newest is not set,
// what an update has told already stays.
func (s *Session) settle(modes *acp.SessionModeState, options []acp.SessionConfigOption, newest bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range s.kept.updates {
		if !newest {
			s.trackLocked(it.u)
		}
	}
	if modes != nil {
		m := *modes
		if s.modes != nil && !newest {
			m.CurrentModeID = s.modes.CurrentModeID
		}
		s.modes = &m
	}
	if options != nil && (s.options == nil || newest) {
		s.options = options
	}
}
