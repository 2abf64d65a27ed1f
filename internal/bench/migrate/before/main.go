// Command before is examples/echo as it is written with github.com/coder/acp-go-sdk.
package main

import (
	"context"
	"os"

	"github.com/coder/acp-go-sdk"
)

type echo struct{ conn *acp.AgentSideConnection }

func (e *echo) Initialize(context.Context, acp.InitializeRequest) (acp.InitializeResponse, error) {
	return acp.InitializeResponse{ProtocolVersion: acp.ProtocolVersionNumber}, nil
}

func (e *echo) NewSession(context.Context, acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	return acp.NewSessionResponse{SessionId: "the-only-one"}, nil
}

func (e *echo) Prompt(ctx context.Context, req acp.PromptRequest) (acp.PromptResponse, error) {
	said := "You said: "
	for _, block := range req.Prompt {
		if block.Text != nil {
			said += block.Text.Text
		}
	}
	err := e.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: req.SessionId, Update: acp.UpdateAgentMessageText(said)})
	return acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, err
}

func (e *echo) Cancel(context.Context, acp.CancelNotification) error { return nil }

// Every agent must have the methods below.

func (e *echo) Authenticate(context.Context, acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	return acp.AuthenticateResponse{}, acp.NewMethodNotFound(acp.AgentMethodAuthenticate)
}

func (e *echo) CloseSession(context.Context, acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	return acp.CloseSessionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionClose)
}

func (e *echo) ListSessions(context.Context, acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	return acp.ListSessionsResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionList)
}

func (e *echo) Logout(context.Context, acp.LogoutRequest) (acp.LogoutResponse, error) {
	return acp.LogoutResponse{}, acp.NewMethodNotFound(acp.AgentMethodLogout)
}

func (e *echo) ResumeSession(context.Context, acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	return acp.ResumeSessionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionResume)
}

func (e *echo) SetSessionConfigOption(context.Context, acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	return acp.SetSessionConfigOptionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionSetConfigOption)
}

func (e *echo) SetSessionMode(context.Context, acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	return acp.SetSessionModeResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionSetMode)
}

func main() {
	e := &echo{}
	e.conn = acp.NewAgentSideConnection(e, os.Stdout, os.Stdin)
	<-e.conn.Done()
}
