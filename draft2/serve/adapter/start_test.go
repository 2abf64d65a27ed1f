package adapter_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/serve/adapter"
	"github.com/acpkit/go-sdk/draft2/thread"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// november is an agent of version 1 with what the protocol has since November.
type november struct {
	testAgent
	mode acp.SessionModeID
}

func (a *november) SessionOptions(_ context.Context, req *acp.SessionOptionsRequest) (*acp.SessionOptionsResponse, error) {
	a.read(req)
	return &acp.SessionOptionsResponse{Modes: a.modes, ConfigOptions: a.opts}, nil
}

func (a *november) ForkSession(_ context.Context, req *acp.ForkSessionRequest) (*acp.ForkSessionResponse, error) {
	a.read(req)
	if req.CursorID == "unknown" {
		return nil, rpcerr.InvalidParams(nil).WithDetail("cursorId: unknown")
	}
	return &acp.ForkSessionResponse{SessionID: "forked", Modes: a.modes, ConfigOptions: a.opts}, nil
}

func (a *november) ResumeSession(_ context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	a.read(req)
	return &acp.ResumeSessionResponse{Modes: a.modes, ConfigOptions: a.opts}, nil
}

func (a *november) SetSessionMode(_ context.Context, req *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	a.mode = req.ModeID
	return &acp.SetSessionModeResponse{}, nil
}

func (a *november) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{AgentCapabilities: agent.Capabilities(a)}, nil
}

// shows is a client of version 2 with threads.
type shows struct{ acp2.Client }

func (shows) SessionUpdate(context.Context, *acp2.UpdateSessionNotification) error { return nil }

// beside connects a client of version 2 to a through an adapter.
func beside(t *testing.T, a *november, caps *acp2.ClientCapabilities, unstable bool) (*client.Conn, *thread.Set) {
	t.Helper()
	near, far := stream.Pipe()
	newV1 := func(c *agent.Conn) acp.Agent { a.conn = c; return a }
	above := agent2.New(far, adapter.FromV1(newV1, &adapter.Options{Logger: quiet, Agent: &agent.Options{Unstable: true}}), &agent2.Options{Unstable: unstable, Logger: quiet})
	require.NoError(t, above.Start(context.WithoutCancel(t.Context())))
	threads := new(thread.Set)
	conn := client.New(near, func(*client.Conn) acp2.Client { return threads.Client(shows{}) }, &client.Options{Unstable: true, Sending: []acp2.Middleware{threads.Sending}, Logger: quiet})
	require.NoError(t, conn.Start(context.WithoutCancel(t.Context())))
	_, err := conn.Initialize(t.Context(), &acp2.InitializeRequest{Capabilities: caps})
	require.NoError(t, err)
	t.Cleanup(func() {
		conn.Close()
		_ = above.Wait()
	})
	return conn, threads
}

func start(id string, value acp2.SessionConfigOptionValue) []acp2.InitialSessionConfigOption {
	return []acp2.InitialSessionConfigOption{{ConfigID: acp2.SessionConfigID(id), Value: value}}
}

// Options and values for the start of a session pass between the versions, and types of values that version 1
// does not have are refused.
func TestValuesForTheStart(t *testing.T) {
	a := &november{}
	a.opts = []acp.SessionConfigOption{{ID: "model", Name: "Model", Kind: &acp.SessionConfigSelect{CurrentValue: "m", Options: acp.SessionConfigSelectOptions{Ungrouped: []acp.SessionConfigSelectOption{{Value: "m", Name: "M"}}}}}}
	conn, _ := beside(t, a, nil, true)
	options, err := conn.SessionOptions(t.Context(), &acp2.SessionOptionsRequest{Cwd: "/w", SessionID: "s"})
	require.NoError(t, err)
	require.Len(t, options.ConfigOptions, 1)
	assert.EqualValues(t, "model", options.ConfigOptions[0].ConfigID)
	assert.Equal(t, &acp.SessionOptionsRequest{Cwd: "/w", SessionID: "s"}, a.latest)

	want := []acp.InitialSessionConfigOption{{ConfigID: "model", Value: &acp.SessionConfigValue{Value: "m"}}}
	id, on := &acp2.SessionConfigValue{Value: "m"}, &acp2.SessionConfigBooleanValue{Value: true}
	_, err = conn.NewSession(t.Context(), &acp2.NewSessionRequest{Cwd: "/w", ConfigOptions: start("model", id)})
	require.NoError(t, err)
	assert.Equal(t, want, a.latest.(*acp.NewSessionRequest).ConfigOptions)
	_, err = conn.ResumeSession(t.Context(), &acp2.ResumeSessionRequest{SessionID: "s", Cwd: "/w", ConfigOptions: start("b", on)})
	require.NoError(t, err)
	assert.Equal(t, []acp.InitialSessionConfigOption{{ConfigID: "b", Value: &acp.SessionConfigBooleanValue{Value: true}}}, a.latest.(*acp.ResumeSessionRequest).ConfigOptions)
	_, err = conn.ForkSession(t.Context(), &acp2.ForkSessionRequest{SessionID: "s", Cwd: "/w", CursorID: "c", ConfigOptions: start("model", id)})
	require.NoError(t, err)
	assert.Equal(t, &acp.ForkSessionRequest{SessionID: "s", Cwd: "/w", CursorID: "c", ConfigOptions: want}, a.latest)
	_, err = conn.ForkSession(t.Context(), &acp2.ForkSessionRequest{SessionID: "s", Cwd: "/w", CursorID: "unknown"})
	assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)

	for _, kind := range []string{"_own", "number"} {
		a.latest = nil
		_, err = conn.NewSession(t.Context(), &acp2.NewSessionRequest{Cwd: "/w", ConfigOptions: start("model", &acp2.UnknownSessionConfigOptionValue{Type: kind, Raw: []byte(`{"type":"` + kind + `","value":1}`)})})
		assert.ErrorIs(t, err, rpcerr.ErrInvalidParams, kind)
		assert.Nil(t, a.latest, "no session was created")
	}
}

