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
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/thread"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/connect"
	"github.com/acpkit/go-sdk/draft2/serve/adapter"
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
		direct := s.tell(t, 1)
		through := s.tell(t, 2)
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
	switch s.r.IntN(9) {
	case 0:
		return &acp.ImageContent{Data: "YQ==", MIMEType: "image/png", URI: "file:///i", Meta: acp.Meta{"k": s.text()}}
	case 1:
		return &acp.ResourceLink{Name: s.text(), URI: "file:///l", Title: "t", Description: "d", MIMEType: "a/b", Size: new(int64(7))}
	case 2:
		return acp.Text("")
	case 3:
		return &acp.EmbeddedResource{Resource: &acp.TextResourceContents{Text: s.text(), URI: "file:///r", MIMEType: "a/b", Meta: acp.Meta{"k": "v"}}}
	case 4:
		return &acp.TextContent{Text: s.text(), Annotations: &acp.Annotations{Audience: []acp.Role{acp.RoleUser}, LastModified: "x", Priority: new(s.r.Float64())}}
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
		title := acp.Some(s.text())
		if s.r.IntN(3) == 0 {
			title = acp.Null[string]()
		}
		return &acp.SessionInfoUpdate{Title: title, Meta: acp.Meta{"k": "v"}}
	case n < 15:
		group := acp.SessionConfigSelectGroup{Group: "g", Name: "G", Options: []acp.SessionConfigSelectOption{{Value: "v", Name: "V"}}}
		return &acp.ConfigOptionUpdate{ConfigOptions: []acp.SessionConfigOption{
			{ID: "o", Name: s.text(), Kind: &acp.SessionConfigBoolean{CurrentValue: true}},
			{ID: "s", Name: "S", Category: "mode", Kind: &acp.SessionConfigSelect{CurrentValue: "v",
				Options: acp.SessionConfigSelectOptions{Grouped: []acp.SessionConfigSelectGroup{group}}}},
		}}
	}
	return []acp.SessionUpdate{
		&acp.UsageUpdate{Used: s.r.Uint64N(1000), Size: 1000, Cost: &acp.Cost{Amount: 1.5, Currency: "USD"}},
		&acp.Notice{Severity: "info", Title: s.text()},
		&acp.CompactionUpdate{CompactionID: "c", Status: "completed", Summary: acp.Some([]acp.ContentBlock{acp.Text(s.text())})},
		&acp.CompactionUpdate{CompactionID: "c", Status: "failed", Error: acp.Some(s.text())},
		&acp.CompactionSummaryChunk{CompactionID: "c", Content: s.block()},
		&acp.SubagentUpdate{SessionID: "sub", Title: acp.Some(s.text())},
		&acp.SubagentUpdate{SessionID: "sub", Title: acp.Some(s.text()), State: acp.Some[acp.StateUpdate](&acp.RunningStateUpdate{})},
		&acp.PlanUpdate{Plan: &acp.PlanItems{PlanID: "p", Entries: []acp.PlanEntry{{Content: s.text(), Priority: "low", Status: "completed"}}}},
		&acp.UnknownSessionUpdate{Type: "_own", Raw: json.RawMessage(`{"sessionUpdate":"_own","a":1}`)},
		&acp.SessionMessage{MessageID: "from1", SenderSessionID: acp.Some[acp.SessionID]("sub"), Content: acp.Some([]acp.ContentBlock{s.block()})},
		&acp.SessionMessageChunk{MessageID: "from2", Content: s.block()},
	}[s.r.IntN(11)]
}

// teller is the agent that tells a story.
type teller struct {
	*testAgent
	story *story
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
	return &acp.PromptResponse{StopReason: turn.end, Usage: &acp.Usage{TotalTokens: 3, InputTokens: 2, OutputTokens: 1}}, turn.err
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
	return &teller{&testAgent{conn: conn, caps: nil}, s}
}

// tell returns the thread that a client of that version shows at the end of the story.
func (s *story) tell(t *testing.T, version int) *thread.Snapshot {
	near, far := stream.Pipe()
	served := make(chan error, 1)
	go func() { // ends with near
		if version == acp.ProtocolVersion {
			served <- agent.Serve(t.Context(), far, s.newAgent, &agent.Options{Logger: quiet})
		} else {
			served <- agent2.Serve(t.Context(), far, adapter.FromV1(s.newAgent, &adapter.Options{Logger: quiet}), &agent2.Options{Logger: quiet})
		}
	}()
	policy := permission.New(&permission.Options{Ask: func(_ context.Context, q *permission.Question) (string, error) {
		return q.Pick(permission.AllowOnce), nil
	}})
	conn, err := connect.ConnectOver(t.Context(), near, &connect.Options{
		Only: version, Permission: policy, Logger: quiet,
		InitializeV1: &acp.InitializeRequest{ClientCapabilities: everything()},
	})
	require.NoError(t, err)
	var session *connect.Session
	if s.history != nil {
		session, err = conn.LoadSession(t.Context(), "old", &connect.SessionParams{Cwd: "/"})
	} else {
		session, err = conn.StartSession(t.Context(), &connect.SessionParams{Cwd: "/"})
	}
	require.NoError(t, err)
	for n, turn := range s.turns {
		end, err := session.Prompt(t.Context(), connect.Text(strconv.Itoa(n))).Wait()
		if turn.err == nil {
			require.NoError(t, err)
			assert.EqualValues(t, turn.end, end.StopReason)
		} else {
			assert.ErrorContains(t, err, "out of luck")
		}
		late := map[string]any{"Session": session.ID(), "Turn": n}
		if version == acp.ProtocolVersion {
			err = conn.V1().Call(t.Context(), "_late", late, nil)
		} else {
			err = conn.V2().Call(t.Context(), "_late", late, nil)
		}
		require.NoError(t, err)
	}
	var shown *thread.Snapshot
	for shown = range session.Thread().Watch(t.Context()) {
		if len(shown.Queued) == 0 { // the response to the last prompt may arrive after its turn has ended
			break
		}
	}
	require.NoError(t, conn.Close())
	require.NoError(t, conn.Wait())
	require.NoError(t, <-served)
	return shown
}

// everything returns the capabilities of a client that shows all kinds of updates.
func everything() *acp.ClientCapabilities {
	return &acp.ClientCapabilities{
		Session: &acp.ClientSessionCapabilities{
			Compaction: &acp.CompactionCapabilities{}, Notices: &acp.NoticeCapabilities{},
			ConfigOptions: &acp.SessionConfigOptionsCapabilities{Boolean: &acp.BooleanConfigOptionCapabilities{}},
		},
		Subagents: &acp.SubagentCapabilities{}, Plan: &acp.PlanCapabilities{},
	}
}
