package permission_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	model "github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/permission"
)

// testScope is a policy with one connection. It stores its decisions.
type testScope struct {
	t       *testing.T
	scope   *model.Scope
	records []model.Record
	asked   int
}

func newTestScope(t *testing.T, opts model.Options, rules ...model.Rule) *testScope {
	d := &testScope{t: t}
	opts.Audit = func(r model.Record) { d.records = append(d.records, r) }
	if ask := opts.Ask; ask != nil {
		opts.Ask = func(ctx context.Context, q *model.Question) (string, error) {
			d.asked++
			return ask(ctx, q)
		}
	}
	policy := model.New(&opts)
	require.NoError(t, policy.SetRules(rules...))
	d.scope = policy.Scope()
	return d
}

func pick(kind string) func(context.Context, *model.Question) (string, error) {
	return func(_ context.Context, q *model.Question) (string, error) { return q.Pick(kind), nil }
}

// ask sends a permission request with this subject as JSON.
func (d *testScope) ask(subject string) acp.RequestPermissionOutcome {
	d.t.Helper()
	var req acp.RequestPermissionRequest
	require.NoError(d.t, json.Unmarshal([]byte(`{"sessionId":"s","title":"May I?","description":"d","subject":`+subject+`,"options":[
		{"optionId":"a","name":"A","kind":"allow_always"},{"optionId":"y","name":"Y","kind":"allow_once"},{"optionId":"n","name":"N","kind":"reject_once"}]}`), &req))
	part := permission.Requests{Scope: d.scope, Session: func(context.Context, acp.SessionID) (string, uint64, bool) { return "/w", 3, true }, Agent: func() string { return "agent" }}
	res, err := part.RequestPermission(d.t.Context(), &req)
	require.NoError(d.t, err)
	return res.Outcome
}

func (d *testScope) apply(updates ...string) {
	d.t.Helper()
	for _, u := range updates {
		var n acp.UpdateSessionNotification
		require.NoError(d.t, json.Unmarshal([]byte(`{"sessionId":"s","update":`+u+`}`), &n), u)
		permission.Apply(d.scope, n.SessionID, n.Update)
	}
}

func (d *testScope) last() model.Record { return d.records[len(d.records)-1] }

const (
	none    = `null`
	unknown = `{"type":"_x","a":1}`
	command = `{"type":"command","command":"go test ./...","cwd":"/nowhere"}`
	call    = `{"type":"tool_call","toolCall":{"toolCallId":"1","title":"T","name":"edit","kind":"edit"}}`
)

