package thread_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	v1 "github.com/acpkit/go-sdk/acp"
	model "github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/thread"
)

func TestItems(t *testing.T) {
	for name, c := range map[string]struct {
		updates []string
		want    string // the items
	}{
		"chunks of two messages may alternate": {[]string{
			`{"sessionUpdate":"agent_message_chunk","messageId":"a","content":{"type":"text","text":"1"}}`,
			`{"sessionUpdate":"agent_message_chunk","messageId":"b","content":{"type":"text","text":"2"}}`,
			`{"sessionUpdate":"agent_message_chunk","messageId":"a","content":{"type":"text","text":"3"}}`,
		}, `[{"role":"agent","id":"a","content":[{"type":"text","text":"13"}]},{"role":"agent","id":"b","content":[{"type":"text","text":"2"}]}]`},
		"a whole message replaces chunks": {[]string{
			`{"sessionUpdate":"agent_thought_chunk","messageId":"a","content":{"type":"text","text":"1"}}`,
			`{"sessionUpdate":"agent_thought","messageId":"a","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}`,
			`{"sessionUpdate":"agent_thought_chunk","messageId":"a","content":{"type":"text","text":"z"}}`,
		}, `[{"role":"thought","id":"a","content":[{"type":"text","text":"xyz"}]}]`},
		"content that is absent stays, and null clears": {[]string{
			`{"sessionUpdate":"agent_message","messageId":"a","content":[{"type":"text","text":"1"}]}`,
			`{"sessionUpdate":"agent_message","messageId":"a","_meta":{"k":1}}`,
			`{"sessionUpdate":"agent_message","messageId":"b","content":[{"type":"text","text":"1"}]}`,
			`{"sessionUpdate":"agent_message","messageId":"b","content":null}`,
		}, `[{"role":"agent","id":"a","content":[{"type":"text","text":"1"}],"meta":{"k":1}},{"role":"agent","id":"b"}]`},
		"ids are per kind of message": {[]string{
			`{"sessionUpdate":"user_message","messageId":"1","content":[{"type":"text","text":"u"}]}`,
			`{"sessionUpdate":"agent_message","messageId":"1","content":[{"type":"text","text":"a"}]}`,
		}, `[{"role":"user","id":"1","content":[{"type":"text","text":"u"}]},{"role":"agent","id":"1","content":[{"type":"text","text":"a"}]}]`},
		"a tool call: absent keeps, null resets": {[]string{
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","title":"T","name":"n","kind":"edit","status":"completed","rawInput":{"a":1},"rawOutput":2,
			  "locations":[{"path":"/p","line":3}],"content":[{"type":"terminal","terminalId":"t"}],"capabilities":{"cancel":{}}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","name":null,"kind":null,"status":null,"rawOutput":null}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"2","title":"T","locations":[{"path":"/p"}],"content":[{"type":"terminal","terminalId":"t"}],"capabilities":{"cancel":{}},"rawInput":1}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"2","title":null,"locations":null,"content":null,"capabilities":null,"rawInput":null}`,
		}, `[{"id":"1","title":"T","kind":"other","status":"pending","content":[{"type":"terminal","terminalId":"t"}],"locations":[{"path":"/p","line":3}],
			"rawInput":{"a":1},"cancellable":true},{"id":"2","kind":"other","status":"pending"}]`},
		"pieces of a tool call's output follow what is there": {[]string{
			`{"sessionUpdate":"tool_call_content_chunk","toolCallId":"1","content":{"type":"content","content":{"type":"text","text":"a"}}}`,
			`{"sessionUpdate":"tool_call_content_chunk","toolCallId":"1","content":{"type":"content","content":{"type":"text","text":"b"}}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"paused"}`,
		}, `[{"id":"1","kind":"other","status":"paused","content":[{"type":"content","block":{"type":"text","text":"a"}},{"type":"content","block":{"type":"text","text":"b"}}]}]`},
		"a diff": {[]string{
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","content":[{"type":"diff","changes":[{"operation":"add","path":"/a","fileType":"text","mimeType":"text/plain"},
			  {"operation":"move","oldPath":"/o","path":"/n"},{"operation":"_x","path":"/x"}],"patch":{"format":"git_patch","text":"diff","_meta":{"p":1}}}]}`,
		}, `[{"id":"1","kind":"other","status":"pending","content":[{"type":"diff","diff":{"changes":[{"operation":"add","path":"/a","fileType":"text","mimeType":"text/plain"},
			{"operation":"move","path":"/n","oldPath":"/o"},{"operation":"_x","raw":{"operation":"_x","path":"/x"}}],"patch":"diff","patchFormat":"git_patch"},"meta":{"p":1}}]}]`},
		"a link with its pictures": {[]string{
			`{"sessionUpdate":"agent_message_chunk","messageId":"a","content":{"type":"resource_link","name":"n","uri":"file:///x","size":7,"icons":[{"src":"https://e.com/i","mimeType":"image/png","sizes":["48x48"],"theme":"dark"}]}}`,
		}, `[{"role":"agent","id":"a","content":[{"type":"resource_link","uri":"file:///x","name":"n","size":7,"icons":[{"uri":"https://e.com/i","mimeType":"image/png","sizes":["48x48"],"theme":"dark"}]}]}]`},
		"a subagent with its work": {[]string{
			`{"sessionUpdate":"subagent_update","sessionId":"c","title":"t","cwd":"/w","capabilities":{"cancel":{}},"state":{"state":"running","background":[{"type":"terminal","terminalId":"t"}]}}`,
			`{"sessionUpdate":"subagent_update","sessionId":"c","title":null,"state":{"state":"idle","stopReason":"error","error":{"code":-5,"message":"m","data":{"d":1}},"background":[]}}`,
		}, `[{"sessionId":"c","state":"idle","stopReason":"error","error":{"message":"m","code":-5,"data":{"d":1}},"cwd":"/w","cancellable":true}]`},
		"a subagent whose state is not known": {[]string{
			`{"sessionUpdate":"subagent_update","sessionId":"c","state":{"state":"idle"}}`,
			`{"sessionUpdate":"subagent_update","sessionId":"c","state":null}`,
		}, `[{"sessionId":"c"}]`},
		"output that is no base64 is shown": {[]string{
			`{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"!!"}`,
		}, `[{"type":"terminal_output_chunk","raw":{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"!!"}}]`},
		"unknown updates": {[]string{
			`{"sessionUpdate":"_x","a":1}`,
		}, `[{"type":"_x","raw":{"sessionUpdate":"_x","a":1}}]`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.JSONEq(t, c.want, toJSON(t, threadOf(t, c.updates...).Snapshot().Items.Slice()))
		})
	}
}

func TestTerminals(t *testing.T) {
	th := threadOf(t,
		`{"sessionUpdate":"terminal_update","terminalId":"t","command":"make","cwd":"/w","size":{"cols":80,"rows":24},"capabilities":{"cancel":{}},"output":{"data":"YQ==","_meta":{"k":1}}}`,
		`{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"4oI="}`, // two of the three bytes of a euro sign
		`{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"rA"}`,   // without its padding
		`{"sessionUpdate":"terminal_update","terminalId":"t","exitStatus":{"exitCode":-1,"signal":"SIGKILL"}}`)
	code := int64(-1)
	assert.Equal(t, &model.Terminal{
		ID: "t", Command: "make", Cwd: "/w", Output: []byte("a€"), Columns: 80, Rows: 24, Cancellable: true,
		Exit: &model.Exit{Code: &code, Signal: "SIGKILL"}, Meta: model.Meta{"k": 1.},
	}, th.Snapshot().Terminal("t"))

	thread.Apply(th, update(t, `{"sessionUpdate":"terminal_update","terminalId":"t","command":null,"cwd":null,"output":null,"size":null,"exitStatus":null,"capabilities":null}`))
	assert.Equal(t, &model.Terminal{ID: "t", Meta: model.Meta{"k": 1.}}, th.Snapshot().Terminal("t"))

	thread.Apply(th, update(t, `{"sessionUpdate":"terminal_update","terminalId":"t","exitStatus":{}}`))
	assert.Equal(t, &model.Exit{}, th.Snapshot().Terminal("t").Exit, "it has ended, no one knows how")
}

func TestState(t *testing.T) {
	th := threadOf(t, `{"sessionUpdate":"tool_call_update","toolCallId":"1"}`, `{"sessionUpdate":"tool_call_update","toolCallId":"2"}`,
		`{"sessionUpdate":"state_update","state":"running"}`)
	assert.Equal(t, model.Turn{State: "running"}, th.Snapshot().Turn)
	work := `[{"type":"tool_call","toolCallId":"2","_meta":{"k":1}},{"type":"_x","n":1}]`
	thread.Apply(th, update(t, `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"in_progress"}`))
	thread.Apply(th, update(t, `{"sessionUpdate":"tool_call_update","toolCallId":"2","status":"in_progress"}`))
	thread.Apply(th, update(t, `{"sessionUpdate":"state_update","state":"requires_action","background":`+work+`}`))
	listed := []model.Background{{Type: "tool_call", ID: "2", Meta: model.Meta{"k": 1.}}, {Type: "_x", Raw: json.RawMessage(`{"type":"_x","n":1}`)}}
	assert.Equal(t, model.Turn{State: "requires_action", Background: listed}, th.Snapshot().Turn)

	key := thread.Permission(th, &acp.RequestPermissionRequest{Title: "May I?"})
	thread.Apply(th, update(t, `{"sessionUpdate":"state_update","state":"idle","stopReason":"error","error":{"code":-32603,"message":"m","data":[1]},"usage":{"totalTokens":3,"inputTokens":2,"outputTokens":1}}`))
	s := th.Snapshot()
	assert.Equal(t, model.Turn{State: "idle", StopReason: "error", Background: listed,
		Error: &model.Failure{Message: "m", Code: -32603, Data: json.RawMessage("[1]")}, Usage: &model.Tokens{Total: 3, Input: 2, Output: 1}}, s.Turn)
	assert.True(t, s.ToolCall("1").Ended)
	assert.True(t, s.ToolCall("2").Open(), "it goes on in the background")
	assert.Len(t, s.Permissions, 1, "the question may belong to the background")
	th.Answered(key)
	assert.Empty(t, th.Snapshot().Permissions)

	thread.Apply(th, update(t, `{"sessionUpdate":"state_update","state":"idle","background":[]}`))
	assert.Equal(t, model.Turn{State: "idle", Background: []model.Background{}}, th.Snapshot().Turn)
	thread.Permission(th, &acp.RequestPermissionRequest{Title: "May I?"})
	thread.Apply(th, update(t, `{"sessionUpdate":"state_update","state":"idle"}`))
	assert.Empty(t, th.Snapshot().Permissions, "the turn is over")
	thread.Apply(th, update(t, `{"sessionUpdate":"state_update","state":"_asleep","until":1}`))
	assert.Equal(t, "_asleep", th.Snapshot().Turn.State)
	assert.JSONEq(t, `{"state":"_asleep","until":1}`, string(th.Snapshot().Turn.Raw))
}

func TestPermissionSubjects(t *testing.T) {
	options := []acp.PermissionOption{{OptionID: "y", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce}}
	for name, c := range map[string]struct {
		subject acp.RequestPermissionSubject
		want    model.Permission
	}{
		"tool call": {&acp.ToolCallPermissionSubject{ToolCall: acp.ToolCallUpdate{ToolCallID: "1", Title: acp.Some("T")}}, model.Permission{ToolCallID: "1"}},
		"command": {&acp.CommandPermissionSubject{Command: "ls", Cwd: "/w", ToolCallID: "1", TerminalID: "t"},
			model.Permission{ToolCallID: "1", TerminalID: "t", Command: "ls", Cwd: "/w"}},
		"none":    {nil, model.Permission{}},
		"unknown": {&acp.UnknownRequestPermissionSubject{Type: "_x", Raw: json.RawMessage(`{"type":"_x"}`)}, model.Permission{Raw: json.RawMessage(`{"type":"_x"}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			th := model.New()
			key := thread.Permission(th, &acp.RequestPermissionRequest{Title: "May I?", Description: "d", Subject: c.subject, Options: options})
			c.want.Key, c.want.Title, c.want.Description = 1, "May I?", "d"
			c.want.Options = []model.PermissionOption{{ID: "y", Name: "Yes", Kind: "allow_once"}}
			assert.Equal(t, []model.Permission{c.want}, th.Snapshot().Permissions)
			if name == "tool call" {
				assert.Equal(t, "T", th.Snapshot().ToolCall("1").Title)
			}
			th.Answered(key)
			th.Answered(key)
			assert.Empty(t, th.Snapshot().Permissions)
		})
	}
}

