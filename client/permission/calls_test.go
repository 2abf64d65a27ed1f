package permission_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/thread"
)

func observe(t *testing.T, s *permission.Scope, updates ...string) {
	for _, u := range updates {
		var n acp.SessionNotification
		require.NoError(t, json.Unmarshal([]byte(`{"sessionId":"s","update":`+u+`}`), &n), u)
		s.Apply(n.SessionID, n.Update)
	}
}

const asked = `{"sessionId":"s","toolCall":{"toolCallId":"1"},"options":[{"optionId":"y","name":"Y","kind":"allow_once"},{"optionId":"n","name":"N","kind":"reject_once"}]}`

// A question with only the id of its tool call uses the details from earlier updates.
func TestQuestionsByIDAlone(t *testing.T) {
	const call = `{"sessionUpdate":"tool_call","toolCallId":"1","title":"T","name":"edit","kind":"edit","rawInput":{"a":1},
		"content":[{"type":"diff","path":"/nowhere/a","oldText":"1","newText":"2"}],"locations":[{"path":"/nowhere/a"}]}`
	ask := func(updates ...string) *permission.Tool {
		d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)})
		observe(t, d.Scope, updates...)
		fromWire(t, d.Scope, asked)
		return d.last().Question.Tool
	}
	tool := ask(call)
	assert.Equal(t, "edit", tool.Name)
	assert.Equal(t, "T", tool.Title)
	assert.JSONEq(t, `{"a":1}`, string(tool.Input))
	assert.Equal(t, []string{"/nowhere/a"}, tool.Paths)
	require.Len(t, tool.Diffs, 1)
	assert.Equal(t, "2", *tool.Diffs[0].NewText)

	tool = ask(call, `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"in_progress","title":"U","rawInput":null,"content":[]}`)
	assert.Equal(t, "U", tool.Title)
	assert.Equal(t, "edit", tool.Kind)
	assert.JSONEq(t, `{"a":1}`, string(tool.Input))
	assert.Empty(t, tool.Diffs)
	assert.NotEmpty(t, tool.Paths)

	assert.Equal(t, &permission.Tool{ID: "1"}, ask(call, `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`), "the call has ended")
	assert.Equal(t, &permission.Tool{ID: "1"}, ask(strings.Replace(call, `"1","title"`, `"2","title"`, 1)), "another call")
}

func TestRulesAndGrantsSeeWhatWasSaidBefore(t *testing.T) {
	call := `{"sessionUpdate":"tool_call","toolCallId":"1","title":"T","content":[{"type":"diff","path":"` + on("/nowhere/a") + `","newText":"2"}]}`
	d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)})
	observe(t, d.Scope, call)
	fromWire(t, d.Scope, asked)
	require.NoError(t, d.Authorize(t.Context(), write(resolved("/nowhere/a"), "2")))
	assert.Equal(t, 1, d.timesAsked())

	d = newTestScope(t, permission.Options{}, permission.Rule{Decision: permission.Deny, Paths: []string{"/nowhere/**"}})
	observe(t, d.Scope, call)
	assert.Equal(t, &acp.SelectedPermissionOutcome{OptionID: "n"}, fromWire(t, d.Scope, asked))
	assert.Equal(t, permission.ByRule, d.last().Outcome.By)
}

// A question does not change while a person looks at it.
func TestAQuestionDoesNotChange(t *testing.T) {
	var d *testScope
	d = newTestScope(t, permission.Options{Ask: func(_ context.Context, q *permission.Question) (string, error) {
		observe(t, d.Scope, `{"sessionUpdate":"tool_call_update","toolCallId":"1","title":"evil","content":[{"type":"diff","path":"`+on("/nowhere/b")+`","newText":"3"}]}`)
		assert.Equal(t, "good", q.Tool.Title)
		return q.Pick(permission.AllowOnce), nil
	}})
	observe(t, d.Scope, `{"sessionUpdate":"tool_call","toolCallId":"1","title":"good","content":[{"type":"diff","path":"`+on("/nowhere/a")+`","newText":"2"}]}`)
	fromWire(t, d.Scope, asked)
	require.NoError(t, d.Authorize(t.Context(), write(resolved("/nowhere/a"), "2")))
	assert.Equal(t, 1, d.timesAsked())
}

