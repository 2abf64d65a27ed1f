package connect_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/signin"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/draft2/connect"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/draft2/serve/adapter"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// testAgent is an agent of version 1, and behind an adapter one of version 2.
type testAgent struct {
	conn  *agent.Conn
	mode  acp.SessionModeID
	calls []string
}

func (a *testAgent) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{AgentInfo: &acp.Implementation{Name: "agent", Title: "Agent", Version: "7"}, AuthMethods: []acp.AuthMethod{
		&acp.AuthMethodAgent{ID: "token", Name: "Token"}, &acp.AuthMethodTerminal{ID: "tty", Name: "TTY", Args: []string{"login"}, Env: map[string]string{"A": "b"}},
		&acp.UnknownAuthMethod{Type: "env_var", Raw: json.RawMessage(`{"type":"env_var","id":"key","name":"Key","vars":["KEY"]}`)},
	}}, nil
}

func (a *testAgent) Authenticate(_ context.Context, req *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	a.calls = append(a.calls, "sign in "+string(req.MethodID))
	return &acp.AuthenticateResponse{}, nil
}

func (a *testAgent) NewSession(_ context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	a.calls = append(a.calls, "new "+req.Cwd)
	for _, m := range req.MCPServers {
		server := m.(*acp.MCPServerStdio)
		a.calls = append(a.calls, server.Command+" "+server.Env[0].Name)
	}
	return &acp.NewSessionResponse{SessionID: "s", Modes: a.modes()}, nil
}

func (a *testAgent) modes() *acp.SessionModeState {
	if a.mode == "" {
		a.mode = "slow"
	}
	return &acp.SessionModeState{CurrentModeID: a.mode, AvailableModes: []acp.SessionMode{{ID: "slow", Name: "Slow"}, {ID: "fast", Name: "Fast"}}}
}

func (a *testAgent) SetSessionMode(_ context.Context, req *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	a.mode = req.ModeID
	return &acp.SetSessionModeResponse{}, nil
}

func (a *testAgent) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
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

func (a *testAgent) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func (a *testAgent) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	a.calls = append(a.calls, "load "+string(req.SessionID))
	if err := a.conn.Session(req.SessionID).UserMessage(ctx, "hello"); err != nil {
		return nil, err
	}
	return &acp.LoadSessionResponse{}, a.conn.Session(req.SessionID).Message(ctx, "Hello.")
}

func (a *testAgent) ResumeSession(_ context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	a.calls = append(a.calls, "resume "+string(req.SessionID))
	return &acp.ResumeSessionResponse{}, nil
}

func (a *testAgent) ListSessions(_ context.Context, req *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	if req.Cursor == "" {
		return &acp.ListSessionsResponse{Sessions: []acp.SessionInfo{{SessionID: "a", Cwd: "/w", Title: "A"}}, NextCursor: "2"}, nil
	}
	return &acp.ListSessionsResponse{Sessions: []acp.SessionInfo{{SessionID: "b", Cwd: "/w", UpdatedAt: "2026-01-02T03:04:05Z"}}}, nil
}

func (a *testAgent) CloseSession(_ context.Context, req *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	a.calls = append(a.calls, "close "+string(req.SessionID))
	return &acp.CloseSessionResponse{}, nil
}

func (a *testAgent) DeleteSession(_ context.Context, req *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	a.calls = append(a.calls, "delete "+string(req.SessionID))
	return &acp.DeleteSessionResponse{}, nil
}

func newTestAgent(c *agent.Conn) acp.Agent { return &testAgent{conn: c} }

// newTestAgentV2 returns the same agent in version 2.
var newTestAgentV2 = adapter.FromV1(newTestAgent, nil)

// startSession starts a session in the folder /w.
func startSession(t *testing.T, conn *connect.Conn) *connect.Session {
	t.Helper()
	s, err := conn.StartSession(t.Context(), &connect.SessionParams{Cwd: "/w"})
	require.NoError(t, err)
	return s
}

