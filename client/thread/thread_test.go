package thread_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/rpcerr"
)

func TestItems(t *testing.T) {
	const (
		call   = `{"sessionUpdate":"tool_call","toolCallId":"1","title":"Read","kind":"read","status":"in_progress"}`
		done   = `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`
		notice = `{"sessionUpdate":"notice","severity":"warning","title":"slow"}`
	)
	for name, c := range map[string]struct{ updates, want []string }{
		"neighbours are one message": {
			[]string{agentText("a"), agentText("b"), chunk("agent_thought_chunk", "", "x"), agentText("c")},
			[]string{"agent: ab", "thought: x", "agent: c"},
		},
		"ids join across the distance": {
			[]string{chunk("agent_message_chunk", "1", "a"), chunk("agent_message_chunk", "2", "x"), chunk("agent_message_chunk", "1", "b")},
			[]string{"agent: ab", "agent: x"},
		},
		"ids belong to a role": {
			[]string{chunk("user_message_chunk", "1", "q"), chunk("agent_message_chunk", "1", "a"), chunk("agent_thought_chunk", "1", "t")},
			[]string{"user: q", "agent: a", "thought: t"},
		},
		"a change of ids starts a message": {
			[]string{chunk("agent_message_chunk", "1", "a"), chunk("agent_message_chunk", "2", "b")},
			[]string{"agent: a", "agent: b"},
		},
		"a chunk without id continues its neighbour": {
			[]string{chunk("agent_message_chunk", "1", "a"), agentText("b")},
			[]string{"agent: ab"},
		},
		"a new tool call separates": {
			[]string{agentText("a"), call, agentText("b")},
			[]string{"agent: a", "tool 1: Read (in_progress)", "agent: b"},
		},
		"an update of an old one does not": {
			[]string{call, agentText("a"), done, agentText("b")},
			[]string{"tool 1: Read (completed)", "agent: ab"},
		},
		"a notice does not": {
			[]string{agentText("a"), notice, agentText("b")},
			[]string{"agent: ab", "warning: slow"},
		},
		"an unknown update does not, and is kept": {
			[]string{agentText("a"), `{"sessionUpdate":"_x","n":1}`, agentText("b")},
			[]string{"agent: ab", "unknown: _x"},
		},
		"an empty chunk says nothing": {
			[]string{agentText("a"), chunk("agent_thought_chunk", "", ""), agentText("b"), chunk("agent_thought_chunk", "7", "")},
			[]string{"agent: ab"},
		},
		"update before create": {
			[]string{done, call},
			[]string{"tool 1: Read (in_progress)"},
		},
		"announced twice": {
			[]string{call, call},
			[]string{"tool 1: Read (in_progress)"},
		},
		"compaction": {
			[]string{
				`{"sessionUpdate":"compaction_summary_chunk","compactionId":"k","content":{"type":"text","text":"s"}}`,
				`{"sessionUpdate":"compaction_update","compactionId":"k","status":"completed"}`,
			},
			[]string{"compaction: completed"},
		},
		"subagent": {
			[]string{
				`{"sessionUpdate":"subagent_update","sessionId":"c","title":"t"}`,
				`{"sessionUpdate":"subagent_update","sessionId":"c","title":"u","state":{"state":"idle","stopReason":"end_turn"}}`,
				`{"sessionUpdate":"session_message","messageId":"m","senderSessionId":"c","content":[{"type":"text","text":"hi"}]}`,
				`{"sessionUpdate":"session_message_chunk","messageId":"m","content":{"type":"text","text":"!"}}`,
			},
			[]string{"subagent: u", "session: hi!"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, lines(threadOf(t, c.updates...)))
		})
	}
}

