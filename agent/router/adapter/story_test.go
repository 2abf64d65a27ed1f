package adapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/router/adapter"
	agent2 "github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/thread"
	client2 "github.com/acpkit/go-sdk/client/v2"
	thread2 "github.com/acpkit/go-sdk/client/v2/thread"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// A client of version 1 and, through the adapter, a client of version 2 show the same thread for
// the same agent.
func TestTheSameStory(t *testing.T) {
	leak.Check(t)
	items := 0
	for seed := range uint64(300) {
		s := newStory(rand.New(rand.NewPCG(seed, 7)))
		direct := s.tellDirectly(t)
		through := s.tellThroughAdapter(t)
		items += direct.Items.Len()
		require.Equal(t, shown(t, direct), shown(t, through), "seed %d", seed)
	}
	assert.Greater(t, items, 2500, "the stories are long enough to say something")
}

// shown returns what a user sees of a thread, without the ids that only the adapter makes.
func shown(t *testing.T, s *thread.Snapshot) string {
	t.Helper()
	view := *s
	view.Revision = 0
	raw, err := json.Marshal(&view)
	require.NoError(t, err)
	var v map[string]any
	require.NoError(t, json.Unmarshal(raw, &v))
	for _, list := range []string{"items", "plans"} {
		all, _ := v[list].([]any)
		for _, item := range all {
			m := item.(map[string]any)
			if m["role"] != nil || m["id"] == "plan" {
				delete(m, "id")
			}
		}
	}
	out, err := json.MarshalIndent(v, "", " ")
	require.NoError(t, err)
	return string(out)
}

// story is a random conversation of an agent of version 1.
type story struct {
	r       *rand.Rand
	history []acp.SessionUpdate // history of a session that is loaded first; may be empty
	turns   []storyTurn
	parts   int // number of histories and turns so far
}

type storyTurn struct {
	updates, late []acp.SessionUpdate
	ask           bool
	end           acp.StopReason
	err           error
}

func newStory(r *rand.Rand) *story {
	s := &story{r: r}
	if r.IntN(2) == 0 {
		s.history = s.updates(8, true)
	}
	for range 1 + r.IntN(4) {
		turn := storyTurn{updates: s.updates(10, false), ask: r.IntN(3) == 0, end: []acp.StopReason{"end_turn", "refusal", "max_tokens"}[r.IntN(3)]}
		if r.IntN(3) == 0 {
			turn.late = s.updates(3, false)
		}
		if r.IntN(6) == 0 {
			turn.err = rpcerr.New(-32050, "out of luck", nil)
		}
		s.turns = append(s.turns, turn)
	}
	return s
}

func (s *story) text() string { return fmt.Sprint("text", s.r.IntN(1000), " ") }

func (s *story) updates(most int, replay bool) (list []acp.SessionUpdate) {
	s.parts++
	for range s.r.IntN(most) {
		list = append(list, s.update(replay))
	}
	return list
}

func (s *story) block() acp.ContentBlock {
	switch s.r.IntN(6) {
	case 0:
		return &acp.ImageContent{Data: "YQ==", MIMEType: "image/png", URI: "file:///i", Meta: acp.Meta{"k": s.text()}}
	case 1:
		return &acp.ResourceLink{Name: s.text(), URI: "file:///l", Size: new(int64(7))}
	case 2:
		return acp.Text("")
	}
	return acp.Text(s.text())
}

