package adapter

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Initialize initializes the connection to the agent. It returns the capabilities of the agent that
// version 2 has too.
func (a *adapter) Initialize(ctx context.Context, req *acp2.InitializeRequest) (*acp2.InitializeResponse, error) {
	if err := a.start(ctx); err != nil {
		return nil, err
	}
	info, err := convert[acp.Implementation](req.Info)
	if err != nil {
		return nil, err
	}
	caps, err := clientCapabilities(req.Capabilities)
	if err != nil {
		return nil, err
	}
	res, err := a.below.Initialize(ctx, &acp.InitializeRequest{ClientInfo: info, ClientCapabilities: caps, Meta: req.Meta})
	if err != nil {
		return nil, err
	}
	own := res.AgentCapabilities
	if own == nil {
		own = &acp.AgentCapabilities{}
	}
	a.mu.Lock()
	a.caps = own
	a.mu.Unlock()
	out := &acp2.InitializeResponse{
		ProtocolVersion: acp2.ProtocolVersion, Meta: res.Meta,
		Info: acp2.Implementation{Name: "unknown", Version: "unknown"},
	}
	if res.AgentInfo != nil {
		converted, err := convert[acp2.Implementation](res.AgentInfo)
		if err != nil {
			return nil, err
		}
		out.Info = *converted
	}
	out.Capabilities = agentCapabilities(own, a.above.Unstable())
	if out.AuthMethods, err = authMethods(res.AuthMethods); err != nil {
		return nil, err
	}
	return out, nil
}

// clientCapabilities returns the capabilities of a client of version 2 in the form of
// version 1. Such a client has neither files nor terminals, and shows all kinds of updates.
func clientCapabilities(offered *acp2.ClientCapabilities) (*acp.ClientCapabilities, error) {
	caps := &acp.ClientCapabilities{
		FS: &acp.FileSystemCapabilities{},
		Session: &acp.ClientSessionCapabilities{
			Compaction:    &acp.CompactionCapabilities{},
			ConfigOptions: &acp.SessionConfigOptionsCapabilities{Boolean: &acp.BooleanConfigOptionCapabilities{}},
			Notices:       &acp.NoticeCapabilities{},
			Cursors:       &acp.SessionCursorsCapabilities{},
		},
		Plan:      &acp.PlanCapabilities{},
		Subagents: &acp.SubagentCapabilities{},
		Auth:      &acp.AuthCapabilities{},
	}
	if offered == nil {
		return caps, nil
	}
	caps.Auth.Terminal = offered.Auth != nil && offered.Auth.Terminal != nil
	caps.Meta = offered.Meta
	if offered.Session != nil {
		caps.Session.PromptSuggestions = offered.Session.PromptSuggestions
	}
	if offered.Elicitation != nil {
		elicitation, err := convert[acp.ElicitationCapabilities](offered.Elicitation)
		if err != nil {
			return nil, err
		}
		caps.Elicitation = elicitation
	}
	return caps, nil
}

// agentCapabilities returns the capabilities of an agent of version 1 in the form of
// version 2, with those of unstable methods if they are allowed.
func agentCapabilities(own *acp.AgentCapabilities, unstable bool) *acp2.AgentCapabilities {
	session := &acp2.SessionCapabilities{
		Prompt: &acp2.PromptCapabilities{},
		MCP:    &acp2.MCPCapabilities{Stdio: &acp2.MCPStdioCapabilities{}},
	}
	if p := own.PromptCapabilities; p != nil {
		session.Prompt.Meta = p.Meta
		if p.Image {
			session.Prompt.Image = &acp2.PromptImageCapabilities{}
		}
		if p.Audio {
			session.Prompt.Audio = &acp2.PromptAudioCapabilities{}
		}
		if p.EmbeddedContext {
			session.Prompt.EmbeddedContext = &acp2.PromptEmbeddedContextCapabilities{}
		}
	}
	if own.Has("mcpCapabilities.http") {
		session.MCP.HTTP = &acp2.MCPHTTPCapabilities{}
	}
	if s := own.SessionCapabilities; s != nil {
		session.Meta = s.Meta
		if s.Delete != nil {
			session.Delete = &acp2.SessionDeleteCapabilities{Meta: s.Delete.Meta}
		}
		if s.AdditionalDirectories != nil {
			session.AdditionalDirectories = &acp2.SessionAdditionalDirectoriesCapabilities{Meta: s.AdditionalDirectories.Meta}
		}
		session.SystemPrompt = s.SystemPrompt
		if unstable {
			session.Options, session.Fork = s.Options, s.Fork
		}
	}
	return &acp2.AgentCapabilities{Session: session, Meta: own.Meta}
}

// has reports whether the agent advertised a capability.
func (a *adapter) has(path string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.caps.Has(path)
}

// Login signs the user in.
func (a *adapter) Login(ctx context.Context, req *acp2.LoginAuthRequest) (*acp2.LoginAuthResponse, error) {
	defer a.outsideSession(ctx)()
	res, err := a.below.Authenticate(ctx, &acp.AuthenticateRequest{MethodID: acp.AuthMethodID(req.MethodID), Meta: req.Meta})
	if err != nil {
		return nil, err
	}
	return &acp2.LoginAuthResponse{Meta: res.Meta}, nil
}

// Logout signs the user out, if the agent can do that.
func (a *adapter) Logout(ctx context.Context, req *acp2.LogoutAuthRequest) (*acp2.LogoutAuthResponse, error) {
	if !a.has("auth.logout") {
		return nil, rpcerr.MethodNotFound(acp2.MethodAuthLogout)
	}
	defer a.outsideSession(ctx)()
	res, err := a.below.Logout(ctx, &acp.LogoutRequest{Meta: req.Meta})
	if err != nil {
		return nil, err
	}
	return &acp2.LogoutAuthResponse{Meta: res.Meta}, nil
}