func TestWhoDecides(t *testing.T) {
	allow := func(r model.Rule) model.Rule { r.Decision = model.Allow; return r }
	deny := func(r model.Rule) model.Rule { r.Decision = model.Deny; return r }
	extract := func(ops ...model.Operation) func(string, *model.Tool) ([]model.Operation, bool) {
		return func(string, *model.Tool) ([]model.Operation, bool) { return ops, true }
	}
	drive := filepath.VolumeName(t.TempDir()) // only on Windows
	test := model.Operation{Action: model.ActionCommand, Argv: []string{"go", "test", "./..."}}
	known := `{"type":"command","command":"go test ./...","cwd":"/nowhere","toolCallId":"1"}`
	for name, c := range map[string]struct {
		subject string
		rules   []model.Rule
		opts    model.Options
		by      model.Reason
		allowed bool
	}{
		"a tool that a rule allows":               {call, []model.Rule{allow(model.Rule{Tools: []string{"edit"}})}, model.Options{}, model.ByRule, true},
		"a tool that a rule denies":               {call, []model.Rule{deny(model.Rule{Kinds: []string{"edit"}})}, model.Options{}, model.ByRule, false},
		"a command that a rule would allow":       {command, []model.Rule{allow(model.Rule{Commands: []string{"go test *"}})}, model.Options{}, model.ByPerson, true},
		"a command that a rule denies":            {command, []model.Rule{deny(model.Rule{Commands: []string{"go test"}})}, model.Options{}, model.ByRule, false},
		"a command of a tool that is known":       {known, []model.Rule{allow(model.Rule{Commands: []string{"go test *"}})}, model.Options{Extract: extract(test)}, model.ByRule, true},
		"a command that is not that of the tool":  {`{"type":"command","command":"rm -r /","cwd":"/nowhere","toolCallId":"1"}`, []model.Rule{allow(model.Rule{Commands: []string{"go test *"}})}, model.Options{Extract: extract(test)}, model.ByPerson, true},
		"nothing, and a rule that allows all":     {none, []model.Rule{allow(model.Rule{})}, model.Options{}, model.ByPerson, true},
		"nothing, and an extractor":               {none, []model.Rule{allow(model.Rule{})}, model.Options{Extract: extract(test)}, model.ByPerson, true},
		"nothing, and a rule that denies all":     {none, []model.Rule{deny(model.Rule{})}, model.Options{}, model.ByRule, false},
		"something new, and a rule that allows":   {unknown, []model.Rule{allow(model.Rule{})}, model.Options{Extract: extract(test)}, model.ByPerson, true},
		"a diff below a folder that is forbidden": {`{"type":"tool_call","toolCall":{"toolCallId":"1","content":[{"type":"diff","changes":[{"operation":"move","oldPath":"` + drive + `/nowhere/a","path":"/b"}]}]}}`, []model.Rule{deny(model.Rule{Paths: []string{"/nowhere/**"}})}, model.Options{}, model.ByRule, false},
		"a change of a kind that is not known":    {`{"type":"tool_call","toolCall":{"toolCallId":"1","content":[{"type":"diff","changes":[{"operation":"_swap","path":"` + drive + `/nowhere/a"}]}]}}`, []model.Rule{deny(model.Rule{Paths: []string{"/nowhere/**"}})}, model.Options{}, model.ByRule, false},
	} {
		t.Run(name, func(t *testing.T) {
			c.opts.Ask = pick(model.AllowOnce)
			d := newTestScope(t, c.opts, c.rules...)
			d.apply(`{"sessionUpdate":"tool_call_update","toolCallId":"1","title":"T","name":"shell","rawInput":{"command":"go test ./..."}}`)
			got := d.ask(c.subject)
			assert.Equal(t, c.by, d.last().Outcome.By)
			want := acp.PermissionOptionID("n")
			if c.allowed {
				want = "y"
			}
			assert.Equal(t, &acp.SelectedPermissionOutcome{OptionID: want}, got)
		})
	}
	t.Run("no one to ask", func(t *testing.T) {
		d := newTestScope(t, model.Options{})
		assert.Equal(t, &acp.SelectedPermissionOutcome{OptionID: "n"}, d.ask(none))
	})
	t.Run("the ctx is done", func(t *testing.T) {
		d := newTestScope(t, model.Options{Ask: pick(model.AllowOnce)})
		d.scope.Close()
		assert.Equal(t, &acp.CancelledPermissionOutcome{}, d.ask(command))
	})
}

// A question about an unknown session is refused, and no person is asked.
func TestQuestionOfAnUnknownSession(t *testing.T) {
	policy := model.New(&model.Options{Ask: func(context.Context, *model.Question) (string, error) {
		t.Error("somebody was asked")
		return "", nil
	}})
	part := permission.Requests{Scope: policy.Scope(), Session: func(context.Context, acp.SessionID) (string, uint64, bool) { return "", 0, false }}
	_, err := part.RequestPermission(t.Context(), &acp.RequestPermissionRequest{SessionID: "s", Title: "May I?"})
	assert.ErrorIs(t, err, model.ErrUnknownSession)
}

// An "always" decision of this end applies to the same command, and the agent gets its option for one time. A
// question without a subject, or with an unknown one, has only the "always" of the agent, and is asked each time.
func TestAlways(t *testing.T) {
	for subject, c := range map[string]struct {
		times  int
		answer acp.PermissionOptionID
	}{command: {1, "y"}, none: {2, "a"}, unknown: {2, "a"}} {
		d := newTestScope(t, model.Options{Ask: pick(model.AllowAlways)})
		assert.Equal(t, &acp.SelectedPermissionOutcome{OptionID: c.answer}, d.ask(subject))
		d.ask(subject)
		assert.Equal(t, c.times, d.asked, subject)
	}
	d := newTestScope(t, model.Options{Ask: pick(model.AllowAlways)})
	d.ask(command)
	d.ask(`{"type":"command","command":"go test ./...","cwd":"/elsewhere"}`)
	assert.Equal(t, 2, d.asked, "in another folder")
	for _, name := range []string{"a", "b"} { // below a folder that does not exist
		d.ask(`{"type":"command","command":"go test ./...","cwd":"/nowhere/../` + name + `"}`)
	}
	assert.Equal(t, 4, d.asked, "in folders that cannot be resolved")
}