func TestToolCallFields(t *testing.T) {
	const create = `{"sessionUpdate":"tool_call","toolCallId":"1","title":"Edit","name":"edit","kind":"edit","status":"in_progress",
		"content":[{"type":"content","content":{"type":"text","text":"x"}}],"locations":[{"path":"/a","line":3}],"rawInput":{"a":1},"rawOutput":[2]}`
	get := func(updates ...string) *thread.ToolCall {
		return threadOf(t, append([]string{create}, updates...)...).Snapshot().ToolCall("1")
	}
	whole := get()
	assert.Equal(t, "edit", whole.Name)
	assert.JSONEq(t, `{"a":1}`, string(whole.RawInput))
	assert.JSONEq(t, `[2]`, string(whole.RawOutput))
	require.Len(t, whole.Locations, 1)
	assert.EqualValues(t, 3, *whole.Locations[0].Line)

	for _, keep := range []string{
		`{"sessionUpdate":"tool_call_update","toolCallId":"1"}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"1","title":null,"kind":null,"status":null,"content":null,"locations":null,"rawInput":null,"rawOutput":null}`,
	} {
		assert.Equal(t, whole, get(keep), "absent and null keep")
	}
	cleared := get(`{"sessionUpdate":"tool_call_update","toolCallId":"1","content":[],"locations":[]}`)
	assert.Zero(t, cleared.Content.Len())
	assert.Empty(t, cleared.Locations)
	replaced := get(`{"sessionUpdate":"tool_call_update","toolCallId":"1","content":[{"type":"diff","path":"/a","oldText":"1","newText":"2"},
		{"type":"terminal","terminalId":"t"},{"type":"hologram","n":1},{"type":"diff","path":"/n","newText":""}]}`)
	require.Equal(t, 4, replaced.Content.Len())
	diff := replaced.Content.At(0).Diff
	assert.Equal(t, []thread.FileChange{{Operation: thread.FileModify, Path: "/a"}}, diff.Changes)
	assert.Equal(t, "2", *diff.NewText)
	assert.Equal(t, "t", replaced.Content.At(1).TerminalID)
	assert.JSONEq(t, `{"type":"hologram","n":1}`, string(replaced.Content.At(2).Raw))
	assert.Equal(t, thread.FileAdd, replaced.Content.At(3).Diff.Changes[0].Operation)
	assert.Nil(t, threadOf(t).Snapshot().ToolCall("1"))
	assert.Equal(t, "other", threadOf(t, `{"sessionUpdate":"tool_call","toolCallId":"1","title":"x"}`).Snapshot().ToolCall("1").Kind)
}

func TestSessionState(t *testing.T) {
	s := threadOf(t,
		`{"sessionUpdate":"plan","entries":[{"content":"a","priority":"high","status":"pending"}]}`,
		`{"sessionUpdate":"plan","entries":[{"content":"b","priority":"low","status":"completed"}]}`,
		`{"sessionUpdate":"plan_update","plan":{"type":"markdown","planId":"m","content":"# x","path":"/p.md"}}`,
		`{"sessionUpdate":"plan_update","plan":{"type":"file","planId":"f","uri":"file:///p"}}`,
		`{"sessionUpdate":"plan_removed","planId":"f"}`,
		`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"go","description":"d","input":{"hint":"where"}}]}`,
		`{"sessionUpdate":"current_mode_update","currentModeId":"ask"}`,
		`{"sessionUpdate":"config_option_update","configOptions":[{"id":"o","name":"O","type":"select","currentValue":"v",
			"options":[{"group":"g","name":"G","options":[{"value":"v","name":"V"}]}]},{"id":"b","name":"B","type":"boolean","currentValue":true}]}`,
		`{"sessionUpdate":"session_info_update","title":"T","updatedAt":"2026-01-01T00:00:00Z"}`,
		`{"sessionUpdate":"session_info_update","updatedAt":null}`,
		`{"sessionUpdate":"usage_update","used":1,"size":9,"cost":{"amount":0.5,"currency":"USD"}}`,
		`{"sessionUpdate":"usage_update","used":2,"size":9}`,
		`{"sessionUpdate":"prompt_suggestions_update","suggestions":[{"prompt":[{"type":"text","text":"old"}]}]}`,
		`{"sessionUpdate":"prompt_suggestions_update","suggestions":[{"prompt":[{"type":"text","text":"Run it"}]}]}`,
	).Snapshot()
	assert.Equal(t, []thread.Suggestion{{Prompt: []thread.Block{{Type: thread.BlockText, Text: "Run it"}}}}, s.Suggestions)
	require.Len(t, s.Plans, 2)
	assert.Equal(t, []thread.PlanEntry{{Content: "b", Priority: "low", Status: "completed"}}, s.Plans[0].Entries)
	assert.Equal(t, thread.Plan{ID: "m", Markdown: "# x", Path: "/p.md"}, s.Plans[1])
	assert.Equal(t, []thread.Command{{Name: "go", Description: "d", TakesInput: true, Hint: "where"}}, s.Commands)
	assert.Equal(t, "ask", s.Modes.Current)
	require.Len(t, s.Options, 2)
	assert.Equal(t, "v", s.Options[0].Value)
	assert.Equal(t, "V", s.Options[0].Groups[0].Values[0].Name)
	assert.True(t, s.Options[1].On)
	assert.Equal(t, "T", s.Title)
	assert.Empty(t, s.UpdatedAt)
	assert.EqualValues(t, 2, s.Usage.Used)
	assert.Equal(t, "USD", s.Usage.Cost.Currency)
}