func TestSessionParts(t *testing.T) {
	th := threadOf(t,
		`{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":3,"currency":"USD"}}`,
		`{"sessionUpdate":"usage_update","used":2,"size":2}`,
		`{"sessionUpdate":"session_info_update","title":"t","updatedAt":"2026-01-02T03:04:05Z"}`,
		`{"sessionUpdate":"session_info_update","title":null}`,
		`{"sessionUpdate":"plan_update","plan":{"type":"items","planId":"p","entries":[{"content":"c","priority":"high","status":"cancelled"}]}}`,
		`{"sessionUpdate":"plan_update","plan":{"type":"file","planId":"f","uri":"file:///p"}}`,
		`{"sessionUpdate":"plan_update","plan":{"type":"_x","planId":"x"}}`,
		`{"sessionUpdate":"prompt_suggestions_update","suggestions":[{"prompt":[{"type":"text","text":"Run it"}]}]}`,
		`{"sessionUpdate":"plan_update","plan":{"type":"markdown","planId":"f","content":"# P","path":"/p.md"}}`,
		`{"sessionUpdate":"available_commands_update","availableCommands":[{"type":"command","name":"go","description":"d","input":{"type":"text","hint":"h"}},{"type":"_x","name":"n","description":"e"},{"type":"skill","name":"s","description":"f"}]}`,
	)
	s := th.Snapshot()
	assert.Equal(t, &model.Usage{Used: 2, Size: 2, Cost: &model.Cost{Amount: 3, Currency: "USD"}}, s.Usage)
	assert.Empty(t, s.Title)
	assert.Equal(t, []model.Suggestion{{Prompt: []model.Block{{Type: model.BlockText, Text: "Run it"}}}}, s.Suggestions)
	assert.Equal(t, "2026-01-02T03:04:05Z", s.UpdatedAt)
	assert.Equal(t, []model.Plan{
		{ID: "p", Entries: []model.PlanEntry{{Content: "c", Priority: "high", Status: "cancelled"}}},
		{ID: "f", Markdown: "# P", Path: "/p.md"},
		{ID: "x", Type: "_x", Raw: json.RawMessage(`{"type":"_x","planId":"x"}`)},
	}, s.Plans)
	assert.Equal(t, []model.Command{
		{Name: "go", Description: "d", Hint: "h", TakesInput: true},
		{Name: "n", Description: "e", Raw: json.RawMessage(`{"type":"_x","name":"n","description":"e"}`)},
		{Name: "s", Description: "f", Skill: true},
	}, s.Commands)
	thread.Apply(th, update(t, `{"sessionUpdate":"usage_update","used":2,"size":2,"cost":null}`))
	assert.Nil(t, th.Snapshot().Usage.Cost)
	thread.Apply(th, nil)
	thread.Apply(th, &acp.SessionStateUpdate{})
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
	want := []model.Cursor{
		{ID: "a", Anchor: model.CursorAnchor{Type: "user_message", ID: "m", Position: "before"}, Fork: true, Meta: model.Meta{"k": 2.0, "l": 1.0}},
		{ID: "b", Anchor: model.CursorAnchor{Type: "tool_call", ID: "c", Position: "after"}},
		{ID: "c", Anchor: model.CursorAnchor{Type: "_x", Raw: json.RawMessage(`{"type":"_x","n":1}`)}},
	}
	assert.Equal(t, want, th.Snapshot().Cursors.Slice())

	var read model.Snapshot
	encoded, err := json.Marshal(th.Snapshot())
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(encoded, &read))
	again := model.New()
	again.Restore(&read)
	thread.Apply(again, update(t, `{"sessionUpdate":"cursor_update","cursorId":"b","capabilities":{"fork":{}}}`))
	require.Equal(t, 3, again.Snapshot().Cursors.Len())
	assert.True(t, again.Snapshot().Cursors.At(1).Fork)
	assert.False(t, th.Snapshot().Cursors.At(1).Fork)
}

