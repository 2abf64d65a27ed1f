package interop_test

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The options of the agent of version 2, its unstable methods, and the extensions of the
// tests.

func (p *goAgent2) options(s *goSession2) []acp.SessionConfigOption {
	p.mu.Lock()
	defer p.mu.Unlock()
	return []acp.SessionConfigOption{
		{ConfigID: "model", Name: "Model", Category: acp.SessionConfigOptionCategoryModel, Kind: &acp.SessionConfigSelect{
			CurrentValue: s.model,
			Options: acp.SessionConfigSelectOptions{Ungrouped: []acp.SessionConfigSelectOption{
				{Value: "small", Name: "Small"}, {Value: "big", Name: "Big", Description: "slower"},
			}},
		}},
		{ConfigID: "effort", Name: "Effort", Kind: &acp.SessionConfigSelect{
			CurrentValue: s.effort,
			Options: acp.SessionConfigSelectOptions{Grouped: []acp.SessionConfigSelectGroup{{
				GroupID: "usual", Name: "Usual",
				Options: []acp.SessionConfigSelectOption{{Value: "low", Name: "Low"}, {Value: "high", Name: "High"}},
			}}},
		}},
		{ConfigID: "web", Name: "Web", Kind: &acp.SessionConfigBoolean{CurrentValue: s.web}},
		{ConfigID: "colour", Name: "Colour", Kind: &acp.UnknownSessionConfigKind{
			Type: "_colour", Raw: json.RawMessage(`{"type":"_colour","currentValue":"` + s.colour + `"}`),
		}},
	}
}

func (p *goAgent2) SetSessionConfigOption(_ context.Context, req *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	p.note(acp.MethodSessionSetConfigOption, req)
	s, err := p.find(req.SessionID)
	if err != nil {
		return nil, err
	}
	if err := p.set(s, req); err != nil {
		return nil, err
	}
	return &acp.SetSessionConfigOptionResponse{ConfigOptions: p.options(s)}, nil
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

func (p *goAgent2) AuthStatus(context.Context, *acp.AuthStatusRequest) (*acp.AuthStatusResponse, error) {
	if !p.isAuthenticated() {
		return &acp.AuthStatusResponse{State: acp.AuthStateUnauthenticated}, nil
	}
	return &acp.AuthStatusResponse{
		State:    acp.AuthStateAuthenticated,
		Accounts: []acp.AuthAccount{{Label: "me", Active: new(true), Email: "me@example.com"}},
	}, nil
}

func (p *goAgent2) ForkSession(_ context.Context, req *acp.ForkSessionRequest) (*acp.ForkSessionResponse, error) {
	p.note(acp.MethodSessionFork, req)
	from, err := p.find(req.SessionID)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	history := from.history
	p.mu.Unlock()
	s := p.create(req.Cwd, history)
	return &acp.ForkSessionResponse{SessionID: s.id, ConfigOptions: p.options(s), AvailableCommands: commands2()}, nil
}

func (p *goAgent2) ArchiveSession(_ context.Context, req *acp.ArchiveSessionRequest) (*acp.ArchiveSessionResponse, error) {
	return nil, p.archive(req.SessionID, true)
}

func (p *goAgent2) UnarchiveSession(_ context.Context, req *acp.UnarchiveSessionRequest) (*acp.UnarchiveSessionResponse, error) {
	return nil, p.archive(req.SessionID, false)
}

func (p *goAgent2) archive(id acp.SessionID, yes bool) error {
	s, err := p.find(id)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.archived = yes
	return nil
}

func (p *goAgent2) SessionStatus(_ context.Context, req *acp.SessionStatusRequest) (*acp.SessionStatusResponse, error) {
	s, err := p.find(req.SessionID)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.archived {
		return &acp.SessionStatusResponse{Status: acp.SessionStatusSaved}, nil
	}
	return &acp.SessionStatusResponse{Status: acp.SessionStatusOpen, State: &acp.IdleStateUpdate{}}, nil
}

func (p *goAgent2) SetSessionTitle(_ context.Context, req *acp.SetSessionTitleRequest) (*acp.SetSessionTitleResponse, error) {
	s, err := p.find(req.SessionID)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.title = strings.TrimSpace(req.Title)
	if s.title == "" {
		return nil, rpcerr.InvalidParams(nil).WithDetail("empty title")
	}
	return &acp.SetSessionTitleResponse{Title: s.title}, nil
}

func (p *goAgent2) ListProviders(context.Context, *acp.ListProvidersRequest) (*acp.ListProvidersResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &acp.ListProvidersResponse{Providers: []acp.ProviderInfo{{
		ProviderID: "main", Supported: []acp.LLMProtocol{acp.LLMProtocolAnthropic, acp.LLMProtocolOpenAI}, Current: p.provider,
	}}}, nil
}

func (p *goAgent2) SetProvider(_ context.Context, req *acp.SetProviderRequest) (*acp.SetProviderResponse, error) {
	return nil, p.setProvider(&acp.ProviderCurrentConfig{APIType: req.APIType, BaseURL: req.BaseURL})
}

func (p *goAgent2) DisableProvider(context.Context, *acp.DisableProviderRequest) (*acp.DisableProviderResponse, error) {
	return nil, p.setProvider(nil)
}

func (p *goAgent2) setProvider(config *acp.ProviderCurrentConfig) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.provider = config
	return nil
}

func (p *goAgent2) HandleExtensionNotification(_ context.Context, method string, params json.RawMessage) error {
	p.note(method, params)
	if method != "_interop/finish" {
		return nil
	}
	var which struct{ SessionID acp.SessionID }
	if err := json.Unmarshal(params, &which); err != nil {
		return err
	}
	s, err := p.find(which.SessionID)
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