// The first update of a cursor places it; later ones change what can be done there.
func TestCursors(t *testing.T) {
	th := threadOf(t,
		`{"sessionUpdate":"cursor_update","cursorId":"lost","capabilities":{"fork":{}}}`,
		`{"sessionUpdate":"cursor_update","cursorId":"a","anchor":{"type":"user_message","messageId":"m","position":"before"},"capabilities":{"fork":{}},"_meta":{"k":1,"l":1}}`,
		`{"sessionUpdate":"cursor_update","cursorId":"b","anchor":{"type":"tool_call","toolCallId":"c","position":"after"},"capabilities":{"fork":{}}}`,
		`{"sessionUpdate":"cursor_update","cursorId":"c","anchor":{"type":"_x","n":1}}`,
		`{"sessionUpdate":"cursor_update","cursorId":"a","anchor":{"type":"compaction","compactionId":"z","position":"after"},"_meta":{"k":2}}`,
		`{"sessionUpdate":"cursor_update","cursorId":"b","capabilities":null}`,
		`{"sessionUpdate":"cursor_update","cursorId":"c","capabilities":{}}`,
	)
	want := []thread.Cursor{
		{ID: "a", Anchor: thread.CursorAnchor{Type: "user_message", ID: "m", Position: "before"}, Fork: true, Meta: thread.Meta{"k": 2.0}},
		{ID: "b", Anchor: thread.CursorAnchor{Type: "tool_call", ID: "c", Position: "after"}},
		{ID: "c", Anchor: thread.CursorAnchor{Type: "_x", Raw: json.RawMessage(`{"type":"_x","n":1}`)}},
	}
	assert.Equal(t, want, th.Snapshot().Cursors.Slice())

	var read thread.Snapshot
	encoded, err := json.Marshal(th.Snapshot())
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(encoded, &read))
	again := thread.New()
	again.Restore(&read)
	again.Apply(update(t, `{"sessionUpdate":"cursor_update","cursorId":"b","capabilities":{"fork":{}}}`))
	require.Equal(t, 3, again.Snapshot().Cursors.Len())
	assert.True(t, again.Snapshot().Cursors.At(1).Fork)
	assert.False(t, th.Snapshot().Cursors.At(1).Fork)
}

