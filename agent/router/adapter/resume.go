package adapter

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

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
	servers, err := a.opening(req.MCPServers, req.AdditionalDirectories, req.SystemPrompt)
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
			MCPServers: servers, Meta: req.Meta,
		})
		if err == nil {
			modes, options, meta = res.Modes, res.ConfigOptions, res.Meta
		}
	case !replay && known == nil: // it is open already
		return a.resumed(ctx, s, nil, nil, nil)
	case a.has("loadSession"):
		_, release := a.hold(acp.SessionID(req.SessionID))
		defer release()
		var res *acp.LoadSessionResponse
		res, err = a.load(ctx, replay, &acp.LoadSessionRequest{
			SessionID: acp.SessionID(req.SessionID), Cwd: string(req.Cwd), AdditionalDirectories: paths(req.AdditionalDirectories),
			MCPServers: servers, Meta: req.Meta,
		})
		if err == nil {
			modes, options, meta = res.Modes, res.ConfigOptions, res.Meta
		}
	default:
		err = known
	}
	if err != nil {
		return nil, err
	}
	s = a.opens(acp.SessionID(req.SessionID), req.Cwd, req.AdditionalDirectories)
	return a.resumed(ctx, s, modes, options, meta)
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
	s.messages = messages{}
	clear(s.titles)
	clear(s.others)
	s.mu.Unlock()
	res, err := a.below.LoadSession(ctx, req)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replays, s.silent = false, false
	s.messages.end()
	if err != nil {
		s.closed = before
	}
	return res, err
}

// resumed reports the state of a session and returns the response to the request that opened it.
func (a *adapter) resumed(ctx context.Context, s *session, modes *acp.SessionModeState, options []acp.SessionConfigOption, meta acp2.Meta) (*acp2.ResumeSessionResponse, error) {
	converted, commands, err := s.started(modes, options)
	if err != nil {
		return nil, err
	}
	if err := a.above.Session(acp2.SessionID(s.id)).State(ctx); err != nil {
		return nil, err
	}
	return &acp2.ResumeSessionResponse{ConfigOptions: converted, AvailableCommands: commands, Meta: meta}, nil
}
