package negotiate_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/router"
	agent2 "github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/client/negotiate"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// one and two are the same agent in the two versions.
type one struct {
	conn  *agent.Conn
	mode  acp.SessionModeID
	calls []string
}

type two struct {
	conn  *agent2.Conn
	value acp2.SessionConfigValueID
	on    bool
	calls []string
}

func (a *one) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{AgentInfo: &acp.Implementation{Name: "agent", Title: "Agent", Version: "7"}, AuthMethods: []acp.AuthMethod{
		&acp.AuthMethodAgent{ID: "token", Name: "Token"}, &acp.AuthMethodTerminal{ID: "tty", Name: "TTY", Args: []string{"login"}, Env: map[string]string{"A": "b"}},
	}}, nil
}

func (a *two) Initialize(context.Context, *acp2.InitializeRequest) (*acp2.InitializeResponse, error) {
	caps := agent2.Capabilities(a)
	caps.Session.MCP = &acp2.MCPCapabilities{Stdio: &acp2.MCPStdioCapabilities{}}
	return &acp2.InitializeResponse{Capabilities: caps, Info: acp2.Implementation{Name: "agent", Title: "Agent", Version: "7"}, AuthMethods: []acp2.AuthMethod{
		&acp2.AuthMethodAgent{MethodID: "token", Name: "Token"},
		&acp2.AuthMethodTerminal{MethodID: "tty", Name: "TTY", Args: []string{"login"}, Env: []acp2.EnvVariable{{Name: "A", Value: "b"}}},
	}}, nil
}

func (a *one) Authenticate(_ context.Context, req *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	a.calls = append(a.calls, "sign in "+string(req.MethodID))
	return &acp.AuthenticateResponse{}, nil
}

func (a *two) Login(_ context.Context, req *acp2.LoginAuthRequest) (*acp2.LoginAuthResponse, error) {
	a.calls = append(a.calls, "sign in "+string(req.MethodID))
	return &acp2.LoginAuthResponse{}, nil
}

func (a *one) Logout(context.Context, *acp.LogoutRequest) (*acp.LogoutResponse, error) {
	a.calls = append(a.calls, "sign out")
	return &acp.LogoutResponse{}, nil
}

func (a *two) Logout(context.Context, *acp2.LogoutAuthRequest) (*acp2.LogoutAuthResponse, error) {
	a.calls = append(a.calls, "sign out")
	return &acp2.LogoutAuthResponse{}, nil
}

func (a *one) NewSession(_ context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	a.calls = append(a.calls, "new "+req.Cwd+servers(req.MCPServers))
	return &acp.NewSessionResponse{SessionID: "s", Modes: a.modes()}, nil
}

func (a *two) NewSession(_ context.Context, req *acp2.NewSessionRequest) (*acp2.NewSessionResponse, error) {
	a.calls = append(a.calls, "new "+string(req.Cwd)+servers(req.MCPServers))
	return &acp2.NewSessionResponse{SessionID: "s", ConfigOptions: a.options()}, nil
}

func servers[T any](list []T) string {
	s := ""
	for _, m := range list {
		switch m := any(m).(type) {
		case *acp.MCPServerStdio:
			s += " " + m.Command + " " + m.Env[0].Name
		case *acp2.MCPServerStdio:
			s += " " + string(m.Command) + " " + m.Env[0].Name
		case *acp.MCPServerHTTP:
			s += " " + m.URL + " " + m.Headers[0].Value
		case *acp2.MCPServerHTTP:
			s += " " + m.URL + " " + m.Headers[0].Value
		}
	}
	return s
}

func (a *one) modes() *acp.SessionModeState {
	if a.mode == "" {
		a.mode = "slow"
	}
	return &acp.SessionModeState{CurrentModeID: a.mode, AvailableModes: []acp.SessionMode{{ID: "slow", Name: "Slow"}, {ID: "fast", Name: "Fast"}}}
}

func (a *two) options() []acp2.SessionConfigOption {
	if a.value == "" {
		a.value = "slow"
	}
	return []acp2.SessionConfigOption{
		{ConfigID: "mode", Name: "Mode", Category: "mode", Kind: &acp2.SessionConfigSelect{CurrentValue: a.value, Options: acp2.SessionConfigSelectOptions{
			Ungrouped: []acp2.SessionConfigSelectOption{{Value: "slow", Name: "Slow"}, {Value: "fast", Name: "Fast"}}}}},
		{ConfigID: "on", Name: "On", Kind: &acp2.SessionConfigBoolean{CurrentValue: a.on}},
	}
}