func TestOpened(t *testing.T) {
	th := threadOf(t, `{"sessionUpdate":"tool_call","toolCallId":"1","title":"T"}`)
	th.Opened(&acp.SessionModeState{CurrentModeID: "a", AvailableModes: []acp.SessionMode{{ID: "a", Name: "A"}}}, nil)
	assert.Equal(t, []string{"tool 1: T (pending, ended)"}, lines(th), "what was replayed is over")
	th.Apply(&acp.CurrentModeUpdate{CurrentModeID: "b"})
	s := th.Snapshot()
	assert.Equal(t, &thread.Modes{Current: "b", Available: []thread.Mode{{ID: "a", Name: "A"}}}, s.Modes)
}

func TestTurn(t *testing.T) {
	th := thread.New()
	prompt := []acp.ContentBlock{acp.Text("do it")}
	open := `{"sessionUpdate":"tool_call","toolCallId":"1","title":"T","status":"in_progress"}`
	th.Prompt(prompt)
	assert.Equal(t, thread.StateRunning, th.Snapshot().Turn.State)
	th.Apply(update(t, open))
	th.Apply(update(t, agentText("a")))
	th.EndTurn(&acp.PromptResponse{StopReason: acp.StopReasonCancelled, Usage: &acp.Usage{TotalTokens: 3}}, nil)
	s := th.Snapshot()
	assert.Equal(t, thread.Turn{State: thread.StateIdle, StopReason: "cancelled", Usage: &thread.Tokens{Total: 3}}, s.Turn)
	assert.Equal(t, []string{"user: do it", "tool 1: T (in_progress, ended)", "agent: a"}, lines(th))
	assert.False(t, s.ToolCall("1").Open())

	th.Apply(update(t, agentText("late")))
	th.Apply(update(t, `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`))
	assert.Equal(t, []string{"user: do it", "tool 1: T (completed)", "agent: a", "agent: late"}, lines(th))
	assert.Equal(t, thread.StateIdle, th.Snapshot().Turn.State, "a late update begins no turn")

	th.Prompt(prompt)
	th.EndTurn(nil, rpcerr.InternalError(map[string]string{"reason": "no key"}))
	failed := th.Snapshot().Turn
	assert.Equal(t, "error", failed.StopReason)
	assert.Equal(t, "Internal error", failed.Error.Message)
	assert.Equal(t, -32603, failed.Error.Code)
	assert.JSONEq(t, `{"reason":"no key"}`, string(failed.Error.Data))
	th.Prompt(prompt)
	th.EndTurn(nil, errors.New("gone"))
	assert.Equal(t, &thread.Failure{Message: "gone"}, th.Snapshot().Turn.Error)
}

func TestBackgroundCallsStayOpen(t *testing.T) {
	th := threadOf(t, `{"sessionUpdate":"tool_call","toolCallId":"1","title":"A"}`, `{"sessionUpdate":"tool_call","toolCallId":"2","title":"B"}`)
	th.Do(thread.StateChanged{State: thread.StateIdle, Background: &[]thread.Background{{Type: "tool_call", ID: "2"}}})
	assert.Equal(t, []string{"tool 1: A (pending, ended)", "tool 2: B (pending)"}, lines(th))
	th.Do(thread.StateChanged{State: thread.StateIdle, Background: &[]thread.Background{}})
	assert.Equal(t, []string{"tool 1: A (pending, ended)", "tool 2: B (pending, ended)"}, lines(th))
}

func TestPermission(t *testing.T) {
	th := thread.New()
	req := &acp.RequestPermissionRequest{
		SessionID: "s", ToolCall: acp.ToolCallUpdate{ToolCallID: "1", Title: "rm", Kind: acp.ToolKindDelete},
		Options: []acp.PermissionOption{{OptionID: "y", Name: "Yes", Kind: "allow_once"}},
	}
	key := th.Permission(req)
	other := th.Permission(req)
	assert.Equal(t, []string{"tool 1: rm (pending)"}, lines(th), "the question is the first mention of the call")
	require.Len(t, th.Snapshot().Permissions, 2)
	assert.Equal(t, "y", th.Snapshot().Permissions[0].Options[0].ID)
	th.Answered(key)
	th.Answered(key)
	require.Len(t, th.Snapshot().Permissions, 1)
	th.EndTurn(&acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil)
	assert.Empty(t, th.Snapshot().Permissions, "no question outlives the turn")
	th.Answered(other)
}