func update(t testing.TB, raw string) acp.SessionUpdate {
	t.Helper()
	var n acp.UpdateSessionNotification
	require.NoError(t, json.Unmarshal([]byte(`{"sessionId":"s","update":`+raw+`}`), &n), raw)
	return n.Update
}

// threadOf returns a thread to which the updates were applied.
func threadOf(t testing.TB, updates ...string) *model.Thread {
	t.Helper()
	th := model.New()
	for _, u := range updates {
		thread.Apply(th, update(t, u))
	}
	return th
}

func toJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// Whatever comes first, the response or the echo, and however the echo is cut, the prompt
// is one message.
func TestEchoAndResponseInAnyOrder(t *testing.T) {
	empty := `{"sessionUpdate":"user_message","messageId":"u","content":[]}`
	whole := `{"sessionUpdate":"user_message","messageId":"u","content":[{"type":"text","text":"hello"}]}`
	he := `{"sessionUpdate":"user_message_chunk","messageId":"u","content":{"type":"text","text":"he"}}`
	llo := `{"sessionUpdate":"user_message_chunk","messageId":"u","content":{"type":"text","text":"llo"}}`
	other := `{"sessionUpdate":"user_message_chunk","messageId":"u","content":{"type":"text","text":"[hello]"}}`
	for name, c := range map[string]struct{ events, want string }{
		"no echo":                         {"response", "hello"},
		"response, then whole":            {"response " + whole, "hello"},
		"whole, then response":            {whole + " response", "hello"},
		"response, then chunks":           {"response " + he + " " + llo, "hello"},
		"chunks, then response":           {he + " " + llo + " response", "hello"},
		"response between chunks":         {he + " response " + llo, "hello"},
		"response, reset and chunks":      {"response " + empty + " " + he + " " + llo, "hello"},
		"reset, response and chunks":      {empty + " response " + he + " " + llo, "hello"},
		"the agent says it differently":   {"response " + other, "[hello]"},
		"begins alike and goes on in its": {"response " + he + " " + other, "he[hello]"},
	} {
		t.Run(name, func(t *testing.T) {
			th := model.New()
			responded := thread.Prompt(th, []acp.ContentBlock{acp.Text("hello")})
			assert.Equal(t, "hello", th.Snapshot().Queued[0].Content.At(0).Text)
			for e := range strings.SplitSeq(c.events, " ") {
				if e == "response" {
					responded(&acp.PromptResponse{MessageID: "u"})
					continue
				}
				thread.Apply(th, update(t, e))
			}
			s := th.Snapshot()
			assert.Empty(t, s.Queued)
			assert.Equal(t, 1, s.Items.Len())
			assert.Equal(t, c.want, s.Items.At(0).(*model.Message).Text())
			assert.Equal(t, "u", s.Items.At(0).(*model.Message).ID)
		})
	}
}