func (a *one) SetSessionMode(_ context.Context, req *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	a.mode = req.ModeID
	return &acp.SetSessionModeResponse{}, nil
}

func (a *two) SetSessionConfigOption(_ context.Context, req *acp2.SetSessionConfigOptionRequest) (*acp2.SetSessionConfigOptionResponse, error) {
	switch v := req.Value.(type) {
	case *acp2.SessionConfigValue:
		a.value = v.Value
	case *acp2.SessionConfigBooleanValue:
		a.on = v.Value
	}
	return &acp2.SetSessionConfigOptionResponse{ConfigOptions: a.options()}, nil
}

func (a *one) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	s := a.conn.Session(req.SessionID)
	switch acp.PlainText(req.Prompt...) {
	case "wait":
		if err := s.Message(ctx, "waiting"); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	case "fail":
		return nil, rpcerr.InternalError(nil).WithDetail("out of luck")
	}
	call := acp.ToolCallUpdate{ToolCallID: "1", Title: "Write", Kind: acp.ToolKindEdit}
	chosen, err := s.AskPermission(ctx, &call)
	if err != nil {
		return nil, err
	}
	call.Status = acp.ToolCallStatusFailed
	if agent.Allows(chosen) {
		call.Status = acp.ToolCallStatusCompleted
	}
	if err := s.Update(ctx, &call); err != nil {
		return nil, err
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, s.Message(ctx, "Done.")
}

func (a *two) Prompt(ctx context.Context, req *acp2.PromptRequest) (*acp2.PromptResponse, error) {
	s := a.conn.Session(req.SessionID)
	return s.Accept(ctx, req, func(ctx context.Context) (acp2.StopReason, error) {
		switch acp2.PlainText(req.Prompt...) {
		case "wait":
			if err := s.Message(ctx, agent2.NewMessageID(), "waiting"); err != nil {
				return "", err
			}
			<-ctx.Done()
			return acp2.StopReasonCancelled, nil
		case "fail":
			return "", rpcerr.InternalError(nil).WithDetail("out of luck")
		}
		call := acp2.ToolCallUpdate{ToolCallID: "1", Title: acp2.Some("Write"), Kind: acp2.Some(acp2.ToolKindEdit)}
		chosen, err := s.AskPermission(ctx, "Write", &acp2.ToolCallPermissionSubject{ToolCall: call})
		if err != nil {
			return "", err
		}
		call.Status = acp2.Some(acp2.ToolCallStatusFailed)
		if agent2.Allows(chosen) {
			call.Status = acp2.Some(acp2.ToolCallStatusCompleted)
		}
		if err := s.Update(ctx, &call); err != nil {
			return "", err
		}
		return acp2.StopReasonEndTurn, s.Message(ctx, agent2.NewMessageID(), "Done.")
	})
}

func (a *one) Cancel(context.Context, *acp.CancelNotification) error         { return nil }
func (a *two) Cancel(context.Context, *acp2.CancelSessionNotification) error { return nil }

func (a *one) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	a.calls = append(a.calls, "load "+string(req.SessionID))
	if err := a.conn.Session(req.SessionID).UserMessage(ctx, "hello"); err != nil {
		return nil, err
	}
	return &acp.LoadSessionResponse{}, a.conn.Session(req.SessionID).Message(ctx, "Hello.")
}

func (a *one) ResumeSession(_ context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	a.calls = append(a.calls, "resume "+string(req.SessionID))
	return &acp.ResumeSessionResponse{}, nil
}

func (a *two) ResumeSession(ctx context.Context, req *acp2.ResumeSessionRequest) (*acp2.ResumeSessionResponse, error) {
	s := a.conn.Session(req.SessionID)
	if req.ReplayFrom == nil {
		a.calls = append(a.calls, "resume "+string(req.SessionID))
		return &acp2.ResumeSessionResponse{}, s.State(ctx)
	}
	a.calls = append(a.calls, "load "+string(req.SessionID))
	return &acp2.ResumeSessionResponse{}, errors.Join(s.UserMessage(ctx, "1", acp2.Text("hello")), s.Message(ctx, "2", "Hello."), s.State(ctx))
}

