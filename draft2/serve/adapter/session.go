package adapter

import (
	"context"
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/fold"
	"github.com/acpkit/go-sdk/rpcerr"
)

// session is the adapter's state of one session of the agent.
type session struct {
	id acp.SessionID

	holds int  // number of calls in flight that open it; guarded by adapter.mu
	rests bool // it is in adapter.resting; guarded by adapter.mu

	mu       sync.Mutex // guards the fields below
	open     bool
	closed   bool // it was open and is closed: its updates do not reach the client
	replays  bool // it is being loaded
	silent   bool // it is being loaded and the client did not request its history
	info     acp2.SessionInfo
	system   *acp.SystemPrompt // of the request that opened it; nil if that had none
	settings settings
	messages fold.Messages[acp2.MessageID]
	titles   map[acp.ToolCallID]string        // titles of the tool calls so far
	echoes   map[acp.MessageID]acp2.MessageID // the ids that the client knows of prompts that the agent has repeated
	others   map[string]struct{}              // ids of the compactions, the subagents and their messages so far
	turn     *turn                            // the turn in progress; nil if there is none
	asked    map[chan struct{}]struct{}       // permission requests in flight; each channel is closed when its request has ended
}

// NewSession starts a session.
func (a *adapter) NewSession(ctx context.Context, req *acp2.NewSessionRequest) (*acp2.NewSessionResponse, error) {
	defer a.outsideSession(ctx)()
	servers, system, err := opening(req.MCPServers, req.SystemPrompt)
	if err != nil {
		return nil, err
	}
	values, err := a.initial(req.ConfigOptions)
	if err != nil {
		return nil, err
	}
	res, err := a.below.NewSession(ctx, &acp.NewSessionRequest{
		Cwd: string(req.Cwd), AdditionalDirectories: paths(req.AdditionalDirectories), MCPServers: servers, SystemPrompt: system, ConfigOptions: values, Meta: req.Meta,
	})
	if err != nil {
		return nil, err
	}
	s := a.opens(res.SessionID, req.Cwd, req.AdditionalDirectories, system)
	options, commands, err := s.started(true, res.Modes, res.ConfigOptions)
	if err != nil {
		return nil, err
	}
	options = a.startInMode(ctx, s, values, options)
	return &acp2.NewSessionResponse{
		SessionID: acp2.SessionID(res.SessionID), ConfigOptions: options, AvailableCommands: commands, Meta: res.Meta,
	}, nil
}

// opening returns the servers and the system prompt of a request in the form of version 1.
func opening(servers []acp2.MCPServer, prompt *acp2.SystemPrompt) (own []acp.MCPServer, system *acp.SystemPrompt, err error) {
	if prompt != nil {
		if system, err = convert[acp.SystemPrompt](prompt); err != nil {
			return nil, nil, err
		}
	}
	own, err = mcpServers(servers)
	return own, system, err
}

// ListSessions lists the sessions of the agent. If the agent has no list, it lists those that this
// connection has opened.
func (a *adapter) ListSessions(ctx context.Context, req *acp2.ListSessionsRequest) (*acp2.ListSessionsResponse, error) {
	cursor := ""
	if req.Cursor != nil {
		if cursor = string(*req.Cursor); cursor == "" || !a.has("sessionCapabilities.list") {
			return nil, rpcerr.InvalidParams(nil).WithDetail("cursor: unknown")
		}
	}
	if a.has("sessionCapabilities.list") {
		own := &acp.ListSessionsRequest{Cursor: cursor, Meta: req.Meta}
		own.Cwd = string(req.Cwd)
		res, err := a.below.ListSessions(ctx, own)
		if err != nil {
			return nil, err
		}
		return convert[acp2.ListSessionsResponse](res)
	}
	a.mu.Lock()
	opened := make([]*session, 0, len(a.opened))
	for _, id := range a.opened {
		opened = append(opened, a.sessions[id])
	}
	a.mu.Unlock()
	out := &acp2.ListSessionsResponse{Sessions: []acp2.SessionInfo{}}
	for _, s := range opened {
		s.mu.Lock()
		if info := s.info; s.open && (req.Cwd == "" || info.Cwd == req.Cwd) {
			out.Sessions = append(out.Sessions, info)
		}
		s.mu.Unlock()
	}
	return out, nil
}

// CloseSession closes a session. The engine has cancelled its turn. Package draft2/agent sends the
// response after the end of the turn.
func (a *adapter) CloseSession(ctx context.Context, req *acp2.CloseSessionRequest) (*acp2.CloseSessionResponse, error) {
	var res *acp.CloseSessionResponse
	if a.has("sessionCapabilities.close") {
		var err error
		if res, err = a.below.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: acp.SessionID(req.SessionID), Meta: req.Meta}); err != nil {
			return nil, err
		}
	} else {
		if _, err := a.known(req.SessionID); err != nil {
			return nil, err
		}
		res = &acp.CloseSessionResponse{}
	}
	if s := a.lookup(req.SessionID); s == nil || !s.closes() {
		a.forgets(req.SessionID)
	}
	return &acp2.CloseSessionResponse{Meta: res.Meta}, nil
}

