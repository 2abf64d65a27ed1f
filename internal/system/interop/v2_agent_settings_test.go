package interop_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/rpcerr"
)

// What the agent of version 2 does in a session, besides the work on prompts.

func (p *goAgent2) doInSession(ctx context.Context, params any) (any, error) {
	s, err := p.find(sessionOf(params))
	if err != nil {
		return nil, err
	}
	switch req := params.(type) {
	case *acp.PromptRequest:
		return p.prompt(ctx, s, req)
	case *acp.ResumeSessionRequest:
		return p.resume(ctx, s, req)
	case *acp.ForkSessionRequest:
		p.mu.Lock()
		history := s.history
		p.mu.Unlock()
		fork := p.create(req.Cwd, history)
		return &acp.ForkSessionResponse{SessionID: fork.id, ConfigOptions: p.options(fork), AvailableCommands: commands2()}, nil
	case *acp.SetSessionConfigOptionRequest:
		if err := p.set(s, req); err != nil {
			return nil, err
		}
		return &acp.SetSessionConfigOptionResponse{ConfigOptions: p.options(s)}, nil
	case *acp.CancelToolCallRequest:
		return nil, p.cancelOne(ctx, s, "toolCallId", string(req.ToolCallID))
	case *acp.CancelTerminalRequest:
		return nil, p.cancelOne(ctx, s, "terminalId", string(req.TerminalID))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch req := params.(type) {
	case *acp.ArchiveSessionRequest:
		s.archived = true
	case *acp.UnarchiveSessionRequest:
		s.archived = false
	case *acp.SessionStatusRequest:
		if s.archived {
			return &acp.SessionStatusResponse{Status: acp.SessionStatusSaved}, nil
		}
		return &acp.SessionStatusResponse{Status: acp.SessionStatusOpen, State: &acp.IdleStateUpdate{}}, nil
	case *acp.SetSessionTitleRequest:
		s.title = strings.TrimSpace(req.Title)
		if s.title == "" {
			return nil, rpcerr.InvalidParams(nil).WithDetail("empty title")
		}
		return &acp.SetSessionTitleResponse{Title: s.title}, nil
	}
	return nil, nil // session/close, for which the connection waits until the work has ended
}

func (p *goAgent2) find(id string) (*goSession2, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.sessions[acp.SessionID(id)]; s != nil {
		return s, nil
	}
	return nil, rpcerr.SessionNotFound(id)
}

func (p *goAgent2) options(s *goSession2) []acp.SessionConfigOption {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append(parse[[]acp.SessionConfigOption](optionsFormat, "configId", "groupId", s.model, s.effort, s.web),
		parse[acp.SessionConfigOption](`{"configId":"colour","name":"Colour","type":"_colour","currentValue":%q}`, s.colour))
}

func (p *goAgent2) set(s *goSession2, req *acp.SetSessionConfigOptionRequest) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	unknown := rpcerr.InvalidParams(map[string]any{"configId": req.ConfigID})
	switch v := req.Value.(type) {
	case *acp.SessionConfigValue:
		switch req.ConfigID {
		case "model":
			s.model = v.Value
		case "effort":
			s.effort = v.Value
		default:
			return unknown
		}
	case *acp.SessionConfigBooleanValue:
		s.web = v.Value
	case *acp.UnknownSessionConfigOptionValue:
		var colour struct{ Value string }
		if v.Type != "_colour" || json.Unmarshal(v.Raw, &colour) != nil {
			return unknown
		}
		s.colour = colour.Value
	}
	return nil
}

// resume replays a message of the user as a reset and its chunks.
func (p *goAgent2) resume(ctx context.Context, s *goSession2, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	session := p.conn.Session(s.id)
	switch from := req.ReplayFrom.(type) {
	case nil:
	case *acp.ReplayFromStart:
		if err := p.replay(ctx, s, session); err != nil {
			return nil, err
		}
	case *acp.UnknownReplayFrom:
		return nil, rpcerr.InvalidParams(map[string]any{"replayFrom": from.Type})
	}
	if err := session.SendState(ctx); err != nil {
		return nil, err
	}
	return &acp.ResumeSessionResponse{ConfigOptions: p.options(s), AvailableCommands: commands2()}, nil
}

func (p *goAgent2) replay(ctx context.Context, s *goSession2, session *agent.Session) error {
	p.mu.Lock()
	history := slices.Clone(s.history)
	p.mu.Unlock()
	for _, u := range history {
		said, ok := u.(*acp.UserMessage)
		if !ok {
			if err := session.Update(ctx, u); err != nil {
				return err
			}
			continue
		}
		if err := session.UserMessage(ctx, said.MessageID); err != nil {
			return err
		}
		content, _ := said.Content.Get()
		for _, block := range content {
			if err := session.Update(ctx, &acp.UserMessageChunk{MessageID: said.MessageID, Content: block}); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish ends the prompt "wait".
func (p *goAgent2) finish(params json.RawMessage) error {
	s, err := p.find(sessionOf(params))
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.finish != nil {
		s.finish()
	}
	return nil
}
