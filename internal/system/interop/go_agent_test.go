package interop_test

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/rpcerr"
)

// goAgent is the agent of peers/README.md, made with package agent. It takes every
// optional method there is.
type goAgent struct {
	conn *agent.Conn

	ourAgent
	provider *acp.ProviderCurrentConfig // guarded by record.mu, like the rest
	made     int
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
	return &goAgent{conn: conn, ourAgent: ourAgent{record: record{changed: make(chan struct{})}, client: conn}, sessions: map[acp.SessionID]*goSession{}}
}

func (p *goAgent) find(id acp.SessionID) (*goSession, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.sessions[id]; s != nil {
		return s, nil
	}
	return nil, rpcerr.SessionNotFound(string(id))
}

func (p *goAgent) Initialize(_ context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	p.note("initialize", req)
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
	}, nil
}

func (p *goAgent) Authenticate(ctx context.Context, req *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	p.note("authenticate", req)
	if req.MethodID != "token" {
		return nil, rpcerr.InvalidParams(map[string]any{"methodId": req.MethodID}).WithDetail("unknown method")
	}
	if p.conn.ClientCapabilities().Has("elicitation.form") {
		id, _ := agent.RequestID(ctx)
		answer, err := p.conn.CreateElicitation(ctx, &acp.CreateElicitationRequest{
			Message: "Your token?",
			Mode: &acp.ElicitationFormMode{
				Scope: &acp.ElicitationRequestScope{RequestID: id},
				RequestedSchema: acp.ElicitationSchema{
					Properties: map[string]acp.ElicitationPropertySchema{"token": &acp.StringPropertySchema{MinLength: new(uint32(3))}},
					Required:   []string{"token"},
				},
			},
		})
		if err != nil {
			return nil, err
		}
		p.note("answer:authenticate", answer)
		if _, ok := answer.Action.(*acp.ElicitationAcceptAction); !ok {
			return nil, rpcerr.AuthRequired(nil)
		}
	}
	p.setAuthenticated(true)
	return nil, nil
}

func (p *goAgent) Logout(context.Context, *acp.LogoutRequest) (*acp.LogoutResponse, error) {
	p.setAuthenticated(false)
	return &acp.LogoutResponse{}, nil
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

func (p *goAgent) NewSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	p.note("session/new", req)
	if path.Base(req.Cwd) == "locked" && !p.isAuthenticated() {
		return nil, rpcerr.AuthRequired(nil)
	}
	s := p.create(req.Cwd)
	agent.AfterResponse(ctx, func(ctx context.Context) {
		_ = p.conn.Session(s.id).Commands(ctx, acp.AvailableCommand{Name: "greet", Description: "says hello"})
	})
	modes, options := s.state()
	return &acp.NewSessionResponse{SessionID: s.id, Modes: modes, ConfigOptions: options}, nil
}

func (p *goAgent) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	p.note("session/load", req)
	s, err := p.find(req.SessionID)
	if err != nil {
		return nil, err
	}
	for _, u := range s.history {
		if err := p.conn.Session(s.id).Update(ctx, u); err != nil {
			return nil, err
		}
	}
	modes, options := s.state()
	return &acp.LoadSessionResponse{Modes: modes, ConfigOptions: options}, nil
}

func (p *goAgent) ResumeSession(_ context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	p.note("session/resume", req)
	s, err := p.find(req.SessionID)
	if err != nil {
		return nil, err
	}
	modes, options := s.state()
	return &acp.ResumeSessionResponse{Modes: modes, ConfigOptions: options}, nil
}

// ListSessions gives two sessions a page; the cursor is the place of the next one.
func (p *goAgent) ListSessions(_ context.Context, req *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	p.note("session/list", req)
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

func (p *goAgent) CloseSession(_ context.Context, req *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	p.note("session/close", req)
	_, err := p.find(req.SessionID)
	return nil, err
}

func (p *goAgent) DeleteSession(_ context.Context, req *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	p.note("session/delete", req)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, req.SessionID)
	p.order = slices.DeleteFunc(p.order, func(id acp.SessionID) bool { return id == req.SessionID })
	return &acp.DeleteSessionResponse{}, nil
}

func (p *goAgent) Cancel(_ context.Context, n *acp.CancelNotification) error {
	p.note("session/cancel", n)
	return nil
}

func (p *goAgent) HandleExtensionNotification(_ context.Context, method string, params json.RawMessage) error {
	if strings.HasPrefix(method, "_interop/") {
		p.note(method, params)
	}
	return nil
}
