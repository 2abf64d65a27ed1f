package agent

import (
	"context"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// NoHistory implements the methods of [acp.Agent] that have nothing to do in an agent which
// keeps no sessions after their connection. An agent that embeds it implements only
// Initialize, NewSession and Prompt:
//
//	type echo struct {
//		agent.NoHistory
//		conn *agent.Conn
//	}
//
// An agent that keeps its sessions must implement ListSessions and ResumeSession itself, and
// may still embed NoHistory for the others. The zero value is ready for use. All methods are
// safe for concurrent use.
type NoHistory struct{}

// ListSessions returns an empty list, and refuses every cursor: it has returned none.
//
// Protocol: session/list.
func (NoHistory) ListSessions(_ context.Context, req *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	if req.Cursor != nil {
		return nil, rpcerr.InvalidParams(map[string]any{"cursor": *req.Cursor})
	}
	return nil, nil
}

// ResumeSession refuses every session with -32002: none is stored.
//
// Protocol: session/resume.
func (NoHistory) ResumeSession(_ context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	return nil, rpcerr.SessionNotFound(string(req.SessionID))
}

// CloseSession does nothing: when it is called, the ctx of all work of the session is done.
// The Conn sends the response after the work of [Session.Accept] and
// [Session.StartBackground] has ended, with the last updates and the state idle. An agent
// that has something to free implements CloseSession itself.
//
// Protocol: session/close.
func (NoHistory) CloseSession(context.Context, *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	return nil, nil
}

// Cancel does nothing: when it is called, the ctx of the foreground work is done.
//
// Protocol: session/cancel.
func (NoHistory) Cancel(context.Context, *acp.CancelSessionNotification) error { return nil }
