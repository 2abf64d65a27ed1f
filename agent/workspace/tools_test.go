//go:build unix

package workspace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
)

// person is a tools.Session that records what is sent to a client.
type person struct {
	before func()                // called before a question is answered
	seen   func(text string)     // called with the text content of a call
	choice string                // the kind of the option to choose; empty means allow_once
	asked  []*acp.ToolCallUpdate // the descriptions in the questions
	labels []string              // labels of the options that always allow

	mu   sync.Mutex
	last map[acp.ToolCallID]*acp.ToolCallUpdate // with the latest content
}

func (p *person) FailedCall(_ context.Context, id acp.ToolCallID, err error) *acp.ToolCallUpdate {
	return acp.FailToolCall(id, err)
}

func (p *person) Update(_ context.Context, u acp.SessionUpdate) error {
	now, ok := u.(*acp.ToolCallUpdate)
	if !ok || now.Content == nil {
		return nil
	}
	p.mu.Lock()
	if p.last == nil {
		p.last = map[acp.ToolCallID]*acp.ToolCallUpdate{}
	}
	p.last[now.ToolCallID] = now
	p.mu.Unlock()
	if p.seen != nil {
		p.seen(shown(now))
	}
	return nil
}

func (p *person) AskPermission(_ context.Context, u *acp.ToolCallUpdate, options ...acp.PermissionOption) (acp.PermissionOption, error) {
	p.asked = append(p.asked, u)
	if p.before != nil {
		p.before()
	}
	chosen := options[0]
	for _, o := range options {
		if o.Kind == acp.PermissionOptionKindAllowAlways {
			p.labels = append(p.labels, o.Name)
		}
		if string(o.Kind) == p.choice {
			chosen = o
		}
	}
	return chosen, nil
}

// shown returns what the person sees of a call.
func shown(u *acp.ToolCallUpdate) string {
	var all []string
	for _, content := range u.Content {
		switch c := content.(type) {
		case *acp.Diff:
			old := "nothing"
			if c.OldText != nil {
				old = *c.OldText
			}
			all = append(all, fmt.Sprintf("%s: %s -> %s", c.Path, old, c.NewText))
		case *acp.Terminal:
			all = append(all, "terminal "+string(c.TerminalID))
		case *acp.Content:
			all = append(all, c.Content.(*acp.TextContent).Text)
		}
	}
	return strings.Join(all, " | ")
}

// call runs one call and returns its result.
func (f *fixture) call(env tools.Env, name string, input any) tools.Done {
	f.t.Helper()
	raw, err := json.Marshal(input)
	require.NoError(f.t, err)
	registry := tools.NewRegistry(workspace.Tools(f.Workspace)...)
	env.Logger = slog.New(slog.DiscardHandler)
	done, err := registry.Run(f.t.Context(), env, []tools.Request{{Name: name, Input: raw}})
	require.NoError(f.t, err)
	return done[0]
}

func read(d tools.Done) (all string) {
	for _, part := range d.Model {
		all += part.Text
	}
	return all
}

type object = map[string]any