func TestCallsAreBounded(t *testing.T) {
	d := newTestScope(t, permission.Options{})
	for i := range 2000 {
		d.Observe("s", thread.ToolCallChanged{ID: fmt.Sprint(i), RawInput: new(json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`))})
	}
	seen := func(id string) bool {
		d.Decide(t.Context(), &permission.Question{Session: "s", Tool: &permission.Tool{ID: id}, Options: usual})
		return d.last().Question.Tool.Input != nil
	}
	assert.True(t, seen("1999"))
	assert.True(t, seen("1975"))
	assert.False(t, seen("1960"), "32 MiB are kept")
	d.EndSession("s")
	assert.False(t, seen("1999"))
}

// A remembered call needs no more memory than is counted for it, whatever it contains.
func TestLargeCallsAreBounded(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	diff := func(n int, d thread.Diff) []thread.ToolContent {
		return slices.Repeat([]thread.ToolContent{{Type: thread.ToolContentDiff, Diff: &d}}, n)
	}
	for name, tt := range map[string]struct {
		times  int
		change thread.ToolCallChanged
	}{
		"more texts": {100, thread.ToolCallChanged{Append: diff(1, thread.Diff{Changes: make([]thread.FileChange, 1), NewText: &text})}},
		"more empty": {100, thread.ToolCallChanged{Append: diff(1, thread.Diff{Changes: make([]thread.FileChange, 20_000)})}},
		"patches":    {4, thread.ToolCallChanged{Append: diff(60_000, thread.Diff{Patch: "x"})}}, // 33 MiB each
	} {
		d := newTestScope(t, permission.Options{})
		tt.change.ID = "1"
		for range tt.times {
			d.Observe("s", tt.change)
		}
		_, bytes := d.Kept()
		assert.LessOrEqual(t, bytes, 64<<20, name)
		assert.Positive(t, bytes, name)
	}
	d := newTestScope(t, permission.Options{})
	diffs, paths := diff(1000, thread.Diff{Changes: make([]thread.FileChange, 1)}), make([]thread.Location, 1000)
	d.Observe("s", thread.ToolCallChanged{ID: "1", Content: &diffs, Locations: &paths})
	_, bytes := d.Kept()
	assert.Greater(t, bytes, 1000*(32+16), "what Go needs for them")
}

// Questions alone are not remembered, because an agent may ask in any number of sessions.
func TestQuestionsAloneAreNotKept(t *testing.T) {
	d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)})
	for i := range 100 {
		q := question(edit("/w/a", "x"))
		q.Session, q.Turn = fmt.Sprint(i), 0
		require.Equal(t, permission.Allow, d.Decide(t.Context(), q).Decision)
	}
	sessions, _ := d.Kept()
	assert.Zero(t, sessions)
}

// An agent may send updates of any number of sessions. The decisions of a person are kept.
func TestSessionsAreBounded(t *testing.T) {
	d := newTestScope(t, permission.Options{Ask: pick(permission.AllowAlways)})
	q := question(permission.Tool{Name: "decided", Input: []byte(`{}`)})
	q.Session = "decided"
	require.Equal(t, permission.Allow, d.Decide(t.Context(), q).Decision)
	input := json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
	for i := range 5000 {
		d.Observe(fmt.Sprint(i), thread.ToolCallChanged{ID: "1", Title: new(fmt.Sprint("call ", i)), RawInput: &input})
	}
	sessions, bytes := d.Kept()
	assert.LessOrEqual(t, sessions, 1025)
	assert.LessOrEqual(t, bytes, 65<<20)

	asked := d.timesAsked()
	require.Equal(t, permission.ByMemory, d.Decide(t.Context(), q).By)
	assert.Equal(t, asked, d.timesAsked())
	q = question(permission.Tool{ID: "1"})
	q.Session = "4999"
	d.Decide(t.Context(), q)
	assert.Equal(t, "call 4999", d.last().Question.Tool.Title)
	d.EndSession("4999")
	d.Close()
	sessions, bytes = d.Kept()
	assert.Zero(t, sessions+bytes)
}