func (a *one) ListSessions(_ context.Context, req *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	if req.Cursor == "" {
		return &acp.ListSessionsResponse{Sessions: []acp.SessionInfo{{SessionID: "a", Cwd: "/w", Title: "A"}}, NextCursor: "2"}, nil
	}
	return &acp.ListSessionsResponse{Sessions: []acp.SessionInfo{{SessionID: "b", Cwd: "/w", UpdatedAt: "2026-01-02T03:04:05Z"}}}, nil
}

func (a *two) ListSessions(_ context.Context, req *acp2.ListSessionsRequest) (*acp2.ListSessionsResponse, error) {
	if req.Cursor == nil {
		next := acp2.SessionListCursor("") // an empty cursor is a valid one
		return &acp2.ListSessionsResponse{Sessions: []acp2.SessionInfo{{SessionID: "a", Cwd: "/w", Title: "A"}}, NextCursor: &next}, nil
	}
	return &acp2.ListSessionsResponse{Sessions: []acp2.SessionInfo{{SessionID: "b", Cwd: "/w", UpdatedAt: "2026-01-02T03:04:05Z"}}}, nil
}

func (a *one) CloseSession(_ context.Context, req *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	a.calls = append(a.calls, "close "+string(req.SessionID))
	return &acp.CloseSessionResponse{}, nil
}

func (a *two) CloseSession(_ context.Context, req *acp2.CloseSessionRequest) (*acp2.CloseSessionResponse, error) {
	a.calls = append(a.calls, "close "+string(req.SessionID))
	return &acp2.CloseSessionResponse{}, nil
}

func (a *one) DeleteSession(_ context.Context, req *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	a.calls = append(a.calls, "delete "+string(req.SessionID))
	return &acp.DeleteSessionResponse{}, nil
}

func (a *two) DeleteSession(_ context.Context, req *acp2.DeleteSessionRequest) (*acp2.DeleteSessionResponse, error) {
	a.calls = append(a.calls, "delete "+string(req.SessionID))
	return &acp2.DeleteSessionResponse{}, nil
}

// inEach runs the test with the agent in version 1, in version 2, and behind a router that serves
// both.
func inEach(t *testing.T, opts *negotiate.Options, test func(t *testing.T, conn *negotiate.Conn, calls func() []string)) {
	for name, which := range map[string]struct{ first, second bool }{"1": {true, false}, "2": {false, true}, "router": {true, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				var calls *[]string
				agents := &router.Agents{}
				if which.first {
					agents.V1 = func(c *agent.Conn) acp.Agent {
						a := &one{conn: c}
						calls = &a.calls
						return a
					}
				}
				if which.second {
					agents.V2 = func(c *agent2.Conn) acp2.Agent {
						a := &two{conn: c}
						calls = &a.calls
						return a
					}
				}
				near, far := stream.Pipe()
				served := make(chan error, 1)
				go func() { served <- router.Serve(t.Context(), far, agents, nil) }() // ends with the connection
				conn, err := negotiate.ConnectOver(t.Context(), near, opts)
				require.NoError(t, err)
				test(t, conn, func() []string { return *calls })
				conn.Close()
				conn.Wait()
				<-served
			})
		})
	}
}

// items returns the items of a thread as text.
func items(th *thread.Thread) (all []string) {
	for _, item := range th.Snapshot().Items.All() {
		switch item := item.(type) {
		case *thread.Message:
			all = append(all, string(item.Role)+": "+item.Text())
		case *thread.ToolCall:
			all = append(all, item.Title+" "+item.Kind+" "+item.Status)
		}
	}
	return all
}

func policy(t *testing.T, ask func(context.Context, *permission.Question) (string, error)) *permission.Policy {
	p, err := permission.New(&permission.Options{Ask: ask})
	require.NoError(t, err)
	return p
}

