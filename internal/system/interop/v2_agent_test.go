package interop_test

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

// goAgent2 is the agent of version 2 of peers/README.md, made with package draft2/agent. It
// takes every optional method there is.
type goAgent2 struct {
	peertest.FullAgent
	conn *agent.Conn

	ourAgent
	provider atomic.Pointer[acp.ProviderCurrentConfig]
	made     int // guarded by record.mu, like the rest
	order    []acp.SessionID
	sessions map[acp.SessionID]*goSession2
}

// goSession2 is guarded by the lock of its agent.
type goSession2 struct {
	id            acp.SessionID
	cwd           acp.AbsolutePath
	title         string
	archived      bool
	model, effort acp.SessionConfigValueID
	web           bool
	colour        string
	history       []acp.SessionUpdate
	terminals     int
	finish        func()            // ends the prompt "wait"; nil while there is none
	cancels       map[string]func() // by the id of the tool call or terminal in the background
}

func newGoAgent2(conn *agent.Conn) acp.Agent {
	p := &goAgent2{conn: conn, ourAgent: ourAgent{record: record{changed: make(chan struct{})}, client: conn}, sessions: map[acp.SessionID]*goSession2{}}
	p.Do = p.do
	return p
}

// do handles every request and notification.
func (p *goAgent2) do(ctx context.Context, method string, params any) (any, error) {
	if raw, ok := params.(json.RawMessage); ok {
		if method == "_interop/finish" {
			return nil, p.finish(raw)
		}
		return p.extension(ctx, method, raw)
	}
	p.note(method, params)
	switch req := params.(type) {
	case *acp.InitializeRequest:
		return p.initialize(), nil
	case *acp.LoginAuthRequest:
		return nil, p.login(ctx, req)
	case *acp.LogoutAuthRequest:
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
	case *acp.CancelSessionNotification:
	default:
		return p.doInSession(ctx, params)
	}
	return nil, nil
}

func (p *goAgent2) initialize() *acp.InitializeResponse {
	caps := agent.Capabilities(p)
	caps.Session.Prompt = &acp.PromptCapabilities{
		Image: &acp.PromptImageCapabilities{}, Audio: &acp.PromptAudioCapabilities{}, EmbeddedContext: &acp.PromptEmbeddedContextCapabilities{},
	}
	caps.Session.MCP = &acp.MCPCapabilities{Stdio: &acp.MCPStdioCapabilities{}, HTTP: &acp.MCPHTTPCapabilities{}}
	caps.Session.AdditionalDirectories = &acp.SessionAdditionalDirectoriesCapabilities{}
	return &acp.InitializeResponse{
		Info:         acp.Implementation{Name: "interop-go-agent", Title: "Interop", Version: "2.0.0"},
		Capabilities: caps,
		AuthMethods: []acp.AuthMethod{
			&acp.AuthMethodAgent{MethodID: "token", Name: "Token", Description: "asks for a token"},
			&acp.AuthMethodTerminal{MethodID: "tty", Name: "Terminal", Args: []string{"login"}, Env: []acp.EnvVariable{{Name: "LOGIN", Value: "1"}}},
			&acp.UnknownAuthMethod{Type: "_passkey", Raw: json.RawMessage(`{"type":"_passkey","methodId":"pk","name":"Passkey","party":"example.com"}`)},
		},
	}
}

func (p *goAgent2) login(ctx context.Context, req *acp.LoginAuthRequest) error {
	if req.MethodID != "token" {
		return rpcerr.InvalidParams(map[string]any{"methodId": req.MethodID}).WithDetail("unknown method")
	}
	if p.conn.ClientCapabilities().Has("elicitation.form") {
		id, _ := agent.RequestID(ctx)
		answer, err := p.elicit(ctx, "auth/login", tokenFormat, id)
		if err != nil {
			return err
		}
		if _, ok := answer.Action.(*acp.ElicitationAcceptAction); !ok {
			return rpcerr.AuthRequired(nil)
		}
	}
	p.authenticated.Store(true)
	return p.conn.AuthStatusUpdate(ctx, &acp.AuthStatusUpdateNotification{State: acp.AuthStateAuthenticated})
}

// elicit asks the user. The response goes into the journal.
func (p *goAgent2) elicit(ctx context.Context, label, format string, args ...any) (*acp.CreateElicitationResponse, error) {
	answer, err := p.conn.CreateElicitation(ctx, parse[*acp.CreateElicitationRequest](format, args...))
	p.tell(label, answer, err)
	return answer, err
}

func (p *goAgent2) create(cwd acp.AbsolutePath, history []acp.SessionUpdate) *goSession2 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	s := &goSession2{
		id: acp.SessionID("session-" + strconv.Itoa(p.made)), cwd: cwd,
		model: "small", effort: "low", colour: "#fff", history: slices.Clone(history), cancels: map[string]func(){},
	}
	p.sessions[s.id] = s
	p.order = append(p.order, s.id)
	return s
}

func (p *goAgent2) newSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	for _, server := range req.MCPServers {
		if unknown, ok := server.(*acp.UnknownMCPServer); ok {
			return nil, rpcerr.InvalidParams(map[string]any{"type": unknown.Type}).WithDetail("unsupported MCP server transport")
		}
	}
	if path.Base(string(req.Cwd)) == "locked" && !p.authenticated.Load() {
		return nil, rpcerr.AuthRequired(nil)
	}
	s := p.create(req.Cwd, nil)
	agent.AfterResponse(ctx, func(ctx context.Context) {
		_ = p.conn.Session(s.id).SetCommands(ctx, &acp.Command{Name: "greet", Description: "says hello"},
			&acp.UnknownAvailableCommand{Type: "_macro", Raw: json.RawMessage(`{"type":"_macro","name":"twice","description":"twice","keys":"gg"}`)})
	})
	return &acp.NewSessionResponse{SessionID: s.id, ConfigOptions: p.options(s), AvailableCommands: commands2()}, nil
}

func commands2() []acp.AvailableCommand {
	return []acp.AvailableCommand{&acp.Command{Name: "greet", Description: "says hello"}}
}

// listSessions gives two sessions a page. The cursor of the second page is the empty
// string, which is a cursor like any other.
func (p *goAgent2) listSessions(req *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	start := 0
	switch {
	case req.Cursor == nil:
	case *req.Cursor == "":
		start = 2
	default:
		var err error
		if start, err = strconv.Atoi(string(*req.Cursor)); err != nil {
			return nil, rpcerr.InvalidParams(map[string]any{"cursor": *req.Cursor}).WithCause(err)
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
		res.Sessions, res.NextCursor = res.Sessions[:2], new(acp.SessionListCursor(strconv.Itoa(start+2)))
		if start == 0 {
			res.NextCursor = new(acp.SessionListCursor(""))
		}
	}
	return res, nil
}
