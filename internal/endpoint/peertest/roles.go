// Package peertest contains an agent and a client whose behavior a test sets in part, and an agent
// and a client with every method.
package peertest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/acpkit/go-sdk/acp"
)

// Agent is an agent whose behavior is set by functions. Its sessions are called s1, s2 and so on.
type Agent struct {
	OnInitialize func(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error)
	OnNewSession func(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error)
	OnPrompt     func(context.Context, *acp.PromptRequest) (*acp.PromptResponse, error)
	OnCancel     func(context.Context, *acp.CancelNotification) error

	sessions atomic.Int64
}

func (a *Agent) Initialize(ctx context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	if a.OnInitialize != nil {
		return a.OnInitialize(ctx, req)
	}
	return nil, nil
}

func (a *Agent) NewSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	if a.OnNewSession != nil {
		return a.OnNewSession(ctx, req)
	}
	return &acp.NewSessionResponse{SessionID: acp.SessionID(fmt.Sprint("s", a.sessions.Add(1)))}, nil
}

func (a *Agent) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	if a.OnPrompt != nil {
		return a.OnPrompt(ctx, req)
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

func (a *Agent) Cancel(ctx context.Context, n *acp.CancelNotification) error {
	if a.OnCancel != nil {
		return a.OnCancel(ctx, n)
	}
	return nil
}

// Client is a client whose behavior is set by functions. It selects the first option of a
// permission request, and records updates unless OnUpdate is set.
type Client struct {
	OnPermission func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error)
	OnUpdate     func(context.Context, *acp.SessionNotification) error

	mu      sync.Mutex // guards updates
	updates []acp.SessionUpdate
}

func (c *Client) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	if c.OnPermission != nil {
		return c.OnPermission(ctx, req)
	}
	if len(req.Options) == 0 {
		return acp.Cancelled(), nil
	}
	return acp.Selected(req.Options[0].OptionID), nil
}

func (c *Client) SessionUpdate(ctx context.Context, n *acp.SessionNotification) error {
	if c.OnUpdate != nil {
		return c.OnUpdate(ctx, n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.updates = append(c.updates, n.Update)
	return nil
}

// Take returns the updates that were recorded since the last call.
func (c *Client) Take() []acp.SessionUpdate {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.updates
	c.updates = nil
	return taken
}

// Updates returns the recorded updates.
func (c *Client) Updates() []acp.SessionUpdate {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]acp.SessionUpdate(nil), c.updates...)
}

// Texts returns the text of the recorded message chunks, one string each.
func (c *Client) Texts() []string {
	var texts []string
	for _, u := range c.Updates() {
		if m, ok := u.(*acp.AgentMessageChunk); ok {
			texts = append(texts, acp.PlainText(m.Content))
		}
	}
	return texts
}