// inEach runs the test with the agent in version 1, in version 2, and behind a router that serves
// both.
func inEach(t *testing.T, opts *connect.Options, test func(t *testing.T, conn *connect.Conn, calls func() []string)) {
	for name, which := range map[string]struct{ first, second bool }{"1": {true, false}, "2": {false, true}, "router": {true, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				var a *testAgent
				newAgent := func(c *agent.Conn) acp.Agent {
					a = &testAgent{conn: c}
					return a
				}
				agents := &serve.Agents{}
				if which.first {
					agents.V1 = newAgent
				}
				if which.second {
					agents.V2 = adapter.FromV1(newAgent, nil)
				}
				near, far := stream.Pipe()
				served := make(chan error, 1)
				go func() { served <- serve.Route(t.Context(), far, agents, nil) }() // ends with the connection
				conn, err := connect.ConnectOver(t.Context(), near, opts)
				require.NoError(t, err)
				test(t, conn, func() []string { return a.calls })
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
	p := permission.New(&permission.Options{Ask: ask})
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
	opts := &connect.Options{Permission: policy(t, allow)}
	inEach(t, opts, func(t *testing.T, conn *connect.Conn, calls func() []string) {
		info, ok := conn.Info()
		assert.True(t, ok)
		assert.Equal(t, connect.Info{Name: "agent", Title: "Agent", Version: "7"}, info)
		f := conn.Features()
		assert.True(t, f.Load && f.Resume && f.List && f.Close && f.Delete && f.Stdio)
		assert.Equal(t, conn.ProtocolVersion() == 2, f.Queue)
		assert.Equal(t, []signin.Way{
			{ID: "token", Name: "Token", Kind: signin.KindAgent},
			{ID: "tty", Name: "TTY", Kind: signin.KindTerminal, Args: []string{"login"}, Env: map[string]string{"A": "b"}},
			{ID: "key", Name: "Key", Kind: signin.KindVariables, Variables: []signin.Variable{{Name: "KEY", Secret: true}}},
		}, signin.Ways(conn.AuthMethods()))
		_, err := signin.Do(t.Context(), conn, rpcerr.ErrAuthRequired, nil)
		require.NoError(t, err)

		s, err := conn.StartSession(t.Context(), &connect.SessionParams{Cwd: "/w", MCPServers: []connect.MCPServer{
			{Name: "c", Command: "/bin/c", Env: map[string]string{"K": "v"}},
		}})
		require.NoError(t, err)
		require.Same(t, conn.Thread("s"), s.Thread())

		end, err := s.Prompt(t.Context(), connect.Text("go")).Wait()
		require.NoError(t, err)
		assert.Equal(t, "idle", end.State)
		assert.Equal(t, "end_turn", end.StopReason)
		assert.Equal(t, []string{"user: go", "Write edit completed", "agent: Done."}, items(s.Thread()))
		assert.Equal(t, "end_turn", s.Thread().Snapshot().Turn.StopReason)
		assert.Empty(t, s.Thread().Snapshot().Queued)

		_, err = s.Prompt(t.Context(), connect.Text("fail")).Wait()
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

		loaded, err := conn.LoadSession(t.Context(), "old", &connect.SessionParams{Cwd: "/w"})
		require.NoError(t, err)
		assert.Equal(t, []string{"user: hello", "agent: Hello."}, items(loaded.Thread()))
		resumed, err := conn.ResumeSession(t.Context(), "old", &connect.SessionParams{Cwd: "/w"})
		require.NoError(t, err)
		assert.Same(t, loaded, resumed)
		assert.Len(t, items(resumed.Thread()), 2)
		require.NoError(t, loaded.Close(t.Context()))
		assert.Len(t, items(loaded.Thread()), 2, "the thread of a closed session can still be shown")
		assert.NotSame(t, loaded.Thread(), conn.Thread("old"), "and nothing else holds it")
		require.NoError(t, conn.DeleteSession(t.Context(), "old"))
		assert.Equal(t, []string{"sign in token", "new /w", "/bin/c K", "load old", "resume old", "close old", "delete old"}, calls())
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
	inEach(t, &connect.Options{Permission: policy(t, allow)}, func(t *testing.T, conn *connect.Conn, _ func() []string) {
		folders = nil
		s := startSession(t, conn)
		_, err := conn.ResumeSession(t.Context(), s.ID(), &connect.SessionParams{Cwd: "not/absolute"})
		require.Error(t, err)
		_, err = conn.LoadSession(t.Context(), s.ID(), &connect.SessionParams{Cwd: "not/absolute"})
		require.Error(t, err)
		_, err = s.Prompt(t.Context(), connect.Text("go")).Wait()
		require.NoError(t, err)
		assert.Equal(t, []string{"/w"}, folders)
	})
}

// The end of the history is told once, when the thread has it, and apart from the outcome.
func TestReplayed(t *testing.T) {
	inEach(t, nil, func(t *testing.T, conn *connect.Conn, _ func() []string) {
		var told []string
		p := &connect.SessionParams{Cwd: "/w", Replayed: func(err error) {
			require.NoError(t, err)
			told = append(told, items(conn.Thread("old"))...)
		}}
		_, err := conn.LoadSession(t.Context(), "old", p)
		require.NoError(t, err)
		assert.Equal(t, []string{"user: hello", "agent: Hello."}, told)

		var cut []error
		_, err = conn.LoadSession(t.Context(), "old", &connect.SessionParams{Cwd: "relative", Replayed: func(err error) { cut = append(cut, err) }})
		require.Error(t, err)
		assert.Equal(t, []error{err}, cut)
		_, err = conn.ResumeSession(t.Context(), "old", &connect.SessionParams{Cwd: "/w", Replayed: func(error) { t.Error("nothing is replayed") }})
		require.NoError(t, err)
	})
}

func TestNoOneToAskDenies(t *testing.T) {
	inEach(t, nil, func(t *testing.T, conn *connect.Conn, _ func() []string) {
		s := startSession(t, conn)
		_, err := s.Prompt(t.Context(), connect.Text("go")).Wait()
		require.NoError(t, err)
		assert.Equal(t, "Write edit failed", items(s.Thread())[1])
	})
}

// A program answers what the agent asks in the thread, by key, in both versions alike.
func TestAnswerInTheThread(t *testing.T) {
	inEach(t, &connect.Options{Permission: policy(t, permission.InThread)}, func(t *testing.T, conn *connect.Conn, _ func() []string) {
		s := startSession(t, conn)
		turn := s.Prompt(t.Context(), connect.Text("go"))
		for now := range s.Thread().Watch(t.Context()) {
			if len(now.Permissions) == 0 || now.Permissions[0].Lines == nil {
				continue
			}
			q := now.Permissions[0]
			i := slices.IndexFunc(q.Options, func(o thread.PermissionOption) bool { return o.Label == "Allow once" })
			require.NoError(t, s.Thread().Answer(q.Key, q.Options[i].ID))
			break
		}
		_, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, "Write edit completed", items(s.Thread())[1])
	})
}

// The thread shows a question while it is open. Cancelling the turn ends it.
func TestQuestionAndCancel(t *testing.T) {
	think := func(ctx context.Context, _ *permission.Question) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}
	inEach(t, &connect.Options{Permission: policy(t, think)}, func(t *testing.T, conn *connect.Conn, _ func() []string) {
		s := startSession(t, conn)
		turn := s.Prompt(t.Context(), connect.Text("go"))
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
		turn = s.Prompt(ctx, connect.Text("wait"))
		synctest.Wait()
		cancel()
		end, err = turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, "cancelled", end.StopReason)
	})
}

func TestPromptDuringATurn(t *testing.T) {
	inEach(t, nil, func(t *testing.T, conn *connect.Conn, _ func() []string) {
		s := startSession(t, conn)
		first := s.Prompt(t.Context(), connect.Text("wait"))
		synctest.Wait()
		second := s.Prompt(t.Context(), connect.Text("go"))
		synctest.Wait()
		if !conn.Features().Queue {
			_, err := second.Wait()
			assert.ErrorIs(t, err, acp.ErrTurnRunning)
		} else {
			require.Len(t, s.Thread().Snapshot().Queued, 1)
			assert.Equal(t, "go", s.Thread().Snapshot().Queued[0].Content.At(0).Text)
		}
		require.NoError(t, s.Cancel(t.Context()))
		_, err := first.Wait()
		require.NoError(t, err)
		_, err = second.Wait()
		require.Error(t, err)
		assert.Empty(t, s.Thread().Snapshot().Queued)
	})
}

func TestOptions(t *testing.T) {
	inEach(t, nil, func(t *testing.T, conn *connect.Conn, _ func() []string) {
		s := startSession(t, conn)
		mode := s.Options()[0]
		assert.Equal(t, "Mode", mode.Name)
		assert.Equal(t, "mode", mode.Category)
		assert.Equal(t, thread.OptionSelect, mode.Type)
		assert.Equal(t, "slow", mode.Value)
		assert.Equal(t, "Fast", mode.Groups[0].Values[1].Name)
		require.NoError(t, s.SetOption(t.Context(), mode.ID, "fast"))
		assert.Equal(t, "fast", s.Options()[0].Value)
		if conn.ProtocolVersion() == 2 {
			assert.Error(t, s.SetOption(t.Context(), connect.ModeOption, "fast"))
		}
	})
}

// After the connection has ended, the thread shows nothing as running.
func TestTheEndOfTheConnection(t *testing.T) {
	inEach(t, nil, func(t *testing.T, conn *connect.Conn, _ func() []string) {
		s := startSession(t, conn)
		turn := s.Prompt(t.Context(), connect.Text("wait"))
		synctest.Wait()
		assert.Equal(t, "running", s.Thread().Snapshot().Turn.State)
		conn.Close()
		conn.Wait()
		_, err := turn.Wait()
		assert.ErrorIs(t, err, acp.ErrClosed)
		synctest.Wait()
		assert.Equal(t, "idle", s.Thread().Snapshot().Turn.State)
		assert.NotNil(t, s.Thread().Snapshot().Turn.Error)
	})
}

// When a turn has ended, the thread shows its prompt as a part of the conversation and not among
// those that wait.
func TestNoPromptWaitsAfterItsTurn(t *testing.T) {
	inEach(t, nil, func(t *testing.T, conn *connect.Conn, _ func() []string) {
		s := startSession(t, conn)
		for range 300 {
			_, err := s.Prompt(t.Context(), connect.Text("go")).Wait()
			require.NoError(t, err)
			require.Empty(t, s.Thread().Snapshot().Queued)
		}
	})
}
