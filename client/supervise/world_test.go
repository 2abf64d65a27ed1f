package supervise_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// world makes agents, and keeps what they store when they end.
type world struct {
	resume, load bool          // capabilities of the agents
	auth         bool          // agents require authentication
	dieAtOnce    int           // number of agents that will die before initialize
	dieOnResume  int           // number of agents that will die during session/resume
	hold         chan struct{} // session/resume waits until it is closed; nil: does not wait

	mu       sync.Mutex // guards the fields below
	dials    int
	live     *agent.Conn
	sessions map[acp.SessionID]*stored
	next     int
	log      []string // requests that agents received
	signedIn bool
	asking   chan struct{} // closed when a prompt asks for permission
}

type stored struct {
	mode   acp.SessionModeID
	option acp.SessionConfigValueID
	fast   bool
}

func (w *world) note(format string, args ...any) {
	w.with(func() { w.log = append(w.log, fmt.Sprintf(format, args...)) })
}

func (w *world) with(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

func (w *world) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	log := w.log
	w.log = nil
	return log
}

func (w *world) dial(context.Context) (stream.Stream, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dials++
	a, b := stream.Pipe()
	if w.dieAtOnce > 0 {
		w.dieAtOnce--
		a.Close()
		return b, nil
	}
	w.live = agent.New(a, w.newAgent, &agent.Options{Logger: slog.New(slog.DiscardHandler)})
	return b, w.live.Start(context.Background())
}

func (w *world) newAgent(c *agent.Conn) acp.Agent { return &worldAgent{w, c} }

func (w *world) kill() { w.with(func() { w.live.Close() }) }

// worldAgent is one run of the agent.
type worldAgent struct {
	w    *world
	conn *agent.Conn
}

// Handles implements [acp.Selective].
func (a *worldAgent) Handles(method string) bool {
	switch method {
	case acp.MethodSessionResume:
		return a.w.resume
	case acp.MethodSessionLoad:
		return a.w.load
	}
	return true
}

func (a *worldAgent) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	can := agent.Capabilities(a)
	if can.SessionCapabilities == nil {
		can.SessionCapabilities = &acp.SessionCapabilities{}
	}
	can.SessionCapabilities.AdditionalDirectories = &acp.SessionAdditionalDirectoriesCapabilities{}
	return &acp.InitializeResponse{AgentCapabilities: can, AuthMethods: []acp.AuthMethod{&acp.AuthMethodAgent{ID: "login", Name: "Log in"}}}, nil
}

func (a *worldAgent) allowed() error {
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	if a.w.auth && !a.w.signedIn {
		return rpcerr.AuthRequired(nil)
	}
	return nil
}

func (a *worldAgent) Authenticate(context.Context, *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	a.w.note("authenticate")
	a.w.with(func() { a.w.signedIn = true })
	return nil, nil
}

func params(cwd string, more []string, servers []acp.MCPServer, p *acp.SystemPrompt) string {
	text := fmt.Sprintf("%s%v", cwd, more)
	for _, s := range servers {
		b, err := json.Marshal(s)
		if err != nil {
			return err.Error()
		}
		text += string(b)
	}
	return text + p.Text()
}

// AppliesSystemPrompt implements [acp.SystemPromptApplier].
func (a *worldAgent) AppliesSystemPrompt(mode acp.SystemPromptMode) bool {
	return mode == acp.SystemPromptModeAppend
}

func (a *worldAgent) NewSession(_ context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	a.w.note("new %s", params(req.Cwd, req.AdditionalDirectories, req.MCPServers, req.SystemPrompt))
	if err := a.allowed(); err != nil {
		return nil, err
	}
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	a.w.next++
	id := acp.SessionID(fmt.Sprint("s", a.w.next))
	if a.w.sessions == nil {
		a.w.sessions = map[acp.SessionID]*stored{}
	}
	a.w.sessions[id] = &stored{mode: "ask", option: "small"}
	modes, options := settings(a.w.sessions[id])
	return &acp.NewSessionResponse{SessionID: id, Modes: modes, ConfigOptions: options}, nil
}

// settings returns the modes and the config options of s, for a response that opens a session.
func settings(s *stored) (*acp.SessionModeState, []acp.SessionConfigOption) {
	return &acp.SessionModeState{CurrentModeID: s.mode, AvailableModes: []acp.SessionMode{{ID: "ask", Name: "Ask"}, {ID: "code", Name: "Code"}}},
		[]acp.SessionConfigOption{{ID: "model", Name: "Model", Kind: &acp.SessionConfigSelect{CurrentValue: s.option,
			Options: acp.SessionConfigSelectOptions{Ungrouped: []acp.SessionConfigSelectOption{{Value: "small", Name: "S"}, {Value: "big", Name: "B"}}}}},
			{ID: "fast", Name: "Fast", Kind: &acp.SessionConfigBoolean{CurrentValue: s.fast}}}
}