func TestConversation(t *testing.T) {
	allow := func(_ context.Context, q *permission.Question) (string, error) {
		assert.Equal(t, "Write", q.Title)
		assert.Equal(t, "/w", q.Workspace)
		assert.Equal(t, "agent", q.Agent)
		assert.NotZero(t, q.Turn)
		return q.Pick(permission.AllowOnce), nil
	}
	opts := &negotiate.Options{Permission: policy(t, allow)}
	inEach(t, opts, func(t *testing.T, conn *negotiate.Conn, calls func() []string) {
		info, ok := conn.Info()
		assert.True(t, ok)
		assert.Equal(t, negotiate.Info{Name: "agent", Title: "Agent", Version: "7"}, info)
		f := conn.Features()
		assert.True(t, f.Load && f.Resume && f.List && f.Close && f.Delete && f.SignOut && f.Stdio)
		assert.Equal(t, conn.ProtocolVersion() == 2, f.Queue)
		assert.Equal(t, []negotiate.SignInMethod{
			{ID: "token", Name: "Token", Type: negotiate.SignInAgent},
			{ID: "tty", Name: "TTY", Type: negotiate.SignInTerminal, Args: []string{"login"}, Env: map[string]string{"A": "b"}},
		}, conn.SignInMethods())
		require.NoError(t, conn.SignIn(t.Context(), "token"))
		require.NoError(t, conn.SignOut(t.Context()))

		s, err := conn.StartSession(t.Context(), &negotiate.SessionParams{Cwd: "/w", MCPServers: []negotiate.MCPServer{
			{Name: "c", Command: "/bin/c", Env: map[string]string{"K": "v"}},
		}})
		require.NoError(t, err)
		require.Same(t, conn.Thread("s"), s.Thread())

		end, err := s.Prompt(t.Context(), negotiate.Text("go")).Wait()
		require.NoError(t, err)
		assert.Equal(t, "idle", end.State)
		assert.Equal(t, "end_turn", end.StopReason)
		assert.Equal(t, []string{"user: go", "Write edit completed", "agent: Done."}, items(s.Thread()))
		assert.Equal(t, "end_turn", s.Thread().Snapshot().Turn.StopReason)
		assert.Empty(t, s.Thread().Snapshot().Queued)

		_, err = s.Prompt(t.Context(), negotiate.Text("fail")).Wait()
		assert.ErrorContains(t, err, "out of luck")
		assert.Equal(t, "error", s.Thread().Snapshot().Turn.StopReason)

		var listed []string
		for i, err := range conn.Sessions(t.Context(), "/w") {
			require.NoError(t, err)
			listed = append(listed, i.ID+i.Title+i.UpdatedAt)
		}
		assert.Equal(t, []string{"aA", "b2026-01-02T03:04:05Z"}, listed)
		for range conn.Sessions(t.Context(), "") {
			break // the session may be closed
		}

		loaded, err := conn.LoadSession(t.Context(), "old", &negotiate.SessionParams{Cwd: "/w"})
		require.NoError(t, err)
		assert.Equal(t, []string{"user: hello", "agent: Hello."}, items(loaded.Thread()))
		resumed, err := conn.ResumeSession(t.Context(), "old", &negotiate.SessionParams{Cwd: "/w"})
		require.NoError(t, err)
		assert.Same(t, loaded, resumed)
		assert.Len(t, items(resumed.Thread()), 2)
		require.NoError(t, loaded.Close(t.Context()))
		assert.Len(t, items(loaded.Thread()), 2, "the thread of a closed session can still be shown")
		assert.NotSame(t, loaded.Thread(), conn.Thread("old"), "and nothing else holds it")
		require.NoError(t, conn.DeleteSession(t.Context(), "old"))
		assert.Equal(t, []string{"sign in token", "sign out", "new /w /bin/c K", "load old", "resume old", "close old", "delete old"}, calls())
	})
}

// A session that could not be opened again keeps its folder, which is used to decide about its
// questions.
func TestFolderOfAFailedReopen(t *testing.T) {
	var folders []string
	allow := func(_ context.Context, q *permission.Question) (string, error) {
		folders = append(folders, q.Workspace)
		return q.Pick(permission.AllowOnce), nil
	}
	inEach(t, &negotiate.Options{Permission: policy(t, allow)}, func(t *testing.T, conn *negotiate.Conn, _ func() []string) {
		folders = nil
		s, err := conn.StartSession(t.Context(), &negotiate.SessionParams{Cwd: "/w"})
		require.NoError(t, err)
		_, err = conn.ResumeSession(t.Context(), s.ID(), &negotiate.SessionParams{Cwd: "not/absolute"})
		require.Error(t, err)
		_, err = conn.LoadSession(t.Context(), s.ID(), &negotiate.SessionParams{Cwd: "not/absolute"})
		require.Error(t, err)
		_, err = s.Prompt(t.Context(), negotiate.Text("go")).Wait()
		require.NoError(t, err)
		assert.Equal(t, []string{"/w"}, folders)
	})
}

func TestNoOneToAskDenies(t *testing.T) {
	inEach(t, nil, func(t *testing.T, conn *negotiate.Conn, _ func() []string) {
		s, err := conn.StartSession(t.Context(), &negotiate.SessionParams{Cwd: "/w"})
		require.NoError(t, err)
		_, err = s.Prompt(t.Context(), negotiate.Text("go")).Wait()
		require.NoError(t, err)
		assert.Equal(t, "Write edit failed", items(s.Thread())[1])
	})
}

