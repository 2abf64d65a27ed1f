package client

import (
	"context"
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/talk"
)

// StartSession starts an empty session. Updates of the session that the agent sends before
// its response are kept for it.
//
// Protocol: session/new.
func (c *Conn) StartSession(ctx context.Context, req *acp.NewSessionRequest) (*Session, error) {
	defer c.sessions.Create()()
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
	endpoint.Present(&req)
	s, ok := owner(c.sessions.Open(version{c}, string(req.SessionID))), false
	defer func() { c.sessions.Opened(&s.talk, ok) }() // runs even if a middleware panics
	ended, err := s.talk.Replay(onUpdate)
	if err != nil {
		return nil, err
	}
	defer func() { ended(ok) }()
	response := s.order().Response()
	res, err := c.callLoad(ctx, req, response.Arrived)
	if err != nil {
		return nil, err
	}
	ok = true
	s.reopened(response, res.Modes, res.ConfigOptions)
	return s, nil
}

// StartResumedSession opens a stored session without a replay of its history. If there
// already is a Session for the session, StartResumedSession returns it.
//
// Protocol: session/resume. Capability: sessionCapabilities.resume.
func (c *Conn) StartResumedSession(ctx context.Context, req *acp.ResumeSessionRequest) (*Session, error) {
	endpoint.Present(&req)
	s, ok := owner(c.sessions.Open(version{c}, string(req.SessionID))), false
	defer func() { c.sessions.Opened(&s.talk, ok) }() // runs even if a middleware panics
	response := s.order().Response()
	res, err := c.callResume(ctx, req, response.Arrived)
	if err != nil {
		return nil, err
	}
	ok = true
	s.reopened(response, res.Modes, res.ConfigOptions)
	return s, nil
}

// StartForkedSession starts a session from the context of another one, which does not
// change.
//
// Unstable: see Options.Unstable. Protocol: session/fork. Capability:
// sessionCapabilities.fork.
func (c *Conn) StartForkedSession(ctx context.Context, req *acp.ForkSessionRequest) (*Session, error) {
	defer c.sessions.Create()()
	res, err := c.callFork(ctx, req)
	if err != nil {
		return nil, err
	}
	return c.introduce(res.SessionID, res.Modes, res.ConfigOptions), nil
}

// introduce returns the Session for the id in a response. Settings from updates that
// arrived before are newer than those of the response and stay.
func (c *Conn) introduce(id acp.SessionID, modes *acp.SessionModeState, options []acp.SessionConfigOption) *Session {
	s := c.Session(id)
	s.talk.Mu.Lock()
	defer s.talk.Mu.Unlock()
	t := &s.settings
	if modes != nil {
		m := *modes
		if t.modes.Value != nil {
			m.CurrentModeID = t.modes.Value.CurrentModeID
		}
		t.modes.Value = &m
	}
	if t.options.Value == nil {
		t.options.Value = options
	}
	return s
}

// roots holds the folders of the open sessions. It grows with sessions that are never closed. If it
// forgot one, a part that serves files would refuse the files of that session.
type roots struct {
	mu  sync.Mutex // guards the fields below
	all map[acp.SessionID]*folders
}

// folders holds the folders of one request. Its address identifies the request.
type folders struct{ dirs []string }

func newFolders(cwd string, more []string) *folders {
	return &folders{append([]string{cwd}, more...)}
}

// of returns the folders of a session, or nil if it is not open; see [Asked].
func (r *roots) of(id acp.SessionID) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.all[id]; f != nil {
		return slices.Clone(f.dirs)
	}
	return nil
}

// set replaces the folders of a session and returns the previous ones.
func (r *roots) set(id acp.SessionID, f *folders) (before *folders) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[acp.SessionID]*folders{}
	}
	before = r.all[id]
	r.all[id] = f
	return before
}

func (r *roots) remove(id acp.SessionID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, id)
}

// opening records the folders of a session that is being loaded or resumed. The caller
// must call opened with the error of the call.
func (r *roots) opening(id acp.SessionID, cwd string, more []string) (opened func(error)) {
	f := newFolders(cwd, more)
	before := r.set(id, f)
	return func(err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		switch {
		case err == nil, r.all[id] != f: // or there was a later one
		case before == nil:
			delete(r.all, id)
		default:
			r.all[id] = before
		}
	}
}

// recordRoots returns the options of a call whose response contains the id of a session with these
// folders.
func recordRoots[R any](r *roots, cwd string, more []string, id func(*R) acp.SessionID) *rpc.CallOptions {
	f := newFolders(cwd, more)
	return &rpc.CallOptions{Result: func(res any) {
		if res, ok := res.(*R); ok {
			r.set(id(res), f)
		}
	}}
}

// These calls open sessions and record their folders.

func (c *Conn) callNew(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	var opts *rpc.CallOptions
	if req != nil {
		opts = recordRoots(&c.roots, req.Cwd, req.AdditionalDirectories, func(res *acp.NewSessionResponse) acp.SessionID { return res.SessionID })
	}
	return methodNewSession.Call(ctx, &c.out, req, opts)
}

func (c *Conn) callFork(ctx context.Context, req *acp.ForkSessionRequest) (*acp.ForkSessionResponse, error) {
	var opts *rpc.CallOptions
	if req != nil {
		opts = recordRoots(&c.roots, req.Cwd, req.AdditionalDirectories, func(res *acp.ForkSessionResponse) acp.SessionID { return res.SessionID })
	}
	return methodForkSession.Call(ctx, &c.out, req, opts)
}

func (c *Conn) loadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	if req != nil {
		c.sessions.SetPlain(string(req.SessionID))
	}
	return c.callLoad(ctx, req, nil)
}

func (c *Conn) callLoad(ctx context.Context, req *acp.LoadSessionRequest, atResponse func(error)) (*acp.LoadSessionResponse, error) {
	endpoint.Present(&req)
	err, opened := talk.ErrExited, c.roots.opening(req.SessionID, req.Cwd, req.AdditionalDirectories)
	defer func() { opened(err) }() // runs even if a middleware panics
	res, err := methodLoadSession.Call(ctx, &c.out, req, &rpc.CallOptions{AtResponse: atResponse})
	return res, err
}

func (c *Conn) callResume(ctx context.Context, req *acp.ResumeSessionRequest, atResponse func(error)) (*acp.ResumeSessionResponse, error) {
	endpoint.Present(&req)
	err, opened := talk.ErrExited, c.roots.opening(req.SessionID, req.Cwd, req.AdditionalDirectories)
	defer func() { opened(err) }() // runs even if a middleware panics
	res, err := methodResumeSession.Call(ctx, &c.out, req, &rpc.CallOptions{AtResponse: atResponse})
	return res, err
}
