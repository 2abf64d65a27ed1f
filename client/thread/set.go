package thread

import (
	"context"
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/termview"
)

// Set keeps a [Thread] for each session of a connection of version 1. What the agent sends reaches
// the threads on its way to the client, and what the program sends, whichever methods it calls, in a
// middleware:
//
//	threads := new(thread.Set)
//	newClient := func(conn *client.Conn) acp.Client { return threads.Client(&editor{conn: conn}) }
//	conn, err := client.Connect(ctx, process, newClient, &client.Options{Sending: []acp.Middleware{threads.Sending}})
//
// A program that needs no updates besides calls OnUpdate of its client.Session with nil, or the Session
// keeps the first ones. The zero Set is empty. All methods are safe for concurrent use.
type Set struct{ threads Map }

// Thread returns the thread of a session. It creates one if there is none.
func (s *Set) Thread(id acp.SessionID) *Thread { return s.threads.Thread(string(id)) }

// Forget removes the thread of a session. The thread itself remains usable.
func (s *Set) Forget(id acp.SessionID) { s.threads.Forget(string(id)) }

// Client returns c with threads: updates, permission requests and the output of terminals reach the
// thread of their session before they reach c, and so do the questions that package client/permission asks in a
// request. SessionUpdate of c therefore finds the update in the
// thread. If package client/terminals or client/host runs the command of a terminal, the thread shows
// what it prints without delay.
func (s *Set) Client(c acp.Client) acp.Client { return &shown{acp.ClientWrapper{Client: c}, s} }

// shown is a client with threads.
type shown struct {
	acp.ClientWrapper
	set *Set
}

func (c *shown) SessionUpdate(ctx context.Context, n *acp.SessionNotification) error {
	c.set.threads.Mentioned(string(n.SessionID)).Apply(n.Update)
	return c.ClientWrapper.SessionUpdate(ctx, n)
}

func (c *shown) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	t := c.set.threads.Mentioned(string(req.SessionID))
	key := t.Permission(req)
	defer t.Answered(key)
	return c.ClientWrapper.RequestPermission(t.Context(ctx, key), req)
}

func (c *shown) CreateTerminal(ctx context.Context, req *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	t := c.set.threads.Mentioned(string(req.SessionID))
	return c.ClientWrapper.CreateTerminal(termview.With(t.Context(ctx, 0), t.follow), req)
}

func (c *shown) ReadTextFile(ctx context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return c.ClientWrapper.ReadTextFile(c.set.threads.Mentioned(string(req.SessionID)).Context(ctx, 0), req)
}

func (c *shown) WriteTextFile(ctx context.Context, req *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	return c.ClientWrapper.WriteTextFile(c.set.threads.Mentioned(string(req.SessionID)).Context(ctx, 0), req)
}

// Sending is a middleware for client.Options.Sending. It passes prompts and their results,
// modes and options that were set, and opened sessions to the threads. Before a session is
// loaded, it resets the thread; if loading fails, it restores it.
func (s *Set) Sending(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		undo := func() {}
		switch p := params.(type) {
		case *acp.PromptRequest:
			t := s.Thread(p.SessionID)
			t.Prompt(p.Prompt)
			result, err := next(ctx, method, params)
			res, _ := result.(*acp.PromptResponse)
			t.EndTurn(res, err)
			return result, err
		case *acp.LoadSessionRequest:
			t := s.Thread(p.SessionID)
			before := t.Snapshot()
			t.Reset()
			undo = func() { t.Restore(before) }
		}
		result, err := next(ctx, method, params)
		if err != nil {
			undo()
		} else {
			s.done(params, result)
		}
		return result, err
	}
}

func (s *Set) done(params, result any) {
	switch r := result.(type) {
	case *acp.NewSessionResponse:
		s.Thread(r.SessionID).started(r.Modes, r.ConfigOptions)
	case *acp.ForkSessionResponse:
		s.Thread(r.SessionID).started(r.Modes, r.ConfigOptions)
	case *acp.LoadSessionResponse:
		if p, ok := params.(*acp.LoadSessionRequest); ok && r != nil {
			s.Thread(p.SessionID).Opened(r.Modes, r.ConfigOptions)
		}
	case *acp.ResumeSessionResponse:
		if p, ok := params.(*acp.ResumeSessionRequest); ok && r != nil {
			s.Thread(p.SessionID).Opened(r.Modes, r.ConfigOptions)
		}
	case *acp.SetSessionConfigOptionResponse:
		if p, ok := params.(*acp.SetSessionConfigOptionRequest); ok {
			s.Thread(p.SessionID).Do(OptionsChanged{optionsOf(r.ConfigOptions)})
		}
	case *acp.SetSessionModeResponse:
		if p, ok := params.(*acp.SetSessionModeRequest); ok {
			s.Thread(p.SessionID).Do(modeChanged{id: string(p.ModeID)})
		}
	}
}

// started is like Opened for a new session.
func (t *Thread) started(modes *acp.SessionModeState, options []acp.SessionConfigOption) {
	o := opened(modes, options)
	o.New = true
	t.Do(o)
}

// Map holds threads by the ids of their sessions. [Set] uses one; a program that feeds
// threads without a Set can too. The zero Map is empty. All methods are safe for concurrent use.
type Map struct {
	mu      sync.Mutex // guards all below
	threads map[string]*Thread
	// unknown are the ids that only the agent has named, the oldest first.
	unknown []string
}

// unknownAtMost is how many threads there are for ids that only the agent has named: those of
// subagents, and of sessions whose response has not arrived.
const unknownAtMost = 64

// Thread returns the thread of a session. It creates one if there is none.
func (m *Map) Thread(id string) *Thread {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.unknown, id); i >= 0 {
		m.unknown = slices.Delete(m.unknown, i, i+1)
	}
	if t := m.threads[id]; t != nil {
		return t
	}
	return m.addLocked(id)
}

func (m *Map) addLocked(id string) *Thread {
	if m.threads == nil {
		m.threads = map[string]*Thread{}
	}
	t := New()
	m.threads[id] = t
	return t
}

// Mentioned is like [Map.Thread] for a session id that only the agent has sent. The Map
// keeps at most 64 threads that [Map.Thread] has never returned; it removes the oldest ones
// beyond that, so the agent cannot make it grow.
func (m *Map) Mentioned(id string) *Thread {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.threads[id]
	if t == nil {
		t = m.addLocked(id)
		m.unknown = append(m.unknown, id)
		if len(m.unknown) > unknownAtMost {
			delete(m.threads, m.unknown[0])
			m.unknown = slices.Delete(m.unknown, 0, 1)
		}
	}
	return t
}

// Forget removes the thread of a session. The thread itself remains usable.
func (m *Map) Forget(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.threads, id)
	m.unknown = slices.DeleteFunc(m.unknown, func(u string) bool { return u == id })
}