// The handler of a permission request may run after a later update, which reports that the call was
// cancelled.
func TestPermissionForACallThatIsOver(t *testing.T) {
	th := threadOf(t, `{"sessionUpdate":"tool_call","toolCallId":"1","title":"rm"}`, `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"failed"}`)
	th.Permission(&acp.RequestPermissionRequest{ToolCall: acp.ToolCallUpdate{ToolCallID: "1", Title: "rm all", Status: acp.ToolCallStatusPending}})
	assert.Equal(t, []string{"tool 1: rm (failed)"}, lines(th))
	assert.Len(t, th.Snapshot().Permissions, 1)
}

func TestEcho(t *testing.T) {
	link := &acp.ResourceLink{Name: "f", URI: "file:///f"}
	linked := `{"sessionUpdate":"user_message_chunk","content":{"type":"resource_link","name":"f","uri":"file:///f"}}`
	for name, c := range map[string]struct{ echo, want []string }{
		"none":                 {nil, []string{"user: look at this"}},
		"whole":                {[]string{chunk("user_message_chunk", "u", "look at "), linked, chunk("user_message_chunk", "u", "this")}, []string{"user: look at this"}},
		"in pieces":            {[]string{chunk("user_message_chunk", "", "look"), chunk("user_message_chunk", "", " at "), linked, chunk("user_message_chunk", "", "this")}, []string{"user: look at this"}},
		"another message":      {[]string{chunk("user_message_chunk", "", "expanded")}, []string{"user: look at this", "user: expanded"}},
		"like it at first":     {[]string{chunk("user_message_chunk", "", "look"), chunk("user_message_chunk", "", "!")}, []string{"user: look at this", "user: look!"}},
		"with an id, like it":  {[]string{chunk("user_message_chunk", "u", "look"), chunk("user_message_chunk", "u", "!")}, []string{"user: look at this", "user: look!"}},
		"after the agent said": {[]string{agentText("ok"), chunk("user_message_chunk", "", "look at "), linked, chunk("user_message_chunk", "", "this")}, []string{"user: look at this", "agent: ok"}},
	} {
		t.Run(name, func(t *testing.T) {
			th := thread.New()
			th.Prompt([]acp.ContentBlock{acp.Text("look "), acp.Text("at "), link, acp.Text("this")})
			for _, u := range c.echo {
				th.Apply(update(t, u))
			}
			assert.Equal(t, c.want, lines(th))
		})
	}
	t.Run("named by the echo", func(t *testing.T) {
		th := thread.New()
		th.Prompt([]acp.ContentBlock{acp.Text("a")})
		th.Apply(update(t, chunk("user_message_chunk", "u1", "a")))
		th.Do(thread.MessageChanged{Role: thread.RoleUser, ID: "u1", Content: &[]thread.Block{{Type: "text", Text: "b"}}})
		assert.Equal(t, []string{"user: b"}, lines(th))
	})
	t.Run("held prompts, whole echoes", func(t *testing.T) {
		th := thread.New()
		for _, p := range []string{"a", "b"} {
			th.Prompt([]acp.ContentBlock{acp.Text(p)})
		}
		for i, p := range []string{"a", "b"} {
			th.Do(thread.MessageChanged{Role: thread.RoleUser, ID: []string{"1", "2"}[i], Content: &[]thread.Block{{Type: "text", Text: p}}})
		}
		th.Enqueue([]thread.Block{{Type: "text", Text: "b"}})("2")
		assert.Equal(t, []string{"user: a", "user: b"}, lines(th))
	})
}

