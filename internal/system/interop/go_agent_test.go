package interop_test

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// goAgent is the agent of peers/README.md, made with package agent. It takes every
// optional method there is.
type goAgent struct {
	peertest.FullAgent
	conn *agent.Conn

	ourAgent
	provider atomic.Pointer[acp.ProviderCurrentConfig]
	made     int // guarded by record.mu, like the rest
	order    []acp.SessionID
	sessions map[acp.SessionID]*goSession
}

type goSession struct {
	id       acp.SessionID
	cwd      string
	title    string
	mode     acp.SessionModeID
	archived bool
	model    acp.SessionConfigValueID
	effort   acp.SessionConfigValueID
	web      bool
	history  []acp.SessionUpdate
}

func newGoAgent(conn *agent.Conn) acp.Agent {
	p := &goAgent{conn: conn, ourAgent: ourAgent{record: record{changed: make(chan struct{})}, client: conn}, sessions: map[acp.SessionID]*goSession{}}
	p.Do = p.do
	return p
}

// do handles every request and notification.
func (p *goAgent) do(ctx context.Context, method string, params any) (any, error) {
	if raw, ok := params.(json.RawMessage); ok {
		return p.extension(ctx, method, raw)
	}
	p.note(method, params)
	switch req := params.(type) {
	case *acp.InitializeRequest:
		return p.initialize(), nil
	case *acp.AuthenticateRequest:
		return nil, p.authenticate(ctx, req)
	case *acp.LogoutRequest:
		p.authenticated.Store(false)
	case *acp.AuthStatusRequest:
		if !p.authenticated.Load() {
			return &acp.AuthStatusResponse{State: acp.AuthStateUnauthenticated}, nil
		}
		me := acp.AuthAccount{Label: "me", Active: new(true), Email: "me@example.com"}
		return &acp.AuthStatusResponse{State: acp.AuthStateAuthenticated, Accounts: []acp.AuthAccount{me}}, nil
	case *acp.NewSessionRequest:
		return p.newSession(ctx, req)
	case *acp.ListSessionsRequest:
		return p.listSessions(req)
	case *acp.DeleteSessionRequest:
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.sessions, req.SessionID)
		p.order = slices.DeleteFunc(p.order, func(id acp.SessionID) bool { return id == req.SessionID })
	case *acp.ListProvidersRequest:
		return &acp.ListProvidersResponse{Providers: []acp.ProviderInfo{{
			ProviderID: "main", Supported: []acp.LLMProtocol{acp.LLMProtocolAnthropic, acp.LLMProtocolOpenAI}, Current: p.provider.Load(),
		}}}, nil
	case *acp.SetProviderRequest:
		p.provider.Store(&acp.ProviderCurrentConfig{APIType: req.APIType, BaseURL: req.BaseURL})
	case *acp.DisableProviderRequest:
		p.provider.Store(nil)
	case *acp.CancelNotification:
	default:
		return p.doInSession(ctx, params)
	}
	return nil, nil
}

func (p *goAgent) initialize() *acp.InitializeResponse {
	caps := agent.Capabilities(p)
	caps.PromptCapabilities = &acp.PromptCapabilities{Image: true, Audio: true, EmbeddedContext: true}
	caps.MCPCapabilities = &acp.MCPCapabilities{HTTP: true, SSE: true}
	caps.SessionCapabilities.AdditionalDirectories = &acp.SessionAdditionalDirectoriesCapabilities{}
	return &acp.InitializeResponse{
		AgentInfo:         &acp.Implementation{Name: "interop-go-agent", Title: "Interop", Version: "1.0.0"},
		AgentCapabilities: caps,
		AuthMethods: []acp.AuthMethod{
			&acp.AuthMethodAgent{ID: "token", Name: "Token", Description: "asks for a token"},
			&acp.AuthMethodTerminal{ID: "tty", Name: "Terminal", Args: []string{"login"}, Env: map[string]string{"LOGIN": "1"}},
		},
	}
}

func (p *goAgent) authenticate(ctx context.Context, req *acp.AuthenticateRequest) error {
	if req.MethodID != "token" {
		return rpcerr.InvalidParams(map[string]any{"methodId": req.MethodID}).WithDetail("unknown method")
	}
	if p.conn.ClientCapabilities().Has("elicitation.form") {
		id, _ := agent.RequestID(ctx)
		answer, err := p.elicit(ctx, "authenticate", tokenFormat, id)
		if err != nil {
			return err
		}
		if _, ok := answer.Action.(*acp.ElicitationAcceptAction); !ok {
			return rpcerr.AuthRequired(nil)
		}
	}
	p.authenticated.Store(true)
	return nil
}

// elicit asks the user. The response goes into the journal.
func (p *goAgent) elicit(ctx context.Context, label, format string, args ...any) (*acp.CreateElicitationResponse, error) {
	answer, err := p.conn.CreateElicitation(ctx, parse[*acp.CreateElicitationRequest](format, args...))
	p.tell(label, answer, err)
	return answer, err
}

func (p *goAgent) create(cwd string) *goSession {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	s := &goSession{
		id: acp.SessionID("session-" + strconv.Itoa(p.made)), cwd: cwd,
		mode: "ask", model: "small", effort: "low",
	}
	p.sessions[s.id] = s
	p.order = append(p.order, s.id)
	return s
}

func (p *goAgent) newSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	if path.Base(req.Cwd) == "locked" && !p.authenticated.Load() {
		return nil, rpcerr.AuthRequired(nil)
	}
	s := p.create(req.Cwd)
	agent.AfterResponse(ctx, func(ctx context.Context) {
		_ = p.conn.Session(s.id).SetCommands(ctx, acp.AvailableCommand{Name: "greet", Description: "says hello"})
	})
	return &acp.NewSessionResponse{SessionID: s.id, Modes: s.modes(), ConfigOptions: s.options()}, nil
}

// listSessions gives two sessions a page; the cursor is the place of the next one.
func (p *goAgent) listSessions(req *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	start := 0
	if req.Cursor != "" {
		var err error
		if start, err = strconv.Atoi(req.Cursor); err != nil {
			return nil, rpcerr.InvalidParams(map[string]any{"cursor": req.Cursor}).WithCause(err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []acp.SessionInfo
	for _, id := range p.order {
		s := p.sessions[id]
		if req.Cwd == "" || req.Cwd == s.cwd {
			all = append(all, acp.SessionInfo{SessionID: id, Cwd: s.cwd, Title: s.title, UpdatedAt: "2026-11-20T10:00:00Z"})
		}
	}
	res := &acp.ListSessionsResponse{Sessions: all[min(start, len(all)):]}
	if len(res.Sessions) > 2 {
		res.Sessions, res.NextCursor = res.Sessions[:2], strconv.Itoa(start+2)
	}
	return res, nil
}

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
		return nil, p.conn.Session(s.id).SetMode(ctx, s.mode)
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