// DeleteSession deletes a session, if the agent supports that.
func (a *adapter) DeleteSession(ctx context.Context, req *acp2.DeleteSessionRequest) (*acp2.DeleteSessionResponse, error) {
	if !a.has("sessionCapabilities.delete") {
		return nil, rpcerr.MethodNotFound(acp2.MethodSessionDelete)
	}
	res, err := a.below.DeleteSession(ctx, &acp.DeleteSessionRequest{SessionID: acp.SessionID(req.SessionID), Meta: req.Meta})
	if err != nil {
		return nil, err
	}
	a.forgets(req.SessionID)
	return &acp2.DeleteSessionResponse{Meta: res.Meta}, nil
}

// ResumeSession opens a session again, with session/resume or session/load of the agent.
func (a *adapter) ResumeSession(ctx context.Context, req *acp2.ResumeSessionRequest) (*acp2.ResumeSessionResponse, error) {
	defer a.outsideSession(ctx)()
	replay := false
	switch req.ReplayFrom.(type) {
	case nil:
	case *acp2.ReplayFromStart:
		replay = true
	default:
		return nil, rpcerr.InvalidParams(nil).WithDetail("replayFrom: the agent can replay from the start only")
	}
	servers, system, err := opening(req.MCPServers, req.SystemPrompt)
	if err != nil {
		return nil, err
	}
	values, err := a.initial(req.ConfigOptions)
	if err != nil {
		return nil, err
	}
	if replay && !a.has("loadSession") {
		return nil, rpcerr.InvalidParams(nil).WithDetail("replayFrom: the agent cannot replay its sessions")
	}
	modes, options, meta := (*acp.SessionModeState)(nil), []acp.SessionConfigOption(nil), acp2.Meta(nil)
	s, known := a.known(req.SessionID)
	switch {
	case !replay && a.has("sessionCapabilities.resume"):
		var res *acp.ResumeSessionResponse
		res, err = a.below.ResumeSession(ctx, &acp.ResumeSessionRequest{
			SessionID: acp.SessionID(req.SessionID), Cwd: string(req.Cwd), AdditionalDirectories: paths(req.AdditionalDirectories),
			MCPServers: servers, SystemPrompt: system, ConfigOptions: values, Meta: req.Meta,
		})
		if err == nil {
			modes, options, meta = res.Modes, res.ConfigOptions, res.Meta
		}
	case !replay && known == nil && len(values) == 0 && s.hasPrompt(system): // it is open already
		return a.resumed(ctx, s, nil, nil, nil, nil)
	case a.has("loadSession"):
		_, release := a.hold(acp.SessionID(req.SessionID))
		defer release()
		var res *acp.LoadSessionResponse
		res, err = a.load(ctx, replay, &acp.LoadSessionRequest{
			SessionID: acp.SessionID(req.SessionID), Cwd: string(req.Cwd), AdditionalDirectories: paths(req.AdditionalDirectories),
			MCPServers: servers, SystemPrompt: system, ConfigOptions: values, Meta: req.Meta,
		})
		if err == nil {
			modes, options, meta = res.Modes, res.ConfigOptions, res.Meta
		}
	case known == nil && s.hasPrompt(system): // it is open already, and nothing can set its values
		return a.resumed(ctx, s, nil, nil, nil, nil)
	case known == nil:
		err = rpcerr.InvalidParams(nil).WithDetail("systemPrompt: the agent cannot change it while the session is open")
	default:
		err = known
	}
	if err != nil {
		return nil, err
	}
	s = a.opens(acp.SessionID(req.SessionID), req.Cwd, req.AdditionalDirectories, system)
	return a.resumed(ctx, s, values, modes, options, meta)
}

// hasPrompt reports whether the session was opened with this system prompt.
func (s *session) hasPrompt(p *acp.SystemPrompt) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p == nil || s.system == nil {
		return p == s.system
	}
	return p.Mode == s.system.Mode && p.Text() == s.system.Text()
}