// TestTools compares what the model and the person read for each tool.
func TestTools(t *testing.T) {
	for _, letters := range []string{"", "rwc"} {
		f := open(t, letters, nil)
		f.editor.output = "out\n"
		put, now := f.put, f.disk
		if letters != "" {
			put, now = f.setBuffer, f.buffer
		}
		put("a", "one\ntwo\nthree")
		put("empty", "")
		for _, c := range []struct {
			tool    string
			in      object
			outcome tools.Outcome
			model   string
			title   string
			shown   string
		}{
			{"read_file", object{"path": "a"}, tools.Completed, "one\ntwo\nthree", "", ""},
			{"read_file", object{"path": "empty"}, tools.Completed, "[the file has nothing from line 1 on]", "", ""},
			{"read_file", object{"path": "../secret"}, tools.Failed, ": path is outside of the folders of the session", "", ""},
			{"read_file", object{"path": "none"}, tools.Failed, f.at("none") + ": does not exist", "", ""},
			{"edit_file", object{"path": "a", "edits": []object{{"old": "two", "new": "2"}}}, tools.Completed, "Wrote a.", "Edit a", f.at("a") + ": one\ntwo\nthree -> one\n2\nthree"},
			{"edit_file", object{"path": "a", "edits": []object{{"old": "e", "new": "E"}}}, tools.Failed, "occurs 3 times", "", ""},
			{"edit_file", object{"path": "a", "edits": []object{}}, tools.Failed, `"edits" must`, "", ""},
			{"edit_file", object{"path": "a", "edits": []object{{"old": "one", "new_text": "1"}}}, tools.Failed, `"edits.0.new" is missing; "edits.0.new_text" is not known, the members are old, new`, "", ""},
			{"write_file", object{"path": "a", "content": "x"}, tools.Failed, `"text" is missing; "content" is not known, the members are path, text`, "", ""},
			{"write_file", object{"path": "a", "text": nil}, tools.Failed, `"text" must be a string, and it is null`, "", ""},
			{"write_file", object{"path": "b", "text": "new"}, tools.Completed, "Wrote b.", "Write b", f.at("b") + ": nothing -> new"},
			{"write_file", object{"path": f.at("b"), "text": ""}, tools.Completed, "Wrote b.", "Write b", f.at("b") + ": new -> "},
			{"write_file", object{"path": "../b", "text": ""}, tools.Failed, "outside", "", ""},
		} {
			p := &person{}
			d := f.call(tools.Env{Session: p}, c.tool, c.in)
			assert.Equal(t, c.outcome, d.Outcome, c.in)
			assert.Contains(t, read(d), c.model)
			if c.title == "" {
				assert.Empty(t, p.asked, c.in)
				continue
			}
			require.Len(t, p.asked, 1)
			assert.Equal(t, c.title, p.asked[0].Title)
			assert.Equal(t, acp.ToolKindEdit, p.asked[0].Kind)
			assert.Equal(t, c.shown, shown(p.asked[0]))
			assert.Equal(t, c.shown, shown(p.last[d.ToolCallID]), "it stays")
			assert.Len(t, p.asked[0].Locations, 1)
		}
		assert.Equal(t, []string{"one\n2\nthree", ""}, []string{now("a"), now("b")})
		if letters == "" { // a client that is asked for lines returns those lines
			put("long", strings.Repeat("x\n", 3000))
			d := f.call(tools.Env{Session: &person{}}, "read_file", object{"path": "long", "line": 5})
			assert.Contains(t, read(d), "x\n[lines 5 to 2004; there may be more]")
			d = f.call(tools.Env{Session: &person{}}, "search", object{"pattern": "2"})
			assert.Equal(t, "a:2:2\n", read(d))
			d = f.call(tools.Env{Session: &person{}}, "search", object{"pattern": "nowhere"})
			assert.Equal(t, "[nothing was found]\n", read(d))
			d = f.call(tools.Env{Session: &person{}}, "search", object{"pattern": "("})
			assert.Contains(t, read(d), "not a regular expression")
		}

		p := &person{}
		d := f.call(tools.Env{Session: p}, "run_command", object{"command": "echo out; exit 3"})
		assert.Equal(t, tools.Completed, d.Outcome, "that a command fails is a result")
		assert.Contains(t, read(d), "out\n\n[exit code 3]")
		assert.Equal(t, "echo out; exit 3", p.asked[0].Title)
		assert.JSONEq(t, `{"command":"echo out; exit 3","cwd":"`+f.root+`"}`, string(p.asked[0].RawInput))
		want := "terminal t1"
		if letters == "" {
			want = read(d)
		}
		assert.Equal(t, want, shown(p.last[d.ToolCallID]))
	}
}

// A file that changes while the person decides is not overwritten.
func TestWhatWasShownIsWritten(t *testing.T) {
	for _, letters := range []string{"", "rw"} {
		f := open(t, letters, nil)
		put := f.put
		if letters != "" {
			put = f.setBuffer
		}
		put("a", "one")
		for tool, in := range map[string]object{
			"edit_file":  {"path": "a", "edits": []object{{"old": "one", "new": "two"}}},
			"write_file": {"path": "a", "text": "two"},
		} {
			put("a", "one")
			d := f.call(tools.Env{Session: &person{before: func() { put("a", "one, and more") }}}, tool, in)
			assert.Equal(t, tools.Failed, d.Outcome)
			assert.Contains(t, read(d), "the file has changed since it was read, and nothing was written")
		}
		d := f.call(tools.Env{Session: &person{before: func() { put("new", "somebody else") }}}, "write_file", object{"path": "new", "text": "x"})
		assert.Equal(t, tools.Failed, d.Outcome)
		assert.NotContains(t, []string{f.disk("a"), f.buffer("a"), f.disk("new"), f.buffer("new")}, "two")
	}
}