// The modes of an agent are an option for the client, which can start a session in one of them.
func TestModeForTheStart(t *testing.T) {
	a := &november{}
	a.modes = &acp.SessionModeState{CurrentModeID: "ask", AvailableModes: []acp.SessionMode{{ID: "ask", Name: "Ask"}, {ID: "do", Name: "Do"}}}
	conn, _ := beside(t, a, nil, true)
	for value, want := range map[string]string{"do": "do", "fly": "ask"} {
		res, err := conn.NewSession(t.Context(), &acp2.NewSessionRequest{Cwd: "/w", ConfigOptions: start("mode", &acp2.SessionConfigValue{Value: acp2.SessionConfigValueID(value)})})
		require.NoError(t, err)
		assert.EqualValues(t, want, res.ConfigOptions[0].Kind.(*acp2.SessionConfigSelect).CurrentValue)
	}
	assert.EqualValues(t, "do", a.mode)
}

// Where the connection to the client does not allow unstable methods, nothing of this exists.
func TestNoValuesForTheStart(t *testing.T) {
	a := &november{}
	conn, _ := beside(t, a, nil, false)
	assert.False(t, conn.AgentCapabilities().Has("session.options"))
	assert.False(t, conn.AgentCapabilities().Has("session.fork"))
}

// Suggestions reach a client that shows them, and cursors every client. A cursor at a prompt that the agent
// has repeated names the message that the client knows.
func TestSuggestionsAndCursors(t *testing.T) {
	a := &november{}
	a.works = map[string]work{"go": func(ctx context.Context, a *testAgent, req *acp.PromptRequest) (*acp.PromptResponse, error) {
		err := a.send(ctx, req.SessionID, []acp.SessionUpdate{
			&acp.UserMessageChunk{MessageID: "mine", Content: acp.Text("go")},
			&acp.CursorUpdate{CursorID: "c", Anchor: &acp.CursorUserMessageAnchor{MessageID: "mine", Position: "before"}, Capabilities: acp.Some(acp.CursorCapabilities{Fork: &acp.CursorForkCapabilities{}})},
			&acp.CursorUpdate{CursorID: "d", Anchor: &acp.CursorAgentMessageAnchor{MessageID: "x", Position: "after"}},
		})
		require.NoError(t, err)
		err = a.send(ctx, req.SessionID, []acp.SessionUpdate{&acp.PromptSuggestionsUpdate{Suggestions: []acp.PromptSuggestion{{Prompt: []acp.ContentBlock{acp.Text("next")}}}}})
		if err != nil {
			return nil, err
		}
		return endTurn()
	}}
	conn, threads := beside(t, a, &acp2.ClientCapabilities{Session: &acp2.ClientSessionCapabilities{PromptSuggestions: &acp2.PromptSuggestionsCapabilities{}}}, true)
	s, err := conn.StartSession(t.Context(), &acp2.NewSessionRequest{Cwd: "/w"})
	require.NoError(t, err)
	turn := s.Prompt(t.Context(), acp2.Text("go"))
	_, err = turn.Wait()
	require.NoError(t, err)
	now := threads.Thread(s.ID()).Snapshot()
	require.Len(t, now.Suggestions, 1)
	assert.Equal(t, "next", now.Suggestions[0].Prompt[0].Text)
	accepted, err := turn.Accepted()
	require.NoError(t, err)
	require.Equal(t, 2, now.Cursors.Len())
	assert.Equal(t, string(accepted.MessageID), now.Cursors.At(0).Anchor.ID)
	assert.True(t, now.Cursors.At(0).Fork)
	assert.Equal(t, "x", now.Cursors.At(1).Anchor.ID)
}