// load loads a session. Its history reaches the client only if replay is set.
func (a *adapter) load(ctx context.Context, replay bool, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	s := a.session(req.SessionID)
	s.mu.Lock()
	if s.turn != nil {
		s.mu.Unlock()
		return nil, rpcerr.InvalidRequest(nil).WithDetail("the session is working on a prompt: cancel it, or resume without replayFrom")
	}
	before := s.closed
	s.closed, s.replays, s.silent = false, true, !replay
	s.messages = fold.Messages[acp2.MessageID]{}
	clear(s.titles)
	clear(s.echoes)
	clear(s.others)
	s.mu.Unlock()
	res, err := a.below.LoadSession(ctx, req)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replays, s.silent = false, false
	s.messages.Close()
	if err != nil {
		s.closed = before
	}
	return res, err
}

// resumed reports the state of a session and returns the response to the request that opened it.
func (a *adapter) resumed(ctx context.Context, s *session, values []acp.InitialSessionConfigOption, modes *acp.SessionModeState, options []acp.SessionConfigOption, meta acp2.Meta) (*acp2.ResumeSessionResponse, error) {
	converted, commands, err := s.started(false, modes, options)
	if err != nil {
		return nil, err
	}
	converted = a.startInMode(ctx, s, values, converted)
	if err := a.above.Session(acp2.SessionID(s.id)).SendState(ctx); err != nil {
		return nil, err
	}
	return &acp2.ResumeSessionResponse{ConfigOptions: converted, AvailableCommands: commands, Meta: meta}, nil
}

// maxResting is how many sessions that are not open are remembered. These are closed sessions,
// whose updates must not reach the client, and sessions that only the agent has named, such as
// those of subagents.
const maxResting = 256

// session returns the session with that id. It creates the session if necessary, because the agent
// may send updates of a session before the response that opens it.
func (a *adapter) session(id acp.SessionID) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[id]
	if s == nil {
		s = a.makeLocked(id)
		a.restLocked(s)
	} else if s.rests {
		a.restLocked(s)
	}
	return s
}

// lookup returns the session with that id, or nil.
func (a *adapter) lookup(id acp2.SessionID) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sessions[acp.SessionID(id)]
}

// known returns a session that is open on this connection, or an error.
func (a *adapter) known(id acp2.SessionID) (*session, error) {
	if s := a.lookup(id); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open {
			return s, nil
		}
	}
	return nil, rpcerr.SessionNotFound(string(id))
}

func (a *adapter) makeLocked(id acp.SessionID) *session {
	s := &session{id: id, titles: map[acp.ToolCallID]string{}, echoes: map[acp.MessageID]acp2.MessageID{}, others: map[string]struct{}{}, asked: map[chan struct{}]struct{}{}}
	a.sessions[id] = s
	return s
}

// restLocked moves a session that is not open to the end of resting, and forgets the first one if
// there are too many.
func (a *adapter) restLocked(s *session) {
	a.wakeLocked(s)
	s.rests = true
	if a.resting = append(a.resting, s); len(a.resting) > maxResting {
		oldest := a.resting[0]
		a.wakeLocked(oldest)
		delete(a.sessions, oldest.id)
	}
}

func (a *adapter) wakeLocked(s *session) {
	if s.rests {
		s.rests = false
		i := slices.Index(a.resting, s)
		a.resting = slices.Delete(a.resting, i, i+1)
	}
}

// hold returns the session with that id. The session is not forgotten until release is called. If
// release finds that it was created by hold and is not open, the session is forgotten.
func (a *adapter) hold(id acp.SessionID) (s *session, release func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s = a.sessions[id]
	existed := s != nil
	if !existed {
		s = a.makeLocked(id)
	}
	a.wakeLocked(s)
	s.holds++
	return s, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		s.holds--
		switch {
		case s.holds > 0 || slices.Contains(a.opened, id):
		case existed:
			a.restLocked(s)
		default:
			delete(a.sessions, id)
		}
	}
}

// opens records that a session is open on this connection.
func (a *adapter) opens(id acp.SessionID, cwd acp2.AbsolutePath, directories []acp2.AbsolutePath, system *acp.SystemPrompt) *session {
	s, release := a.hold(id)
	defer release()
	s.mu.Lock()
	s.open, s.closed, s.system = true, false, system
	s.info.SessionID, s.info.Cwd, s.info.AdditionalDirectories = acp2.SessionID(id), cwd, slices.Clone(directories)
	s.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Contains(a.opened, id) {
		a.opened = append(a.opened, id)
	}
	return s
}

// forgets records that a session is no longer open.
func (a *adapter) forgets(id acp2.SessionID) {
	own := acp.SessionID(id)
	a.mu.Lock()
	s := a.sessions[own]
	a.opened = slices.DeleteFunc(a.opened, func(o acp.SessionID) bool { return o == own })
	if s != nil && s.holds == 0 {
		a.restLocked(s)
	}
	a.mu.Unlock()
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open, s.closed = false, true
		s.settings, s.messages = settings{}, fold.Messages[acp2.MessageID]{}
		clear(s.titles)
		clear(s.others)
	}
}