// The person and the model see the text as the editor has formatted it.
func TestFormatOnSaveIsShown(t *testing.T) {
	f := open(t, "rw", nil)
	f.editor.saved = strings.ToUpper
	p := &person{}
	d := f.call(tools.Env{Session: p}, "write_file", object{"path": "a", "text": "x"})
	assert.Contains(t, read(d), "read it before you edit it again")
	assert.Equal(t, f.at("a")+": nothing -> X", shown(p.last[d.ToolCallID]))
}

// A client that offers only writing gets the new text without a read before.
func TestWriteWithoutReading(t *testing.T) {
	f := open(t, "w", &workspace.Options{NoLocal: true})
	d := f.call(tools.Env{Session: &person{}}, "write_file", object{"path": "a", "text": "x"})
	assert.Equal(t, "Wrote a.", read(d))
	assert.Equal(t, "x", f.buffer("a"))
}

// A permission for the session covers exactly one command in one folder, or one file.
func TestRules(t *testing.T) {
	f := open(t, "", nil)
	f.put("dir/x", "")
	always := &person{choice: "allow_always"}
	env := tools.Env{Session: always, Rules: new(tools.Rules)}
	f.call(env, "run_command", object{"command": "ls"})
	f.call(env, "write_file", object{"path": "a", "text": "1"})
	require.Len(t, always.asked, 2)
	assert.Equal(t, []string{"Always allow `ls` in this session", "Always allow changes of a in this session"}, always.labels)
	asks := func(tool string, in object) bool {
		p := &person{}
		f.call(tools.Env{Session: p, Rules: env.Rules}, tool, in)
		return len(p.asked) > 0
	}
	assert.False(t, asks("run_command", object{"command": "ls"}))
	assert.False(t, asks("run_command", object{"command": "ls", "timeout": 60, "cwd": "."}))
	for _, line := range []string{
		"ls; true", "X=1 ls", "bash -c ls", "ls\ntrue", "ls ", " ls", "ls -l", "ls&", "ls|cat", "ls>x", "$(ls)", "`ls`", "/bin/ls", "./ls", "LS", "ls #", "ls\t", "l\\s", "env ls",
	} {
		assert.True(t, asks("run_command", object{"command": line}), line)
	}
	assert.True(t, asks("run_command", object{"command": "ls", "cwd": "dir"}))
	assert.False(t, asks("write_file", object{"path": "./dir/../a", "text": "2"}))
	assert.True(t, asks("write_file", object{"path": "b", "text": "2"}))
	assert.True(t, asks("edit_file", object{"path": "a", "edits": []object{{"old": "2", "new": "3"}}}), "another tool")

	always.labels = nil
	for _, line := range []string{"ls\ntrue", "echo \u202e", "echo " + strings.Repeat("x", 200), "echo \x1b[2K"} {
		f.call(env, "run_command", object{"command": line})
	}
	assert.Empty(t, always.labels, "a label that does not show all of a command allows nothing")
}

// While a command runs, the last lines of its output are shown. If it is cancelled, its output is
// kept.
func TestOutputIsShown(t *testing.T) {
	f := open(t, "", nil)
	require.NoError(t, syscall.Mkfifo(f.at("fifo"), 0o644))
	p := &person{}
	var once sync.Once
	p.seen = func(text string) {
		if text == "begun\n" {
			once.Do(func() { // lets the command go on
				r, err := os.Open(f.at("fifo"))
				assert.NoError(t, err)
				assert.NoError(t, r.Close())
			})
		}
	}
	d := f.call(tools.Env{Session: p}, "run_command", object{"command": "echo begun; : > fifo; echo over"})
	assert.Equal(t, "begun\nover\n\n[exit code 0]", read(d))
	assert.Equal(t, read(d), shown(p.last[d.ToolCallID]))

	f = open(t, "", nil)
	begun, _ := f.pipe("fifo")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { // ends when the command has begun
		begun()
		cancel(acp.ErrTurnCancelled)
	}()
	registry := tools.NewRegistry(workspace.Tools(f.Workspace)...)
	all, err := registry.Run(ctx, tools.Env{Session: p}, []tools.Request{{Name: "run_command", Input: []byte(`{"command":"echo begun; exec 3> fifo; sleep 1000"}`)}})
	assert.ErrorIs(t, err, acp.ErrTurnCancelled)
	assert.Equal(t, tools.Cancelled, all[0].Outcome)
	assert.Equal(t, "begun\n\n[it was stopped] | Cancelled", shown(p.last[all[0].ToolCallID]))
}
