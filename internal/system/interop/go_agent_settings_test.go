package interop_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The modes and options, and the unstable methods.

func (s *goSession) state() (*acp.SessionModeState, []acp.SessionConfigOption) {
	return &acp.SessionModeState{
		CurrentModeID:  s.mode,
		AvailableModes: []acp.SessionMode{{ID: "ask", Name: "Ask", Description: "asks first"}, {ID: "code", Name: "Code"}},
	}, s.options()
}

func (s *goSession) options() []acp.SessionConfigOption {
	return []acp.SessionConfigOption{
		{ID: "model", Name: "Model", Category: acp.SessionConfigOptionCategoryModel, Kind: &acp.SessionConfigSelect{
			CurrentValue: s.model,
			Options: acp.SessionConfigSelectOptions{Ungrouped: []acp.SessionConfigSelectOption{
				{Value: "small", Name: "Small"}, {Value: "big", Name: "Big", Description: "slower"},
			}},
		}},
		{ID: "effort", Name: "Effort", Kind: &acp.SessionConfigSelect{
			CurrentValue: s.effort,
			Options: acp.SessionConfigSelectOptions{Grouped: []acp.SessionConfigSelectGroup{{
				Group: "usual", Name: "Usual",
				Options: []acp.SessionConfigSelectOption{{Value: "low", Name: "Low"}, {Value: "high", Name: "High"}},
			}}},
		}},
		{ID: "web", Name: "Web", Kind: &acp.SessionConfigBoolean{CurrentValue: s.web}},
	}
}

func (p *goAgent) SetSessionMode(ctx context.Context, req *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	p.note("session/set_mode", req)
	s, err := p.find(req.SessionID)
	if err != nil {
		return nil, err
	}
	if !slices.Contains([]acp.SessionModeID{"ask", "code"}, req.ModeID) {
		return nil, rpcerr.InvalidParams(map[string]any{"modeId": req.ModeID})
	}
	s.mode = req.ModeID
	return nil, p.conn.Session(s.id).Mode(ctx, s.mode)
}

func (p *goAgent) SetSessionConfigOption(_ context.Context, req *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	p.note("session/set_config_option", req)
	s, err := p.find(req.SessionID)
	if err != nil {
		return nil, err
	}
	switch v := req.Value.(type) {
	case *acp.SessionConfigValue:
		switch req.ConfigID {
		case "model":
			s.model = v.Value
		case "effort":
			s.effort = v.Value
		default:
			return nil, rpcerr.InvalidParams(map[string]any{"configId": req.ConfigID})
		}
	case *acp.SessionConfigBooleanValue:
		s.web = v.Value
	default:
		return nil, rpcerr.InvalidParams(nil)
	}
	return &acp.SetSessionConfigOptionResponse{ConfigOptions: s.options()}, nil
}

func (p *goAgent) AuthStatus(context.Context, *acp.AuthStatusRequest) (*acp.AuthStatusResponse, error) {
	if !p.isAuthenticated() {
		return &acp.AuthStatusResponse{State: acp.AuthStateUnauthenticated}, nil
	}
	return &acp.AuthStatusResponse{
		State:    acp.AuthStateAuthenticated,
		Accounts: []acp.AuthAccount{{Label: "me", Active: new(true), Email: "me@example.com"}},
	}, nil
}

func (p *goAgent) ForkSession(_ context.Context, req *acp.ForkSessionRequest) (*acp.ForkSessionResponse, error) {
	p.note("session/fork", req)
	from, err := p.find(req.SessionID)
	if err != nil {
		return nil, err
	}
	s := p.create(req.Cwd)
	s.history = slices.Clone(from.history)
	modes, options := s.state()
	return &acp.ForkSessionResponse{SessionID: s.id, Modes: modes, ConfigOptions: options}, nil
}

func (p *goAgent) ArchiveSession(_ context.Context, req *acp.ArchiveSessionRequest) (*acp.ArchiveSessionResponse, error) {
	return nil, p.archive(req.SessionID, true)
}

func (p *goAgent) UnarchiveSession(_ context.Context, req *acp.UnarchiveSessionRequest) (*acp.UnarchiveSessionResponse, error) {
	return nil, p.archive(req.SessionID, false)
}

func (p *goAgent) archive(id acp.SessionID, yes bool) error {
	s, err := p.find(id)
	if err == nil {
		s.archived = yes
	}
	return err
}

func (p *goAgent) SessionStatus(_ context.Context, req *acp.SessionStatusRequest) (*acp.SessionStatusResponse, error) {
	s, err := p.find(req.SessionID)
	if err != nil {
		return nil, err
	}
	if s.archived {
		return &acp.SessionStatusResponse{Status: acp.SessionStatusSaved}, nil
	}
	return &acp.SessionStatusResponse{Status: acp.SessionStatusOpen}, nil
}