// Held prompts stand where the agent inserts them, also two of the same text.
func TestHeldPrompts(t *testing.T) {
	th := model.New()
	first := thread.Prompt(th, []acp.ContentBlock{acp.Text("a")})
	second := thread.Prompt(th, []acp.ContentBlock{acp.Text("b")})
	third := thread.Prompt(th, []acp.ContentBlock{acp.Text("a")})
	assert.Len(t, th.Snapshot().Queued, 3)
	first(&acp.PromptResponse{MessageID: "1"})
	thread.Apply(th, update(t, `{"sessionUpdate":"user_message","messageId":"1","content":[{"type":"text","text":"a"}]}`))
	thread.Apply(th, update(t, `{"sessionUpdate":"agent_message","messageId":"r","content":[{"type":"text","text":"reply"}]}`))
	second(nil) // withdrawn
	second(&acp.PromptResponse{MessageID: "2"})
	third(&acp.PromptResponse{MessageID: "3"})
	thread.Apply(th, update(t, `{"sessionUpdate":"user_message","messageId":"3","content":[{"type":"text","text":"a"}]}`))
	thread.Apply(th, update(t, `{"sessionUpdate":"user_message","messageId":"4","content":[{"type":"text","text":"a"}]}`))
	assert.Empty(t, th.Snapshot().Queued)
	var got []string
	for _, item := range th.Snapshot().Items.All() {
		m := item.(*model.Message)
		got = append(got, m.ID+" "+m.Text())
	}
	assert.Equal(t, []string{"1 a", "r reply", "3 a", "4 a"}, got)
}

