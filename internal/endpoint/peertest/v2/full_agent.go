package peertest

import (
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// FullAgent is an agent with every method, extensions included. All of them call Do.
type FullAgent struct{ Do peertest.Do }

// Initialize implements acp.Agent.
func (a *FullAgent) Initialize(ctx context.Context, p *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodInitialize, p, &acp.InitializeResponse{})
}

// NewSession implements acp.Agent. Its session is called s.
func (a *FullAgent) NewSession(ctx context.Context, p *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodSessionNew, p, &acp.NewSessionResponse{SessionID: "s"})
}

// ListSessions implements acp.Agent.
func (a *FullAgent) ListSessions(ctx context.Context, p *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodSessionList, p, &acp.ListSessionsResponse{})
}

// ResumeSession implements acp.Agent.
func (a *FullAgent) ResumeSession(ctx context.Context, p *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodSessionResume, p, &acp.ResumeSessionResponse{})
}

// CloseSession implements acp.Agent.
func (a *FullAgent) CloseSession(ctx context.Context, p *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodSessionClose, p, &acp.CloseSessionResponse{})
}

// Prompt implements acp.Agent. The id of its message is m.
func (a *FullAgent) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodSessionPrompt, p, &acp.PromptResponse{MessageID: "m"})
}

// Cancel implements acp.Agent.
func (a *FullAgent) Cancel(ctx context.Context, p *acp.CancelSessionNotification) error {
	return peertest.Note(ctx, a.Do, acp.MethodSessionCancel, p)
}

// SetSessionConfigOption implements acp.SessionConfigOptionSetter.
func (a *FullAgent) SetSessionConfigOption(ctx context.Context, p *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodSessionSetConfigOption, p, &acp.SetSessionConfigOptionResponse{})
}

// DeleteSession implements acp.SessionDeleter.
func (a *FullAgent) DeleteSession(ctx context.Context, p *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodSessionDelete, p, &acp.DeleteSessionResponse{})
}

// CancelToolCall implements acp.ToolCallCanceller.
func (a *FullAgent) CancelToolCall(ctx context.Context, p *acp.CancelToolCallRequest) (*acp.CancelToolCallResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodToolCallCancel, p, &acp.CancelToolCallResponse{})
}

// CancelTerminal implements acp.TerminalCanceller.
func (a *FullAgent) CancelTerminal(ctx context.Context, p *acp.CancelTerminalRequest) (*acp.CancelTerminalResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodTerminalCancel, p, &acp.CancelTerminalResponse{})
}

// Login implements acp.Authenticator.
func (a *FullAgent) Login(ctx context.Context, p *acp.LoginAuthRequest) (*acp.LoginAuthResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodAuthLogin, p, &acp.LoginAuthResponse{})
}

// Logout implements acp.Authenticator.
func (a *FullAgent) Logout(ctx context.Context, p *acp.LogoutAuthRequest) (*acp.LogoutAuthResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodAuthLogout, p, &acp.LogoutAuthResponse{})
}

// ListProviders implements acp.ProviderManager.
func (a *FullAgent) ListProviders(ctx context.Context, p *acp.ListProvidersRequest) (*acp.ListProvidersResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodProvidersList, p, &acp.ListProvidersResponse{})
}

// SetProvider implements acp.ProviderManager.
func (a *FullAgent) SetProvider(ctx context.Context, p *acp.SetProviderRequest) (*acp.SetProviderResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodProvidersSet, p, &acp.SetProviderResponse{})
}

// DisableProvider implements acp.ProviderManager.
func (a *FullAgent) DisableProvider(ctx context.Context, p *acp.DisableProviderRequest) (*acp.DisableProviderResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodProvidersDisable, p, &acp.DisableProviderResponse{})
}

// ForkSession implements acp.SessionForker.
func (a *FullAgent) ForkSession(ctx context.Context, p *acp.ForkSessionRequest) (*acp.ForkSessionResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodSessionFork, p, &acp.ForkSessionResponse{SessionID: "f"})
}

// ArchiveSession implements acp.SessionArchiver.
func (a *FullAgent) ArchiveSession(ctx context.Context, p *acp.ArchiveSessionRequest) (*acp.ArchiveSessionResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodSessionArchive, p, &acp.ArchiveSessionResponse{})
}

// UnarchiveSession implements acp.SessionArchiver.
func (a *FullAgent) UnarchiveSession(ctx context.Context, p *acp.UnarchiveSessionRequest) (*acp.UnarchiveSessionResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodSessionUnarchive, p, &acp.UnarchiveSessionResponse{})
}

// SessionStatus implements acp.SessionStatusReporter.
func (a *FullAgent) SessionStatus(ctx context.Context, p *acp.SessionStatusRequest) (*acp.SessionStatusResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodSessionStatus, p, &acp.SessionStatusResponse{Status: "open"})
}

// SetSessionTitle implements acp.SessionTitleSetter.
func (a *FullAgent) SetSessionTitle(ctx context.Context, p *acp.SetSessionTitleRequest) (*acp.SetSessionTitleResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodSessionSetTitle, p, &acp.SetSessionTitleResponse{})
}

// AuthStatus implements acp.AuthStatusReporter.
func (a *FullAgent) AuthStatus(ctx context.Context, p *acp.AuthStatusRequest) (*acp.AuthStatusResponse, error) {
	return peertest.Result(ctx, a.Do, acp.MethodAuthStatus, p, &acp.AuthStatusResponse{State: "authenticated"})
}

// MessageMCPNotification implements acp.MCPNotificationHandler.
func (a *FullAgent) MessageMCPNotification(ctx context.Context, p *acp.MessageMCPNotification) error {
	return peertest.Note(ctx, a.Do, acp.MethodMCPMessage, p)
}

// HandleExtension implements acp.ExtensionHandler. Its own response is what it was given.
func (a *FullAgent) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return peertest.Extension(ctx, a.Do, method, params)
}

// HandleExtensionNotification implements acp.ExtensionNotificationHandler.
func (a *FullAgent) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return peertest.Note(ctx, a.Do, method, params)
}
