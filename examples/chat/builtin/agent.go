// Package builtin is the agent that chat has built in, so that the first command of a reader needs no other program: it
// understands the requests of package plain, and carries them out with the files, the terminals and the permission of its
// client. It is on package agent alone, because what it links is compiled before that command shows anything. Its
// sessions end with it; the example agent, which is on package kit, keeps them.
package builtin

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/examples/agent/plain"
	"github.com/acpkit/go-sdk/rpcerr"
)

// auto is the mode that needs no permission, and full the value of the option detail that repeats all that was read.
const (
	ask, auto   = "ask", "auto"
	detail      = "detail"
	brief, full = "brief", "full"
)

var modes = []acp.SessionMode{
	{ID: ask, Name: "Ask", Description: "Asks before it changes a file or runs a command."},
	{ID: auto, Name: "Auto", Description: "Changes files and runs commands without asking."},
}

var commands = []acp.AvailableCommand{
	{Name: "help", Description: "Lists what the agent understands."},
	{Name: "plan", Description: "Carries out several requests by a plan.", Input: &acp.UnstructuredCommandInput{Hint: "requests, joined by then"}},
}

// An Agent is the agent of one connection.
type Agent struct {
	conn *agent.Conn

	mu       sync.Mutex // guards sessions, and mode and detail of each
	sessions map[acp.SessionID]*session
}

type session struct {
	cwd    string
	mode   acp.SessionModeID
	detail acp.SessionConfigValueID
}

// New returns the agent of a connection.
func New(conn *agent.Conn) acp.Agent {
	return &Agent{conn: conn, sessions: map[acp.SessionID]*session{}}
}

// Initialize implements [acp.Agent].
func (a *Agent) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{AgentInfo: &acp.Implementation{Name: "acpkit-chat-agent", Title: "Example agent", Version: "1.0.0"}}, nil
}

// NewSession implements [acp.Agent].
func (a *Agent) NewSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	id := acp.SessionID("sess_" + rand.Text())
	s := &session{cwd: req.Cwd, mode: ask, detail: brief}
	a.mu.Lock()
	a.sessions[id] = s
	a.mu.Unlock()
	agent.AfterResponse(ctx, func(ctx context.Context) {
		_ = a.conn.Session(id).SetCommands(ctx, commands...) // an error means that the connection has ended
	})
	return &acp.NewSessionResponse{
		SessionID:     id,
		Modes:         &acp.SessionModeState{CurrentModeID: ask, AvailableModes: modes},
		ConfigOptions: options(brief),
	}, nil
}

func options(current acp.SessionConfigValueID) []acp.SessionConfigOption {
	return []acp.SessionConfigOption{{
		ID: detail, Name: "Detail", Description: "How much of what it read the agent repeats.",
		Kind: &acp.SessionConfigSelect{CurrentValue: current, Options: acp.SessionConfigSelectOptions{
			Ungrouped: []acp.SessionConfigSelectOption{{Value: brief, Name: "Brief"}, {Value: full, Name: "Full"}},
		}},
	}}
}

// change changes a session under the lock.
func (a *Agent) change(id acp.SessionID, f func(*session)) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[id]
	if s == nil {
		return rpcerr.SessionNotFound(string(id))
	}
	f(s)
	return nil
}

// SetSessionMode implements [acp.SessionModeSetter].
func (a *Agent) SetSessionMode(_ context.Context, req *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	if !slices.ContainsFunc(modes, func(m acp.SessionMode) bool { return m.ID == req.ModeID }) {
		return nil, rpcerr.InvalidParams(nil).WithDetail("there is no such mode")
	}
	return nil, a.change(req.SessionID, func(s *session) { s.mode = req.ModeID })
}

// SetSessionConfigOption implements [acp.SessionConfigOptionSetter].
func (a *Agent) SetSessionConfigOption(_ context.Context, req *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	value, ok := req.Value.(*acp.SessionConfigValue)
	if req.ConfigID != detail || !ok || value.Value != brief && value.Value != full {
		return nil, rpcerr.InvalidParams(nil).WithDetail("there is no such option or value")
	}
	err := a.change(req.SessionID, func(s *session) { s.detail = value.Value })
	return &acp.SetSessionConfigOptionResponse{ConfigOptions: options(value.Value)}, err
}

// Prompt implements [acp.Agent].
func (a *Agent) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	t := &turn{conn: a.conn, Session: a.conn.Session(req.SessionID)}
	if err := a.change(req.SessionID, func(s *session) { t.session = *s }); err != nil {
		return nil, err
	}
	var typed []string
	for _, b := range req.Prompt {
		if text, ok := b.(*acp.TextContent); ok { // what is attached is left out: it reads files when it is asked to
			typed = append(typed, text.Text)
		}
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, t.work(ctx, strings.Join(typed, "\n"))
}

// Cancel implements [acp.Agent].
func (a *Agent) Cancel(context.Context, *acp.CancelNotification) error { return nil }

// A turn has what the session was when it began.
type turn struct {
	*agent.Session
	conn    *agent.Conn
	session session
}

func (t *turn) work(ctx context.Context, prompt string) error {
	prompt = strings.TrimPrefix(strings.TrimSpace(prompt), "/") // commands read like requests
	requests, planned, err := plain.Parse(prompt)
	switch {
	case strings.EqualFold(prompt, "help"), err == nil && len(requests) == 0:
		return t.Message(ctx, plain.Usage)
	case err != nil:
		return t.Message(ctx, "That was "+err.Error()+".\n\n"+plain.Usage)
	case len(requests) == 1 && !planned:
		_, err = t.carryOut(ctx, requests[0])
		return err
	}
	if err := t.Thought(ctx, "That is more than one thing to do, so I make a plan."); err != nil {
		return err
	}
	end, err := plain.Follow(requests,
		func(plan []acp.PlanEntry) error { return t.SendPlan(ctx, plan...) },
		func(r plain.Request) (bool, error) { return t.carryOut(ctx, r) })
	if err != nil {
		return err
	}
	return t.Message(ctx, end)
}