func TestTerminalOutput(t *testing.T) {
	th := thread.New()
	th.Do(thread.TerminalChanged{ID: "t", Append: []byte("abc")})
	before := th.Snapshot().Terminal("t")
	th.Do(thread.TerminalChanged{ID: "t", Append: []byte("def")})
	assert.Equal(t, "abc", string(before.Output), "a snapshot does not change")
	assert.Equal(t, "abcdef", string(th.Snapshot().Terminal("t").Output))

	piece := make([]byte, 100_000)
	for i := range 100 {
		for j := range piece {
			piece[j] = byte(i)
		}
		th.Do(thread.TerminalChanged{ID: "t", Append: piece})
		require.LessOrEqual(t, len(th.Snapshot().Terminal("t").Output), 1<<20)
	}
	after := th.Snapshot().Terminal("t")
	assert.Len(t, after.Output, 1<<20)
	assert.True(t, after.Truncated)
	assert.EqualValues(t, 10_000_006-len(after.Output), after.Offset)
	assert.Equal(t, byte(99), after.Output[len(after.Output)-1])
	code := int64(2)
	exit, cleared := &thread.Exit{Code: &code}, []byte("new")
	th.Do(thread.TerminalChanged{ID: "t", Exit: &exit, Output: &cleared})
	assert.Equal(t, &thread.Terminal{ID: "t", Output: []byte("new"), Exit: exit}, th.Snapshot().Terminal("t"))
	th.Do(thread.TerminalChanged{ID: "t", Append: make([]byte, 3<<20)})
	assert.Len(t, th.Snapshot().Terminal("t").Output, 1<<20)
	assert.Nil(t, th.Snapshot().Terminal("u"))
}

func TestResetAndRestore(t *testing.T) {
	th := threadOf(t, agentText("a"), `{"sessionUpdate":"tool_call","toolCallId":"1","title":"T"}`, chunk("agent_message_chunk", "m", "b"),
		`{"sessionUpdate":"compaction_update","compactionId":"k","status":"in_progress"}`, `{"sessionUpdate":"subagent_update","sessionId":"c","title":"t"}`,
		`{"sessionUpdate":"notice","severity":"info","title":"n"}`, `{"sessionUpdate":"_x"}`,
		`{"sessionUpdate":"session_info_update","title":"T"}`)
	th.Do(thread.TerminalChanged{ID: "t", Append: []byte("out")})
	kept, before := th.Snapshot(), lines(th)
	th.Reset()
	assert.Zero(t, th.Snapshot().Items.Len())
	assert.Nil(t, th.Snapshot().ToolCall("1"))
	assert.Empty(t, th.Snapshot().Title)
	assert.NotNil(t, kept.ToolCall("1"), "an old snapshot stays whole")

	var read thread.Snapshot
	require.NoError(t, json.Unmarshal([]byte(toJSON(t, kept)), &read))
	th.Restore(&read)
	before[1] = "tool 1: T (pending, ended)"
	assert.Equal(t, before, lines(th))
	assert.Equal(t, "out", string(th.Snapshot().Terminal("t").Output))
	assert.Equal(t, "T", th.Snapshot().Title)
	// The thread continues where it was.
	th.Apply(update(t, chunk("agent_message_chunk", "m", "!")))
	th.Apply(update(t, `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`))
	th.Apply(update(t, `{"sessionUpdate":"compaction_update","compactionId":"k","status":"completed"}`))
	th.Do(thread.TerminalChanged{ID: "t", Append: []byte("+")})
	before[1], before[2], before[3] = "tool 1: T (completed)", "agent: b!", "compaction: completed"
	assert.Equal(t, before, lines(th))
	assert.Equal(t, "out+", string(th.Snapshot().Terminal("t").Output))
}