// The thread shows a question while it is open. Cancelling the turn ends it.
func TestQuestionAndCancel(t *testing.T) {
	think := func(ctx context.Context, _ *permission.Question) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}
	inEach(t, &negotiate.Options{Permission: policy(t, think)}, func(t *testing.T, conn *negotiate.Conn, _ func() []string) {
		s, err := conn.StartSession(t.Context(), &negotiate.SessionParams{Cwd: "/w"})
		require.NoError(t, err)
		turn := s.Prompt(t.Context(), negotiate.Text("go"))
		synctest.Wait()
		open := s.Thread().Snapshot().Permissions
		require.Len(t, open, 1)
		assert.Equal(t, "Write", open[0].Title)
		assert.Equal(t, "1", open[0].ToolCallID)
		require.NoError(t, s.Cancel(t.Context()))
		end, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, "cancelled", end.StopReason)
		assert.Empty(t, s.Thread().Snapshot().Permissions)
		<-turn.Done()

		ctx, cancel := context.WithCancel(t.Context())
		turn = s.Prompt(ctx, negotiate.Text("wait"))
		synctest.Wait()
		cancel()
		end, err = turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, "cancelled", end.StopReason)
	})
}

func TestPromptDuringATurn(t *testing.T) {
	inEach(t, nil, func(t *testing.T, conn *negotiate.Conn, _ func() []string) {
		s, err := conn.StartSession(t.Context(), &negotiate.SessionParams{Cwd: "/w"})
		require.NoError(t, err)
		first := s.Prompt(t.Context(), negotiate.Text("wait"))
		synctest.Wait()
		second := s.Prompt(t.Context(), negotiate.Text("go"))
		synctest.Wait()
		if !conn.Features().Queue {
			_, err := second.Wait()
			assert.ErrorIs(t, err, acp.ErrTurnRunning)
		} else {
			require.Len(t, s.Thread().Snapshot().Queued, 1)
			assert.Equal(t, "go", s.Thread().Snapshot().Queued[0].Content.At(0).Text)
		}
		require.NoError(t, s.Cancel(t.Context()))
		_, err = first.Wait()
		require.NoError(t, err)
		_, err = second.Wait()
		require.Error(t, err)
		assert.Empty(t, s.Thread().Snapshot().Queued)
	})
}

func TestOptions(t *testing.T) {
	inEach(t, nil, func(t *testing.T, conn *negotiate.Conn, _ func() []string) {
		s, err := conn.StartSession(t.Context(), &negotiate.SessionParams{Cwd: "/w"})
		require.NoError(t, err)
		mode := s.Options()[0]
		assert.Equal(t, "Mode", mode.Name)
		assert.Equal(t, "mode", mode.Category)
		assert.Equal(t, thread.OptionSelect, mode.Type)
		assert.Equal(t, "slow", mode.Value)
		assert.Equal(t, "Fast", mode.Groups[0].Values[1].Name)
		require.NoError(t, s.SetOption(t.Context(), mode.ID, "fast"))
		assert.Equal(t, "fast", s.Options()[0].Value)
		if conn.ProtocolVersion() == 2 {
			require.NoError(t, s.SetOptionBool(t.Context(), "on", true))
			assert.True(t, s.Options()[1].On)
			assert.Error(t, s.SetOption(t.Context(), negotiate.ModeOption, "fast"))
		}
	})
}

// After the connection has ended, the thread shows nothing as running.
func TestTheEndOfTheConnection(t *testing.T) {
	inEach(t, nil, func(t *testing.T, conn *negotiate.Conn, _ func() []string) {
		s, err := conn.StartSession(t.Context(), &negotiate.SessionParams{Cwd: "/w"})
		require.NoError(t, err)
		turn := s.Prompt(t.Context(), negotiate.Text("wait"))
		synctest.Wait()
		assert.Equal(t, "running", s.Thread().Snapshot().Turn.State)
		conn.Close()
		conn.Wait()
		_, err = turn.Wait()
		assert.ErrorIs(t, err, acp.ErrClosed)
		synctest.Wait()
		assert.Equal(t, "idle", s.Thread().Snapshot().Turn.State)
		assert.NotNil(t, s.Thread().Snapshot().Turn.Error)
	})
}