func TestWhatIsShown(t *testing.T) {
	d := newTestScope(t, model.Options{Ask: pick(model.RejectOnce)})
	d.ask(command)
	q := *d.last().Question
	assert.Equal(t, "May I?", q.Title)
	assert.Equal(t, "d", q.Description)
	assert.Equal(t, "/w", q.Workspace)
	assert.Equal(t, uint64(3), q.Turn)
	assert.Equal(t, "agent", q.Agent)
	assert.Equal(t, "go test ./...", q.Command)
	assert.Equal(t, "/nowhere", q.Cwd)
	assert.Nil(t, q.Tool)
	assert.Equal(t, []model.Operation{{Action: model.ActionCommand, Argv: []string{"go test ./..."}, Shell: true, Cwd: "/nowhere"}}, q.Operations)

	// A question shows what earlier updates reported about the call. Its subject is an update too.
	d.apply(`{"sessionUpdate":"tool_call_update","toolCallId":"1","title":"T","name":"edit","rawInput":{"a":1},"locations":[{"path":"/p"}],
		"content":[{"type":"diff","changes":[{"operation":"add","path":"/a"}],"patch":{"format":"git_patch","text":"P"}}]}`,
		`{"sessionUpdate":"tool_call_content_chunk","toolCallId":"1","content":{"type":"diff","changes":[{"operation":"copy","oldPath":"/a","path":"/b"},{"operation":"delete","path":"/c"}],"patch":{"format":"git_patch","text":"Q"}}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"1","name":null}`)
	d.ask(`{"type":"tool_call","toolCall":{"toolCallId":"1","kind":"edit"}}`)
	d.ask(`{"type":"tool_call","toolCall":{"toolCallId":"1"}}`)
	want := &model.Tool{
		ID: "1", Kind: "edit", Title: "T", Input: json.RawMessage(`{"a":1}`), Paths: []string{"/p"},
		Diffs: []model.Diff{{Path: "/a"}, {Path: "/b"}, {Path: "/c"}}, Patches: []string{"P", "Q"}, Texts: []string{},
	}
	assert.Equal(t, want, d.last().Question.Tool)
	assert.Equal(t, want, d.records[len(d.records)-2].Question.Tool)

	d.apply(`{"sessionUpdate":"tool_call_update","toolCallId":"1","title":null,"rawInput":null,"content":null,"locations":null}`)
	d.ask(`{"type":"tool_call","toolCall":{"toolCallId":"1"}}`)
	tool := d.last().Question.Tool
	assert.Empty(t, tool.Title)
	assert.Empty(t, tool.Input)
	assert.Empty(t, tool.Paths)
	assert.Empty(t, tool.Diffs)
	assert.Empty(t, tool.Patches)

	for _, status := range []string{"completed", "failed", "cancelled"} {
		d.apply(`{"sessionUpdate":"tool_call_update","toolCallId":"2","title":"T"}`, `{"sessionUpdate":"tool_call_update","toolCallId":"2","status":"`+status+`"}`)
		d.ask(`{"type":"tool_call","toolCall":{"toolCallId":"2"}}`)
		assert.Empty(t, d.last().Question.Tool.Title, "the call has ended")
	}
	d.apply(`{"sessionUpdate":"notice","severity":"info","title":"n"}`)
}

func ExampleRequests() {
	policy := model.New(&model.Options{Ask: func(_ context.Context, q *model.Question) (string, error) {
		fmt.Println("asked:", q.Title, q.Command)
		return q.Pick(model.AllowOnce), nil
	}})
	if err := policy.SetRules(model.Rule{Decision: model.Deny, Commands: []string{"rm *"}}); err != nil {
		fmt.Println(err)
		return
	}
	part := permission.Requests{Scope: policy.Scope()}
	for _, command := range []string{"rm -r /", "go test ./..."} {
		res, err := part.RequestPermission(context.Background(), &acp.RequestPermissionRequest{
			SessionID: "s", Title: "Run this?", Subject: &acp.CommandPermissionSubject{Command: command, Cwd: "/work"},
			Options: []acp.PermissionOption{
				{OptionID: "yes", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce},
				{OptionID: "no", Name: "No", Kind: acp.PermissionOptionKindRejectOnce},
			},
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(res.Outcome.(*acp.SelectedPermissionOutcome).OptionID)
	}
	// Output:
	// no
	// asked: Run this? go test ./...
	// yes
}
