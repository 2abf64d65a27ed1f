package kit

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/history"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

type conn struct {
	agent *Agent
	conn  *agent.Conn
}

var (
	_ acp.SessionLoader             = (*conn)(nil)
	_ acp.SessionResumer            = (*conn)(nil)
	_ acp.SessionLister             = (*conn)(nil)
	_ acp.SessionCloser             = (*conn)(nil)
	_ acp.SessionDeleter            = (*conn)(nil)
	_ acp.SessionModeSetter         = (*conn)(nil)
	_ acp.SessionConfigOptionSetter = (*conn)(nil)
	_ acp.Authenticator             = (*conn)(nil)
	_ acp.ExtensionHandler          = (*conn)(nil)
	_ acp.Selective                 = (*conn)(nil)
	_ agent.PromptRefuser           = (*conn)(nil)
	_ acp.SystemPromptApplier       = (*conn)(nil)
	_ acp.SessionOptionsReporter    = (*conn)(nil)
)

// Handles implements acp.Selective.
func (c *conn) Handles(method string) bool {
	o := &c.agent.opts
	switch method {
	case acp.MethodSessionSetMode:
		return len(o.Modes) > 0
	case acp.MethodSessionSetConfigOption:
		return len(o.Modes) > 0 || len(o.Settings) > 0
	case acp.MethodSessionOptions:
		return c.conn.Unstable() && (len(o.Modes) > 0 || len(o.Settings) > 0)
	case acp.MethodAuthenticate:
		return o.Auth != nil && len(o.Auth.Methods) > 0
	}
	return true
}

func (c *conn) Initialize(ctx context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	a := c.agent
	if a.err != nil {
		a.log.Error("the options of the agent cannot be used", "error", a.err)
		return nil, a.err
	}
	caps := agent.Capabilities(c)
	caps.PromptCapabilities = promptCapabilities(a.opts.Images == nil || a.opts.Images(ctx), a.opts.Audio)
	if a.opts.MCP != nil {
		caps.MCPCapabilities = a.opts.MCP.Capabilities()
	}
	caps.SessionCapabilities.AdditionalDirectories = &acp.SessionAdditionalDirectoriesCapabilities{}
	res := &acp.InitializeResponse{AgentCapabilities: caps, AuthMethods: a.opts.Auth.methods(req.ClientCapabilities)}
	if a.opts.Info.Name != "" {
		res.AgentInfo = &a.opts.Info
	}
	return res, nil
}

func (c *conn) Authenticate(ctx context.Context, req *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	return &acp.AuthenticateResponse{}, c.agent.opts.Auth.signIn(ctx, req.MethodID)
}

func (c *conn) NewSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	s, err := c.create(ctx, where{wire.TrimPath(req.Cwd), req.AdditionalDirectories, req.MCPServers, req.SystemPrompt, c.initial(req.ConfigOptions)})
	if err != nil {
		return nil, err
	}
	s.announce(ctx)
	return &acp.NewSessionResponse{SessionID: s.id, Modes: s.modes(), ConfigOptions: s.configOptions()}, nil
}

func (c *conn) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	s, h, err := c.open(ctx, req.SessionID, where{wire.TrimPath(req.Cwd), req.AdditionalDirectories, req.MCPServers, req.SystemPrompt, c.initial(req.ConfigOptions)})
	if err != nil {
		return nil, err
	}
	if err := h.replay(ctx, s); err != nil {
		s.abandon(errClosed)
		return nil, err
	}
	s.announce(ctx)
	return &acp.LoadSessionResponse{Modes: s.modes(), ConfigOptions: s.configOptions()}, nil
}

func (c *conn) ResumeSession(ctx context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	s, _, err := c.open(ctx, req.SessionID, where{wire.TrimPath(req.Cwd), req.AdditionalDirectories, req.MCPServers, req.SystemPrompt, c.initial(req.ConfigOptions)})
	if err != nil {
		return nil, err
	}
	s.announce(ctx)
	return &acp.ResumeSessionResponse{Modes: s.modes(), ConfigOptions: s.configOptions()}, nil
}

func (c *conn) ListSessions(ctx context.Context, req *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	return history.List(ctx, c.agent.opts.Store, c.agent.owner(ctx), req, func(journal.Meta) bool { return true })
}

func (c *conn) CloseSession(ctx context.Context, req *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	return &acp.CloseSessionResponse{}, c.close(ctx, req.SessionID)
}

func (c *conn) DeleteSession(ctx context.Context, req *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	return &acp.DeleteSessionResponse{}, c.delete(ctx, req.SessionID)
}

func (c *conn) Cancel(context.Context, *acp.CancelNotification) error { return nil } // the ctx of the turns is done

func (c *conn) SetSessionMode(ctx context.Context, req *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	s, err := c.session(ctx, req.SessionID)
	if err != nil {
		return nil, err
	}
	return &acp.SetSessionModeResponse{}, s.set(ctx, modeSetting, string(req.ModeID), byMode)
}

func (c *conn) SetSessionConfigOption(ctx context.Context, req *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	s, err := c.session(ctx, req.SessionID)
	if err != nil {
		return nil, err
	}
	value, ok := req.Value.(*acp.SessionConfigValue)
	if !ok {
		return nil, rpcerr.InvalidParams(map[string]any{"configId": req.ConfigID}).WithDetail("this option takes one of the values that it lists")
	}
	if err := s.set(ctx, string(req.ConfigID), string(value.Value), byOption); err != nil {
		return nil, err
	}
	return &acp.SetSessionConfigOptionResponse{ConfigOptions: s.configOptions()}, nil
}

// RefusesPrompt implements agent.PromptRefuser.
func (c *conn) RefusesPrompt(ctx context.Context) error {
	return cmp.Or(c.agent.opts.Auth.ready(ctx), c.agent.hasRoom(ctx))
}

// HandleExtension implements acp.ExtensionHandler.
func (c *conn) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	if c.agent.opts.Extension == nil {
		return nil, rpcerr.MethodNotFound(method)
	}
	return c.agent.opts.Extension(ctx, c.conn, method, params)
}