func (a *worldAgent) stored(id acp.SessionID) (*stored, error) {
	if err := a.allowed(); err != nil {
		return nil, err
	}
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	if s := a.w.sessions[id]; s != nil {
		return s, nil
	}
	return nil, rpcerr.SessionNotFound(string(id))
}

func (a *worldAgent) SetSessionMode(_ context.Context, req *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	a.w.note("mode %s", req.ModeID)
	s, err := a.stored(req.SessionID)
	if err == nil {
		s.mode = req.ModeID
	}
	return nil, err
}

func (a *worldAgent) SetSessionConfigOption(_ context.Context, req *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	s, err := a.stored(req.SessionID)
	if err != nil {
		return nil, err
	}
	switch v := req.Value.(type) {
	case *acp.SessionConfigValue:
		a.w.note("option %s", v.Value)
		s.option = v.Value
	case *acp.SessionConfigBooleanValue:
		a.w.note("fast %t", v.Value)
		s.fast = v.Value
	}
	_, options := settings(s)
	return &acp.SetSessionConfigOptionResponse{ConfigOptions: options}, nil
}

// Prompt does what the text of the prompt says: die, ask, wait, or end.
func (a *worldAgent) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	text := acp.PlainText(req.Prompt[0])
	a.w.note("prompt %s", text)
	switch text {
	case "die":
		a.w.kill()
		return nil, errors.New("dying")
	case "ask":
		a.w.with(func() { close(a.w.asking) })
		_, err := a.conn.RequestPermission(ctx, &acp.RequestPermissionRequest{SessionID: req.SessionID, ToolCall: acp.ToolCallUpdate{ToolCallID: "1"}})
		return nil, err
	case "wait":
		<-ctx.Done()
		return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

func (a *worldAgent) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func (a *worldAgent) ResumeSession(_ context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	a.w.note("resume %s %s", req.SessionID, params(req.Cwd, req.AdditionalDirectories, req.MCPServers, req.SystemPrompt))
	a.w.mu.Lock()
	die := a.w.dieOnResume > 0
	if die {
		a.w.dieOnResume--
		a.conn.Close()
	}
	a.w.mu.Unlock()
	if die {
		return nil, errors.New("dying")
	}
	if a.w.hold != nil {
		<-a.w.hold
	}
	s, err := a.stored(req.SessionID)
	if err != nil {
		return nil, err
	}
	modes, options := settings(s)
	return &acp.ResumeSessionResponse{Modes: modes, ConfigOptions: options}, nil
}

func (a *worldAgent) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	a.w.note("load %s %s", req.SessionID, params(req.Cwd, req.AdditionalDirectories, req.MCPServers, req.SystemPrompt))
	s, err := a.stored(req.SessionID)
	if err != nil {
		return nil, err
	}
	_ = a.conn.SessionUpdate(ctx, &acp.SessionNotification{SessionID: req.SessionID, Update: &acp.AgentMessageChunk{Content: acp.Text("history")}})
	modes, options := settings(s)
	return &acp.LoadSessionResponse{Modes: modes, ConfigOptions: options}, nil
}

// person is the client.
type person struct{ ended chan error } // gets the cause when a question's ctx is done

func (p *person) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

func (p *person) RequestPermission(ctx context.Context, _ *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	<-ctx.Done()
	p.ended <- context.Cause(ctx)
	return acp.Cancelled(), nil
}

// keeper is a Supervisor that records its events.
type keeper struct {
	*supervise.Supervisor
	person  *person
	downs   chan supervise.Down
	returns chan supervise.Return
}

// newKeeper returns a keeper that is not started.
func newKeeper(t *testing.T, w *world, more func(*supervise.Options)) *keeper {
	k := &keeper{person: &person{make(chan error, 1)}, downs: make(chan supervise.Down, 100), returns: make(chan supervise.Return, 100)}
	opts := &supervise.Options{
		Dial: w.dial, Client: func(*client.Conn) acp.Client { return k.person },
		Conn:   &client.Options{Logger: slog.New(slog.DiscardHandler), CancelGrace: time.Second},
		OnDown: func(d supervise.Down) { k.downs <- d }, OnReturn: func(r supervise.Return) { k.returns <- r },
	}
	if more != nil {
		more(opts)
	}
	k.Supervisor = supervise.New(opts)
	t.Cleanup(func() {
		k.Close()
		k.Wait()
		if w.live != nil {
			w.live.Close()
			w.live.Wait()
		}
	})
	return k
}

func open(t *testing.T, w *world, more func(*supervise.Options)) (*keeper, *supervise.Session) {
	k := newKeeper(t, w, more)
	require.NoError(t, k.Start(context.Background()))
	s, err := k.Open(t.Context(), whole)
	require.NoError(t, err)
	return k, s
}

func prompt(t *testing.T, s *supervise.Session, text string) error {
	turn, err := s.Prompt(t.Context(), acp.Text(text))
	require.NoError(t, err)
	_, err = turn.Wait()
	return err
}