func TestSnapshotsDoNotChange(t *testing.T) {
	th := threadOf(t, agentText("a"), `{"sessionUpdate":"tool_call","toolCallId":"1","title":"T"}`)
	old := th.Snapshot()
	text := toJSON(t, old)
	assert.Same(t, old, th.Snapshot(), "nothing has changed")
	for range 100 {
		th.Apply(update(t, agentText("b")))
		th.Apply(update(t, chunk("agent_thought_chunk", "x", "b")))
		th.Apply(update(t, `{"sessionUpdate":"tool_call_update","toolCallId":"1","title":"U"}`))
		th.Apply(update(t, `{"sessionUpdate":"plan","entries":[]}`))
		th.Snapshot()
	}
	assert.Equal(t, text, toJSON(t, old))
	assert.Equal(t, "T", old.ToolCall("1").Title)
}

func TestJSONRefusesWhatItCannotKeep(t *testing.T) {
	var s thread.Snapshot
	assert.ErrorContains(t, json.Unmarshal([]byte(`{"items":[{"item":"hologram"}]}`), &s), "hologram")
	assert.Error(t, json.Unmarshal([]byte(`{"items":[{"item":"message","role":7}]}`), &s))
	assert.Error(t, json.Unmarshal([]byte(`{"terminals":[null]}`), &s))
}

func TestZeroSnapshot(t *testing.T) {
	var s thread.Snapshot
	assert.Nil(t, s.ToolCall("x"))
	assert.Nil(t, s.Terminal("x"))
	for range s.Items.All() {
		t.Fail()
	}
	assert.Panics(t, func() { s.Items.At(0) })
}

// A viewer of a recording continues from a snapshot in the middle of a turn, as if it had applied
// all updates before.
func TestContinueFromASnapshotInATurn(t *testing.T) {
	updates := []string{
		agentText("Let me "), agentText("look."),
		`{"sessionUpdate":"tool_call","toolCallId":"a","title":"A","status":"in_progress"}`,
		`{"sessionUpdate":"tool_call","toolCallId":"b","title":"B"}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"a","title":"A2"}`,
		agentText("Well"), agentText(", done."),
	}
	whole := thread.New()
	whole.Prompt([]acp.ContentBlock{acp.Text("hi")})
	for at := range updates {
		half := thread.New()
		half.Continue(whole.Snapshot())
		assert.Equal(t, thread.StateRunning, half.Snapshot().Turn.State)
		for _, u := range updates[at:] {
			half.Apply(update(t, u))
		}
		rest := thread.New()
		rest.Prompt([]acp.ContentBlock{acp.Text("hi")})
		for _, u := range updates {
			rest.Apply(update(t, u))
		}
		assert.Equal(t, lines(rest), lines(half), "continued before update %d", at)
		half.EndTurn(&acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil)
		rest.EndTurn(&acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil)
		assert.Equal(t, toJSON(t, rest.Snapshot().Items.Slice()), toJSON(t, half.Snapshot().Items.Slice()))
		whole.Apply(update(t, updates[at]))
	}
}

// It also shows what still waits, and ends that by its key.
func TestContinueWithWhatWaits(t *testing.T) {
	whole := thread.New()
	whole.Answered(whole.Ask(thread.Permission{Title: "answered"}))
	whole.Ask(thread.Permission{Title: "pending"})
	whole.Enqueue([]thread.Block{{Type: "text", Text: "hi"}})
	before := whole.Snapshot()
	half := thread.New()
	half.Continue(before)
	half.Ask(thread.Permission{Title: "new"})
	require.Len(t, half.Snapshot().Permissions, 2)
	assert.Equal(t, before.Permissions[0], half.Snapshot().Permissions[0])
	require.Equal(t, before.Queued, half.Snapshot().Queued)

	half.Answered(before.Permissions[0].Key)
	half.Dequeue(before.Queued[0].Key, "m")
	after := half.Snapshot()
	require.Len(t, after.Permissions, 1)
	assert.Equal(t, "new", after.Permissions[0].Title)
	assert.Empty(t, after.Queued)
	assert.Equal(t, "m", after.Items.At(0).(*thread.Message).ID)
}
