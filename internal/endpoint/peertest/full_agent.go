package peertest

import (
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
)

// FullAgent is an agent with every method, extensions included. All of them call Do.
type FullAgent struct{ Do Do }

// Initialize implements acp.Agent.
func (a *FullAgent) Initialize(ctx context.Context, p *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return Result(ctx, a.Do, acp.MethodInitialize, p, &acp.InitializeResponse{})
}

// NewSession implements acp.Agent. Its session is called s.
func (a *FullAgent) NewSession(ctx context.Context, p *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return Result(ctx, a.Do, acp.MethodSessionNew, p, &acp.NewSessionResponse{SessionID: "s"})
}

// Prompt implements acp.Agent.
func (a *FullAgent) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	return Result(ctx, a.Do, acp.MethodSessionPrompt, p, &acp.PromptResponse{StopReason: acp.StopReasonEndTurn})
}

// Cancel implements acp.Agent.
func (a *FullAgent) Cancel(ctx context.Context, p *acp.CancelNotification) error {
	return Note(ctx, a.Do, acp.MethodSessionCancel, p)
}

// Authenticate implements acp.Authenticator.
func (a *FullAgent) Authenticate(ctx context.Context, p *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	return Result(ctx, a.Do, acp.MethodAuthenticate, p, &acp.AuthenticateResponse{})
}

// Logout implements acp.LogoutHandler.
func (a *FullAgent) Logout(ctx context.Context, p *acp.LogoutRequest) (*acp.LogoutResponse, error) {
	return Result(ctx, a.Do, acp.MethodLogout, p, &acp.LogoutResponse{})
}

// LoadSession implements acp.SessionLoader.
func (a *FullAgent) LoadSession(ctx context.Context, p *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	return Result(ctx, a.Do, acp.MethodSessionLoad, p, &acp.LoadSessionResponse{})
}

// ResumeSession implements acp.SessionResumer.
func (a *FullAgent) ResumeSession(ctx context.Context, p *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	return Result(ctx, a.Do, acp.MethodSessionResume, p, &acp.ResumeSessionResponse{})
}

// ListSessions implements acp.SessionLister.
func (a *FullAgent) ListSessions(ctx context.Context, p *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	return Result(ctx, a.Do, acp.MethodSessionList, p, &acp.ListSessionsResponse{})
}

// DeleteSession implements acp.SessionDeleter.
func (a *FullAgent) DeleteSession(ctx context.Context, p *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	return Result(ctx, a.Do, acp.MethodSessionDelete, p, &acp.DeleteSessionResponse{})
}

// CloseSession implements acp.SessionCloser.
func (a *FullAgent) CloseSession(ctx context.Context, p *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	return Result(ctx, a.Do, acp.MethodSessionClose, p, &acp.CloseSessionResponse{})
}

// SetSessionMode implements acp.SessionModeSetter.
func (a *FullAgent) SetSessionMode(ctx context.Context, p *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	return Result(ctx, a.Do, acp.MethodSessionSetMode, p, &acp.SetSessionModeResponse{})
}

// SetSessionConfigOption implements acp.SessionConfigOptionSetter.
func (a *FullAgent) SetSessionConfigOption(ctx context.Context, p *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	return Result(ctx, a.Do, acp.MethodSessionSetConfigOption, p, &acp.SetSessionConfigOptionResponse{})
}

// ListProviders implements acp.ProviderManager.
func (a *FullAgent) ListProviders(ctx context.Context, p *acp.ListProvidersRequest) (*acp.ListProvidersResponse, error) {
	return Result(ctx, a.Do, acp.MethodProvidersList, p, &acp.ListProvidersResponse{})
}

// SetProvider implements acp.ProviderManager.
func (a *FullAgent) SetProvider(ctx context.Context, p *acp.SetProviderRequest) (*acp.SetProviderResponse, error) {
	return Result(ctx, a.Do, acp.MethodProvidersSet, p, &acp.SetProviderResponse{})
}

// DisableProvider implements acp.ProviderManager.
func (a *FullAgent) DisableProvider(ctx context.Context, p *acp.DisableProviderRequest) (*acp.DisableProviderResponse, error) {
	return Result(ctx, a.Do, acp.MethodProvidersDisable, p, &acp.DisableProviderResponse{})
}

// ForkSession implements acp.SessionForker.
func (a *FullAgent) ForkSession(ctx context.Context, p *acp.ForkSessionRequest) (*acp.ForkSessionResponse, error) {
	return Result(ctx, a.Do, acp.MethodSessionFork, p, &acp.ForkSessionResponse{SessionID: "f"})
}

// ArchiveSession implements acp.SessionArchiver.
func (a *FullAgent) ArchiveSession(ctx context.Context, p *acp.ArchiveSessionRequest) (*acp.ArchiveSessionResponse, error) {
	return Result(ctx, a.Do, acp.MethodSessionArchive, p, &acp.ArchiveSessionResponse{})
}

// UnarchiveSession implements acp.SessionArchiver.
func (a *FullAgent) UnarchiveSession(ctx context.Context, p *acp.UnarchiveSessionRequest) (*acp.UnarchiveSessionResponse, error) {
	return Result(ctx, a.Do, acp.MethodSessionUnarchive, p, &acp.UnarchiveSessionResponse{})
}

// SessionStatus implements acp.SessionStatusReporter.
func (a *FullAgent) SessionStatus(ctx context.Context, p *acp.SessionStatusRequest) (*acp.SessionStatusResponse, error) {
	return Result(ctx, a.Do, acp.MethodSessionStatus, p, &acp.SessionStatusResponse{Status: "open"})
}

// SetSessionTitle implements acp.SessionTitleSetter.
func (a *FullAgent) SetSessionTitle(ctx context.Context, p *acp.SetSessionTitleRequest) (*acp.SetSessionTitleResponse, error) {
	return Result(ctx, a.Do, acp.MethodSessionSetTitle, p, &acp.SetSessionTitleResponse{})
}

// AuthStatus implements acp.AuthStatusReporter.
func (a *FullAgent) AuthStatus(ctx context.Context, p *acp.AuthStatusRequest) (*acp.AuthStatusResponse, error) {
	return Result(ctx, a.Do, acp.MethodAuthStatus, p, &acp.AuthStatusResponse{State: "authenticated"})
}

// MessageMCPNotification implements acp.MCPNotificationHandler.
func (a *FullAgent) MessageMCPNotification(ctx context.Context, p *acp.MessageMCPNotification) error {
	return Note(ctx, a.Do, acp.MethodMCPMessage, p)
}

// HandleExtension implements acp.ExtensionHandler. Its default result is the params.
func (a *FullAgent) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return Extension(ctx, a.Do, method, params)
}

// HandleExtensionNotification implements acp.ExtensionNotificationHandler.
func (a *FullAgent) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return Note(ctx, a.Do, method, params)
}