// update returns a random update that both versions have.
func (s *story) update(replay bool) acp.SessionUpdate {
	id := acp.MessageID("")
	if s.r.IntN(4) == 0 {
		id = acp.MessageID(fmt.Sprint("own", s.r.IntN(4)))
	}
	// In version 2 a tool call cannot begin again, so each part has its own ids.
	tool := acp.ToolCallID(fmt.Sprint("t", s.parts, "-", s.r.IntN(4)))
	switch n := s.r.IntN(16); {
	case n < 4:
		return &acp.AgentMessageChunk{MessageID: id, Content: s.block()}
	case n < 6:
		return &acp.AgentThoughtChunk{MessageID: id, Content: s.block()}
	case n < 7 && replay:
		return &acp.UserMessageChunk{MessageID: id, Content: s.block()}
	case n < 9:
		return &acp.ToolCall{ToolCallID: tool, Title: s.text(), Kind: "edit", Status: "pending", RawInput: json.RawMessage(`{"a":1}`)}
	case n < 11:
		u := &acp.ToolCallUpdate{ToolCallID: tool, Status: acp.ToolCallStatus([]string{"", "in_progress", "completed", "failed"}[s.r.IntN(4)])}
		if s.r.IntN(2) == 0 {
			u.Content = []acp.ToolCallContent{&acp.Content{Content: s.block()}, &acp.Terminal{TerminalID: "term"}}[:s.r.IntN(3)]
			u.Locations = []acp.ToolCallLocation{{Path: "/p", Line: new(uint32(3))}}
			u.RawOutput = json.RawMessage(`[2]`)
		}
		return u
	case n < 12:
		return &acp.Plan{Entries: []acp.PlanEntry{{Content: s.text(), Priority: "high", Status: "pending"}}}
	case n < 13:
		return &acp.AvailableCommandsUpdate{AvailableCommands: []acp.AvailableCommand{{Name: "c", Description: s.text(), Input: &acp.UnstructuredCommandInput{Hint: "h"}}}}
	case n < 14:
		return &acp.SessionInfoUpdate{Title: acp.Some(s.text()), Meta: acp.Meta{"k": "v"}}
	case n < 15:
		return &acp.ConfigOptionUpdate{ConfigOptions: []acp.SessionConfigOption{{ID: "o", Name: s.text(), Kind: &acp.SessionConfigBoolean{CurrentValue: true}}}}
	}
	return []acp.SessionUpdate{
		&acp.UsageUpdate{Used: s.r.Uint64N(1000), Size: 1000, Cost: &acp.Cost{Amount: 1.5, Currency: "USD"}},
		&acp.Notice{Severity: "info", Title: s.text()},
		&acp.CompactionUpdate{CompactionID: "c", Status: "completed", Summary: acp.Some([]acp.ContentBlock{acp.Text(s.text())})},
		&acp.SubagentUpdate{SessionID: "sub", Title: acp.Some(s.text())},
		&acp.UnknownSessionUpdate{Type: "_own", Raw: json.RawMessage(`{"sessionUpdate":"_own","a":1}`)},
	}[s.r.IntN(5)]
}

// teller is the agent that tells a story.
type teller struct {
	*plain
	story *story
}

func (a *teller) send(ctx context.Context, id acp.SessionID, list []acp.SessionUpdate) error {
	for _, u := range list {
		if err := a.conn.Session(id).Update(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

func (a *teller) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	return nil, a.send(ctx, req.SessionID, a.story.history)
}

func (a *teller) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	n, err := strconv.Atoi(acp.PlainText(req.Prompt...))
	if err != nil {
		return nil, err
	}
	turn := a.story.turns[n]
	if err := a.send(ctx, req.SessionID, turn.updates); err != nil {
		return nil, err
	}
	if turn.ask {
		res, err := a.conn.RequestPermission(ctx, &acp.RequestPermissionRequest{
			SessionID: req.SessionID, ToolCall: acp.ToolCallUpdate{ToolCallID: "t0", Title: "asked"}, Options: options,
		})
		if err != nil {
			return nil, err
		}
		if o, ok := res.Outcome.(*acp.SelectedPermissionOutcome); !ok || o.OptionID != "y" {
			return nil, errors.New("was not allowed")
		}
	}
	return &acp.PromptResponse{StopReason: turn.end}, turn.err
}

func (a *teller) HandleExtension(ctx context.Context, _ string, params json.RawMessage) (any, error) {
	var p struct {
		Session acp.SessionID
		Turn    int
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	return nil, a.send(ctx, p.Session, a.story.turns[p.Turn].late)
}

func (s *story) newAgent(conn *agent.Conn) acp.Agent {
	return &teller{&plain{conn: conn, caps: nil}, s}
}

// viewer is a client of version 1 with a thread.
type viewer struct{ t *thread.Thread }

func (v *viewer) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	v.t.Apply(n.Update)
	return nil
}

func (v *viewer) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	v.t.Permission(req)()
	return acp.Selected("y"), nil
}

