package thread_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/stream"
)

// storyteller is an agent whose sessions begin with an update, and that cannot load one.
type storyteller struct {
	conn *agent.Conn
}

func (a *storyteller) say(ctx context.Context, id acp.SessionID, u acp.SessionUpdate) {
	_ = a.conn.SessionUpdate(ctx, &acp.SessionNotification{SessionID: id, Update: u})
}

func (a *storyteller) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{}, nil
}

func (a *storyteller) NewSession(ctx context.Context, _ *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	a.say(ctx, "s", &acp.CurrentModeUpdate{CurrentModeID: "told"})
	return &acp.NewSessionResponse{SessionID: "s", Modes: &acp.SessionModeState{CurrentModeID: "first", AvailableModes: []acp.SessionMode{{ID: "first", Name: "F"}}}}, nil
}

func (a *storyteller) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	a.say(ctx, req.SessionID, &acp.UserMessageChunk{Content: acp.Text("hello")})
	a.say(ctx, req.SessionID, &acp.ToolCall{ToolCallID: "1", Title: "T"})
	return nil, errors.New("broken")
}

func (a *storyteller) SetSessionMode(context.Context, *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	return nil, nil
}

func (a *storyteller) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	a.say(ctx, req.SessionID, &acp.ToolCall{ToolCallID: "1", Title: "T"})
	_, err := a.conn.RequestPermission(ctx, &acp.RequestPermissionRequest{SessionID: req.SessionID, ToolCall: acp.ToolCallUpdate{ToolCallID: "1"},
		Options: []acp.PermissionOption{{OptionID: "n", Name: "No", Kind: acp.PermissionOptionKindRejectOnce}}})
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, err
}

func (a *storyteller) Cancel(context.Context, *acp.CancelNotification) error { return nil }

// viewer looks at the threads while the agent asks.
type viewer struct {
	threads *thread.Set
	asked   int // questions that were open meanwhile
}

func (v *viewer) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

func (v *viewer) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	v.asked = len(v.threads.Thread(req.SessionID).Snapshot().Permissions)
	return acp.Selected("n"), nil
}

func TestSet(t *testing.T) {
	a, b := stream.Pipe()
	teller := &storyteller{}
	end := agent.New(a, func(c *agent.Conn) acp.Agent { teller.conn = c; return teller },
		&agent.Options{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, end.Start(context.Background()))
	threads := thread.NewSet()
	v := &viewer{threads: threads}
	conn, err := client.Connect(context.Background(), b, func(*client.Conn) acp.Client { return v }, &client.Options{
		Receiving: []acp.Middleware{threads.Receiving}, Sending: []acp.Middleware{threads.Sending},
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		conn.Close()
		assert.NoError(t, conn.Wait())
		assert.NoError(t, end.Wait())
	})
	s, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
	require.NoError(t, err)
	th := threads.Thread(s.ID())
	assert.Equal(t, &thread.Modes{Current: "told", Available: []thread.Mode{{ID: "first", Name: "F"}}}, th.Snapshot().Modes)

	_, err = s.Prompt(t.Context(), acp.Text("hello")).Wait()
	require.NoError(t, err)
	assert.Equal(t, []string{"user: hello", "tool 1: T (pending, ended)"}, lines(th))
	assert.Equal(t, 1, v.asked)
	assert.Empty(t, th.Snapshot().Permissions)
	assert.Equal(t, thread.Turn{State: thread.StateIdle, StopReason: "end_turn"}, th.Snapshot().Turn)
	live := toJSON(t, th.Snapshot().Items.Slice())

	require.NoError(t, s.SetMode(t.Context(), "first"))
	assert.Equal(t, "first", th.Snapshot().Modes.Current)

	load := &acp.LoadSessionRequest{SessionID: s.ID(), Cwd: t.TempDir()}
	_, err = conn.StartLoadedSession(t.Context(), load, nil)
	require.Error(t, err, "the agent cannot load")
	assert.Equal(t, live, toJSON(t, th.Snapshot().Items.Slice()), "as before")
}

func TestSetForgetsSessionsThatWereNotOpened(t *testing.T) {
	threads := thread.NewSet()
	kept := threads.Thread("kept")
	tell := threads.Receiving(func(context.Context, string, any) (any, error) { return nil, nil })
	for i := range 1000 {
		id := acp.SessionID(fmt.Sprint(i))
		_, err := tell(t.Context(), "session/update", &acp.SessionNotification{SessionID: id, Update: &acp.AgentMessageChunk{Content: acp.Text("x")}})
		require.NoError(t, err)
	}
	assert.Same(t, kept, threads.Thread("kept"))
	assert.Equal(t, 1, threads.Thread("999").Snapshot().Items.Len())
	assert.Zero(t, threads.Thread("0").Snapshot().Items.Len(), "an early one was forgotten")
	threads.Forget("999")
	assert.Zero(t, threads.Thread("999").Snapshot().Items.Len())
}

func TestSetLoads(t *testing.T) {
	for _, fail := range []bool{false, true} {
		threads := thread.NewSet()
		th := threads.Thread("s")
		th.Apply(&acp.AgentMessageChunk{Content: acp.Text("old")})
		load := threads.Sending(func(_ context.Context, _ string, params any) (any, error) {
			th.Apply(&acp.AgentMessageChunk{Content: acp.Text("new")})
			th.Apply(&acp.ToolCall{ToolCallID: "1", Title: "T"})
			if fail {
				return nil, errors.New("x")
			}
			return &acp.LoadSessionResponse{Modes: &acp.SessionModeState{CurrentModeID: "m"}}, nil
		})
		_, err := load(t.Context(), "session/load", &acp.LoadSessionRequest{SessionID: "s"})
		if fail {
			assert.Error(t, err)
			assert.Equal(t, []string{"agent: old"}, lines(th))
			continue
		}
		assert.NoError(t, err)
		assert.Equal(t, []string{"agent: new", "tool 1: T (pending, ended)"}, lines(th))
		assert.Equal(t, "m", th.Snapshot().Modes.Current)
	}
}