func (p *goAgent) SetSessionTitle(_ context.Context, req *acp.SetSessionTitleRequest) (*acp.SetSessionTitleResponse, error) {
	s, err := p.find(req.SessionID)
	if err != nil {
		return nil, err
	}
	s.title = strings.TrimSpace(req.Title)
	if s.title == "" {
		return nil, rpcerr.InvalidParams(nil).WithDetail("empty title")
	}
	return &acp.SetSessionTitleResponse{Title: s.title}, nil
}

func (p *goAgent) ListProviders(context.Context, *acp.ListProvidersRequest) (*acp.ListProvidersResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &acp.ListProvidersResponse{Providers: []acp.ProviderInfo{{
		ProviderID: "main", Supported: []acp.LLMProtocol{acp.LLMProtocolAnthropic, acp.LLMProtocolOpenAI}, Current: p.provider,
	}}}, nil
}

func (p *goAgent) SetProvider(_ context.Context, req *acp.SetProviderRequest) (*acp.SetProviderResponse, error) {
	return nil, p.setProvider(&acp.ProviderCurrentConfig{APIType: req.APIType, BaseURL: req.BaseURL})
}

func (p *goAgent) DisableProvider(context.Context, *acp.DisableProviderRequest) (*acp.DisableProviderResponse, error) {
	return nil, p.setProvider(nil)
}

func (p *goAgent) setProvider(config *acp.ProviderCurrentConfig) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.provider = config
	return nil
}

//go:embed peers/updates.json
var updatesFile []byte

// allUpdates are the updates of peers/updates.json for one session.
func allUpdates(id acp.SessionID) []*acp.SessionNotification {
	var raw []json.RawMessage
	if err := json.Unmarshal(updatesFile, &raw); err != nil {
		panic(err)
	}
	all := make([]*acp.SessionNotification, len(raw))
	for i, u := range raw {
		b, err := json.Marshal(map[string]any{"sessionId": id, "update": u})
		if err != nil {
			panic(err)
		}
		all[i] = new(acp.SessionNotification)
		if err := json.Unmarshal(b, all[i]); err != nil {
			panic(err)
		}
	}
	return all
}

// form asks with one field of each kind, then with a form that is declined.
func (t turn) form() error {
	scope := &acp.ElicitationSessionScope{SessionID: t.session.id, ToolCallID: "call-1"}
	answer, err := t.conn.CreateElicitation(t.ctx, &acp.CreateElicitationRequest{
		Message: "Settings?",
		Mode: &acp.ElicitationFormMode{Scope: scope, RequestedSchema: acp.ElicitationSchema{
			Title:    "Settings",
			Required: []string{"name"},
			Properties: map[string]acp.ElicitationPropertySchema{
				"name":  &acp.StringPropertySchema{Title: "Name", MinLength: new(uint32(1)), MaxLength: new(uint32(20)), Default: acp.Some("")},
				"mail":  &acp.StringPropertySchema{Format: acp.StringFormatEmail},
				"level": &acp.IntegerPropertySchema{Minimum: new(int64(0)), Maximum: new(int64(9)), Default: acp.Some(int64(0))},
				"share": &acp.NumberPropertySchema{Minimum: new(0.0), Maximum: new(1.0)},
				"web":   &acp.BooleanPropertySchema{Default: acp.Some(false)},
				"size":  &acp.StringPropertySchema{OneOf: []acp.EnumOption{{Const: "s", Title: "Small"}, {Const: "l", Title: "Large"}}},
				"tags":  &acp.MultiSelectPropertySchema{MinItems: new(uint64(1)), Items: &acp.StringMultiSelectItems{Enum: []string{"a", "b", "c"}}},
			},
		}},
	})
	t.tell("form", answer, err)
	answer, err = t.conn.CreateElicitation(t.ctx, &acp.CreateElicitationRequest{
		Message: "Decline me",
		Mode: &acp.ElicitationFormMode{
			Scope:           &acp.ElicitationSessionScope{SessionID: t.session.id},
			RequestedSchema: acp.ElicitationSchema{Properties: map[string]acp.ElicitationPropertySchema{}},
		},
	})
	t.tell("form declined", answer, err)
	return nil
}

func (t turn) url() error {
	answer, err := t.conn.CreateElicitation(t.ctx, &acp.CreateElicitationRequest{
		Message: "Open this",
		Mode: &acp.ElicitationURLMode{
			Scope:         &acp.ElicitationSessionScope{SessionID: t.session.id},
			ElicitationID: "el-1", URL: "https://example.com/login",
		},
	})
	t.tell("url", answer, err)
	if err := t.conn.CompleteElicitation(t.ctx, &acp.CompleteElicitationNotification{ElicitationID: "el-1"}); err != nil {
		return err
	}
	return t.say("completed")
}