func (s *story) tellDirectly(t *testing.T) *thread.Snapshot {
	near, far := stream.Pipe()
	served := make(chan error, 1)
	go func() { served <- agent.Serve(t.Context(), far, s.newAgent, &agent.Options{Logger: quiet}) }() // ends with near
	v := &viewer{thread.New()}
	conn := client.New(near, func(*client.Conn) acp.Client { return v }, &client.Options{Logger: quiet})
	require.NoError(t, conn.Start(t.Context()))
	_, err := conn.Initialize(t.Context(), &acp.InitializeRequest{ClientCapabilities: everything()})
	require.NoError(t, err)
	id := acp.SessionID("old")
	if s.history != nil {
		res, err := conn.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: "/"})
		require.NoError(t, err)
		v.t.Opened(res.Modes, res.ConfigOptions)
	} else {
		res, err := conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
		require.NoError(t, err)
		id = res.SessionID
	}
	for n := range s.turns {
		prompt := []acp.ContentBlock{acp.Text(strconv.Itoa(n))}
		v.t.Prompt(prompt)
		res, err := conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: prompt})
		v.t.EndTurn(res, err)
		require.NoError(t, conn.Call(t.Context(), "_late", map[string]any{"Session": id, "Turn": n}, nil))
	}
	require.NoError(t, conn.Close())
	require.NoError(t, conn.Wait())
	require.NoError(t, <-served)
	return v.t.Snapshot()
}

// everything returns the capabilities of a client that shows all kinds of updates.
func everything() *acp.ClientCapabilities {
	return &acp.ClientCapabilities{
		Session:   &acp.ClientSessionCapabilities{Compaction: &acp.CompactionCapabilities{}, Notices: &acp.NoticeCapabilities{}},
		Subagents: &acp.SubagentCapabilities{}, Plan: &acp.PlanCapabilities{},
	}
}

// viewer2 is a client of version 2 with a thread.
type viewer2 struct{ t *thread.Thread }

func (v *viewer2) SessionUpdate(_ context.Context, n *acp2.UpdateSessionNotification) error {
	thread2.Apply(v.t, n.Update)
	return nil
}

func (v *viewer2) RequestPermission(_ context.Context, req *acp2.RequestPermissionRequest) (*acp2.RequestPermissionResponse, error) {
	thread2.Permission(v.t, req)()
	return acp2.Selected("y"), nil
}

func (s *story) tellThroughAdapter(t *testing.T) *thread.Snapshot {
	near, far := stream.Pipe()
	served := make(chan error, 1)
	newV2 := adapter.FromV1(s.newAgent, &adapter.Options{Logger: quiet})
	go func() { served <- agent2.Serve(t.Context(), far, newV2, &agent2.Options{Logger: quiet}) }() // ends with near
	v := &viewer2{thread.New()}
	conn := client2.New(near, func(*client2.Conn) acp2.Client { return v }, &client2.Options{Logger: quiet})
	require.NoError(t, conn.Start(t.Context()))
	_, err := conn.Initialize(t.Context(), &acp2.InitializeRequest{Info: acp2.Implementation{Name: "c", Version: "1"}})
	require.NoError(t, err)
	var session *client2.Session
	if s.history != nil {
		session, err = conn.StartResumedSession(t.Context(), &acp2.ResumeSessionRequest{SessionID: "old", Cwd: "/", ReplayFrom: &acp2.ReplayFromStart{}}, nil)
	} else {
		session, err = conn.StartSession(t.Context(), &acp2.NewSessionRequest{Cwd: "/"})
	}
	require.NoError(t, err)
	for n, turn := range s.turns {
		prompt := []acp2.ContentBlock{acp2.Text(strconv.Itoa(n))}
		responded := thread2.Prompt(v.t, prompt)
		running := session.Prompt(t.Context(), prompt...)
		res, err := running.Accepted()
		require.NoError(t, err)
		responded(res)
		idle, err := running.Wait()
		if turn.err == nil {
			require.NoError(t, err)
			assert.Equal(t, acp2.StopReason(turn.end), idle.StopReason)
		} else {
			assert.ErrorContains(t, err, "out of luck")
		}
		require.NoError(t, conn.Call(t.Context(), "_late", map[string]any{"Session": session.ID(), "Turn": n}, nil))
	}
	require.NoError(t, conn.Close())
	require.NoError(t, conn.Wait())
	require.NoError(t, <-served)
	return v.t.Snapshot()
}
