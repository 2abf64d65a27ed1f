package interop_test

import (
	"context"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// What the agent does in a session, besides turns.

func (p *goAgent) doInSession(ctx context.Context, params any) (any, error) {
	id := sessionOf(params)
	p.mu.Lock()
	s := p.sessions[acp.SessionID(id)]
	p.mu.Unlock()
	if s == nil {
		return nil, rpcerr.SessionNotFound(id)
	}
	switch req := params.(type) {
	case *acp.PromptRequest:
		return p.prompt(ctx, s, req)
	case *acp.LoadSessionRequest:
		for _, u := range s.history {
			if err := p.conn.Session(s.id).Update(ctx, u); err != nil {
				return nil, err
			}
		}
		return &acp.LoadSessionResponse{Modes: s.modes(), ConfigOptions: s.options()}, nil
	case *acp.ResumeSessionRequest:
		return &acp.ResumeSessionResponse{Modes: s.modes(), ConfigOptions: s.options()}, nil
	case *acp.ForkSessionRequest:
		fork := p.create(req.Cwd)
		fork.history = slices.Clone(s.history)
		return &acp.ForkSessionResponse{SessionID: fork.id, Modes: fork.modes(), ConfigOptions: fork.options()}, nil
	case *acp.SetSessionModeRequest:
		if !slices.Contains([]acp.SessionModeID{"ask", "code"}, req.ModeID) {
			return nil, rpcerr.InvalidParams(map[string]any{"modeId": req.ModeID})
		}
		s.mode = req.ModeID
		return nil, p.conn.Session(s.id).Mode(ctx, s.mode)
	case *acp.SetSessionConfigOptionRequest:
		if err := s.set(req); err != nil {
			return nil, err
		}
		return &acp.SetSessionConfigOptionResponse{ConfigOptions: s.options()}, nil
	case *acp.ArchiveSessionRequest:
		s.archived = true
	case *acp.UnarchiveSessionRequest:
		s.archived = false
	case *acp.SessionStatusRequest:
		if s.archived {
			return &acp.SessionStatusResponse{Status: acp.SessionStatusSaved}, nil
		}
		return &acp.SessionStatusResponse{Status: acp.SessionStatusOpen}, nil
	case *acp.SetSessionTitleRequest:
		s.title = strings.TrimSpace(req.Title)
		if s.title == "" {
			return nil, rpcerr.InvalidParams(nil).WithDetail("empty title")
		}
		return &acp.SetSessionTitleResponse{Title: s.title}, nil
	}
	return nil, nil
}

func (s *goSession) modes() *acp.SessionModeState {
	return &acp.SessionModeState{
		CurrentModeID:  s.mode,
		AvailableModes: []acp.SessionMode{{ID: "ask", Name: "Ask", Description: "asks first"}, {ID: "code", Name: "Code"}},
	}
}

func (s *goSession) options() []acp.SessionConfigOption {
	return parse[[]acp.SessionConfigOption](optionsFormat, "id", "group", s.model, s.effort, s.web)
}

func (s *goSession) set(req *acp.SetSessionConfigOptionRequest) error {
	switch v := req.Value.(type) {
	case *acp.SessionConfigValue:
		switch req.ConfigID {
		case "model":
			s.model = v.Value
		case "effort":
			s.effort = v.Value
		default:
			return rpcerr.InvalidParams(map[string]any{"configId": req.ConfigID})
		}
	case *acp.SessionConfigBooleanValue:
		s.web = v.Value
	default:
		return rpcerr.InvalidParams(nil)
	}
	return nil
}