// An update must not cost more than in version 1. Allocations can be compared exactly.
func TestUpdatesAllocateNoMoreThanInVersion1(t *testing.T) {
	old, now := model.New(), model.New()
	text := "a few words of text "
	for name, c := range map[string]struct {
		old v1.SessionUpdate
		now acp.SessionUpdate
	}{
		"agent": {&v1.AgentMessageChunk{MessageID: "m", Content: v1.Text(text)}, &acp.AgentMessageChunk{MessageID: "m", Content: acp.Text(text)}},
		"user":  {&v1.UserMessageChunk{MessageID: "m", Content: v1.Text(text)}, &acp.UserMessageChunk{MessageID: "m", Content: acp.Text(text)}},
		"tool call": {&v1.ToolCallUpdate{ToolCallID: "t", Title: "T", Status: v1.ToolCallStatusPending},
			&acp.ToolCallUpdate{ToolCallID: "t", Title: acp.Some("T"), Status: acp.Some(acp.ToolCallStatusPending)}},
		"usage": {&v1.UsageUpdate{Used: 1, Cost: &v1.Cost{}}, &acp.UsageUpdate{Used: 1, Cost: acp.Some(acp.Cost{})}},
	} {
		a := testing.AllocsPerRun(1000, func() { old.Apply(c.old) })
		b := testing.AllocsPerRun(1000, func() { thread.Apply(now, c.now) })
		assert.LessOrEqual(t, b, a, name)
	}
}
