package interop_test

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strconv"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

// goAgent2 is the agent of version 2 of peers/README.md, made with package agent/v2. It
// takes every optional method there is.
type goAgent2 struct {
	conn *agent.Conn

	ourAgent
	provider *acp.ProviderCurrentConfig // guarded by record.mu, like the rest
	made     int
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
	return &goAgent2{conn: conn, ourAgent: ourAgent{record: record{changed: make(chan struct{})}, client: conn}, sessions: map[acp.SessionID]*goSession2{}}
}

func (p *goAgent2) find(id acp.SessionID) (*goSession2, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.sessions[id]; s != nil {
		return s, nil
	}
	return nil, rpcerr.SessionNotFound(string(id))
}

func (p *goAgent2) Initialize(_ context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	p.note(acp.MethodInitialize, req)
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
	}, nil
}

func (p *goAgent2) Login(ctx context.Context, req *acp.LoginAuthRequest) (*acp.LoginAuthResponse, error) {
	p.note(acp.MethodAuthLogin, req)
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
					Type:       acp.ElicitationSchemaTypeObject,
					Properties: map[string]acp.ElicitationPropertySchema{"token": &acp.StringPropertySchema{MinLength: new(uint32(3))}},
					Required:   []string{"token"},
				},
			},
		})
		if err != nil {
			return nil, err
		}
		p.note("answer:auth/login", answer)
		if _, ok := answer.Action.(*acp.ElicitationAcceptAction); !ok {
			return nil, rpcerr.AuthRequired(nil)
		}
	}
	p.setAuthenticated(true)
	return nil, p.conn.AuthStatusUpdate(ctx, &acp.AuthStatusUpdateNotification{State: acp.AuthStateAuthenticated})
}

func (p *goAgent2) Logout(context.Context, *acp.LogoutAuthRequest) (*acp.LogoutAuthResponse, error) {
	p.setAuthenticated(false)
	return &acp.LogoutAuthResponse{}, nil
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

func (p *goAgent2) NewSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	p.note(acp.MethodSessionNew, req)
	for _, server := range req.MCPServers {
		if unknown, ok := server.(*acp.UnknownMCPServer); ok {
			return nil, rpcerr.InvalidParams(map[string]any{"type": unknown.Type}).WithDetail("unsupported MCP server transport")
		}
	}
	if path.Base(string(req.Cwd)) == "locked" && !p.isAuthenticated() {
		return nil, rpcerr.AuthRequired(nil)
	}
	s := p.create(req.Cwd, nil)
	agent.AfterResponse(ctx, func(ctx context.Context) {
		_ = p.conn.Session(s.id).Commands(ctx, &acp.Command{Name: "greet", Description: "says hello"},
			&acp.UnknownAvailableCommand{Type: "_macro", Raw: json.RawMessage(`{"type":"_macro","name":"twice","description":"twice","keys":"gg"}`)})
	})
	return &acp.NewSessionResponse{SessionID: s.id, ConfigOptions: p.options(s), AvailableCommands: commands2()}, nil
}

func commands2() []acp.AvailableCommand {
	return []acp.AvailableCommand{&acp.Command{Name: "greet", Description: "says hello"}}
}

// ListSessions gives two sessions a page. The cursor of the second page is the empty
// string, which is a cursor like any other.
func (p *goAgent2) ListSessions(_ context.Context, req *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	p.note(acp.MethodSessionList, req)
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

// ResumeSession replays a message of the user as a reset and its chunks.
func (p *goAgent2) ResumeSession(ctx context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	p.note(acp.MethodSessionResume, req)
	s, err := p.find(req.SessionID)
	if err != nil {
		return nil, err
	}
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
	if err := session.State(ctx); err != nil {
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

// CloseSession has nothing to do: the ctx of all work has ended, and the connection waits
// for the work before it responds.
func (p *goAgent2) CloseSession(_ context.Context, req *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	p.note(acp.MethodSessionClose, req)
	_, err := p.find(req.SessionID)
	return nil, err
}

func (p *goAgent2) DeleteSession(_ context.Context, req *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	p.note(acp.MethodSessionDelete, req)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, req.SessionID)
	p.order = slices.DeleteFunc(p.order, func(id acp.SessionID) bool { return id == req.SessionID })
	return &acp.DeleteSessionResponse{}, nil
}

func (p *goAgent2) Cancel(_ context.Context, n *acp.CancelSessionNotification) error {
	p.note(acp.MethodSessionCancel, n)
	return nil
}
