package client

import (
	"context"
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// SessionRoots returns the folders of a session as they were sent to the agent: cwd,
// followed by additionalDirectories, of the request that opened the session. It reports
// false if this Conn has not opened the session or has closed it.
//
// The folders of a new or forked session are known when the response arrives, before any
// later request of the agent is handled. The folders of a session that is loaded or
// resumed are known before the request is sent, and are forgotten if the request fails.
func (c *Conn) SessionRoots(id acp.SessionID) (dirs []string, ok bool) {
	r := &c.roots
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.all[id]
	if f == nil {
		return nil, false
	}
	return slices.Clone(f.dirs), true
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

// reset undoes a set, unless there was a later one.
func (r *roots) reset(id acp.SessionID, f, before *folders) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.all[id] != f:
	case before == nil:
		delete(r.all, id)
	default:
		r.all[id] = before
	}
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
		if err != nil {
			r.reset(id, f, before)
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
		c.sessions.setPlain(req.SessionID)
	}
	return c.callLoad(ctx, req, nil)
}

func (c *Conn) callLoad(ctx context.Context, req *acp.LoadSessionRequest, atResponse func(error)) (*acp.LoadSessionResponse, error) {
	if req == nil {
		req = &acp.LoadSessionRequest{}
	}
	err, opened := errExited, c.roots.opening(req.SessionID, req.Cwd, req.AdditionalDirectories)
	defer func() { opened(err) }() // runs even if a middleware panics
	res, err := methodLoadSession.Call(ctx, &c.out, req, &rpc.CallOptions{AtResponse: atResponse})
	return res, err
}

func (c *Conn) callResume(ctx context.Context, req *acp.ResumeSessionRequest, atResponse func(error)) (*acp.ResumeSessionResponse, error) {
	if req == nil {
		req = &acp.ResumeSessionRequest{}
	}
	err, opened := errExited, c.roots.opening(req.SessionID, req.Cwd, req.AdditionalDirectories)
	defer func() { opened(err) }() // runs even if a middleware panics
	res, err := methodResumeSession.Call(ctx, &c.out, req, &rpc.CallOptions{AtResponse: atResponse})
	return res, err
}
