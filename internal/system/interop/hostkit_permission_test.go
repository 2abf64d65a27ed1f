package interop_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/elicitation"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
)

// ask is a question with options of the kinds, each with the id "id-KIND".
func ask(label string, call map[string]any, kinds ...string) step {
	options := []map[string]string{}
	for _, kind := range kinds {
		options = append(options, map[string]string{"optionId": "id-" + kind, "name": kind, "kind": kind})
	}
	toolCall := map[string]any{"toolCallId": "call " + label, "title": label}
	maps.Copy(toolCall, call)
	return step{Label: label, Method: acp.MethodSessionRequestPermission, Params: map[string]any{"toolCall": toolCall, "options": options}}
}

var usual = []string{"allow_always", "allow_once", "reject_once", "reject_always"}

// selected is a response that selects the option of a kind, cancelled one that selects none.
func selected(kind string) string {
	return `{"outcome":{"outcome":"selected","optionId":"id-` + kind + `"}}`
}

const cancelled = `{"outcome":{"outcome":"cancelled"}}`

// choices is what the user chooses, by the title of a question.
func choices(byTitle map[string]string) func(context.Context, *permission.Question) (string, error) {
	return func(_ context.Context, q *permission.Question) (string, error) {
		switch choice := byTitle[q.Title]; choice {
		case "panic":
			panic("the user interface has a fault")
		case "error":
			return "", errors.New("the user interface has failed")
		case "made up":
			return "made up", nil
		default:
			return q.Pick(choice), nil
		}
	}
}

// What an agent on the TypeScript SDK gets for its questions.
func TestHostKitQuestions(t *testing.T) {
	t.Parallel()
	twice := ask("duplicate ids", nil, "allow_once", "reject_once")
	twice.Params["options"].([]map[string]string)[1]["optionId"] = "id-allow_once"
	tests := []struct {
		step   step
		choice string
		want   string
	}{
		{ask("once", nil, usual...), "allow_once", selected("allow_once")},
		{ask("always", nil, usual...), "allow_always", selected("allow_always")},
		{ask("no", nil, usual...), "reject_once", selected("reject_once")},
		{ask("never", nil, usual...), "reject_always", selected("reject_always")},
		{ask("closed", nil, usual...), "", selected("reject_once")},
		{ask("no options", nil), "allow_once", cancelled},
		{ask("rejects only", nil, "reject_once", "reject_always"), "allow_once", selected("reject_once")},
		{ask("only always", nil, "allow_always", "reject_always"), "allow_once", cancelled},
		{ask("kinds of codex", nil, "allow_for_session", "allow_once", "abort"), "allow_for_session", selected("allow_for_session")},
		{ask("kinds of codex, no", nil, "allow_for_session", "allow_once", "abort"), "reject_once", cancelled},
		{twice, "allow_once", cancelled},
		{ask("panic", nil, usual...), "panic", selected("reject_once")},
		{ask("error", nil, usual...), "error", selected("reject_once")},
		{ask("made up", nil, usual...), "made up", selected("reject_once")},
		{ask("10 MiB", map[string]any{"kind": "execute", "rawInput": map[string]any{"command": map[string]any{"$fill": 10 << 20}}}, usual...), "allow_once", selected("allow_once")},
	}
	byTitle := map[string]string{}
	var steps []step
	for _, tt := range tests {
		byTitle[tt.step.Label] = tt.choice
		steps = append(steps, tt.step)
	}
	k := newHostKit(t, host.Options{Ask: choices(byTitle)})
	got := k.run(steps...)
	for _, tt := range tests {
		assert.JSONEq(t, tt.want, got.get(tt.step.Label), tt.step.Label)
	}
}

// What an agent does without a question, and beside what it has asked about.
func TestHostKitActs(t *testing.T) {
	t.Parallel()
	var k *hostKit
	edit := func(label, name, text string) step {
		return ask(label, map[string]any{"kind": "edit", "content": []map[string]any{{"type": "diff", "path": k.at(name), "newText": text}}}, usual...)
	}
	var asked atomic.Int32
	k = newHostKit(t, host.Options{Terminals: &terminals.Options{}, Ask: func(_ context.Context, q *permission.Question) (string, error) {
		if q.Title == "" {
			asked.Add(1)
			return q.Pick(permission.RejectOnce), nil
		}
		return q.Pick(permission.AllowOnce), nil
	}})
	k.link(k.work, k.at("alias"))
	touch := step{Label: "touch", Method: acp.MethodTerminalCreate, Params: map[string]any{"command": "touch", "args": []string{k.at("touched")}}}
	line := step{Label: "line", Method: acp.MethodTerminalCreate, Params: map[string]any{"command": "touch touched; true"}}
	got := k.run(
		writeStep("without asking", k.at("a"), "x"), touch, line,
		edit("may I?", "a", "x"), writeStep("other file", k.at("b"), "x"), writeStep("other text", k.at("a"), "y"),
		writeStep("by another name", k.at("alias/../work/a"), "x"), writeStep("once more", k.at("a"), "x"),
		edit("may I again?", "a", "z"),
	)
	for label, want := range map[string]string{
		"without asking": "403", "touch": "403", "line": "403", "may I?": selected("allow_once"), "other file": "403", "other text": "403",
		"by another name": "{}", "once more": "403", "may I again?": selected("allow_once"),
	} {
		assert.Equal(t, want, got.get(label), label)
	}
	assert.EqualValues(t, 6, asked.Load(), "each act that was not allowed is asked about")
	assert.Equal(t, "x", k.text(k.at("a")))
	assert.NoFileExists(t, k.at("b"))
	assert.NoFileExists(t, k.at("touched"))
	got = k.run(writeStep("in the next turn", k.at("a"), "z"))
	assert.Equal(t, "403", got.get("in the next turn"))
}

// Nothing is done, and nothing is left, when the turn is cancelled while the user thinks,
// however late the click comes.
func TestHostKitCancelledWhileTheUserThinks(t *testing.T) {
	t.Parallel()
	thinking, click := make(chan struct{}, 3), make(chan struct{})
	k := newHostKit(t, host.Options{Terminals: &terminals.Options{}, Permission: &permission.Options{Concurrent: true},
		Ask: func(_ context.Context, q *permission.Question) (string, error) {
			thinking <- struct{}{}
			<-click // takes no notice of its ctx
			return q.Pick(permission.AllowAlways, permission.AllowOnce), nil
		}})
	turn := k.prompt(
		ask("question", nil, usual...).started(), writeStep("write", k.at("a"), "x").started(),
		step{Label: "command", Method: acp.MethodTerminalCreate, Params: map[string]any{"command": "touch", "args": []string{k.at("b")}}, Start: true},
		wait("question"), wait("write"), wait("command"), step{Cancel: true},
	)
	for range 3 {
		k.until(thinking)
	}
	require.NoError(t, k.session.Cancel(k.ctx))
	res, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonCancelled, res.StopReason)
	got := k.responses()
	assert.JSONEq(t, cancelled, got.get("question"))
	assert.Equal(t, []string{"-32800", "-32800"}, []string{got.get("write"), got.get("command")})
	close(click)
	assert.Equal(t, "no response", k.run(readStep("read", k.at("a"))).get("write"))
	assert.NoFileExists(t, k.at("a"))
	assert.NoFileExists(t, k.at("b"))
}

// Two questions wait for each other, the same one is asked twice, and a user who takes
// too long has denied.
func TestHostKitOneQuestionAtATime(t *testing.T) {
	t.Parallel()
	var open, most, asked atomic.Int32
	k := newHostKit(t, host.Options{Permission: &permission.Options{Timeout: 200 * time.Millisecond}, Ask: func(ctx context.Context, q *permission.Question) (string, error) {
		most.Store(max(most.Load(), open.Add(1)))
		defer open.Add(-1)
		asked.Add(1)
		if q.Title == "slow" {
			<-ctx.Done()
		}
		return q.Pick(permission.AllowOnce), nil
	}})
	got := k.run(
		ask("two", nil, usual...).many(2), ask("same", nil, usual...), ask("same", nil, usual...), ask("slow", nil, usual...),
	)
	assert.Equal(t, []string{selected("allow_once"), selected("allow_once")}, got.each("two"))
	assert.JSONEq(t, selected("allow_once"), got.get("same"))
	assert.JSONEq(t, selected("reject_once"), got.get("slow"), "too late is no")
	assert.EqualValues(t, 1, most.Load())
	assert.EqualValues(t, 5, asked.Load())
}

// The agent goes away while the user thinks: what the user says then does nothing.
func TestHostKitAgentIsGone(t *testing.T) {
	t.Parallel()
	thinking, click := make(chan struct{}), make(chan struct{})
	k := newHostKit(t, host.Options{Ask: func(_ context.Context, q *permission.Question) (string, error) {
		close(thinking)
		<-click
		return q.Pick(permission.AllowOnce), nil
	}})
	turn := k.prompt(writeStep("write", k.at("a"), "x"))
	k.until(thinking)
	require.NoError(t, k.conn.Close())
	_, err := turn.Wait()
	assert.ErrorIs(t, err, acp.ErrClosed)
	close(click)
	require.NoError(t, k.conn.Wait())
	assert.NoFileExists(t, k.at("a"))
}

// Rules allow and deny by what will happen: resolved paths and arguments.
func TestHostKitRules(t *testing.T) {
	t.Parallel()
	base := scratch(t)
	root := base + "/root"
	require.NoError(t, os.MkdirAll(root+"/private", 0o755))
	require.NoError(t, os.MkdirAll(root+"/sub", 0o755))
	require.NoError(t, os.Symlink("private", root+"/open"))
	k := newHostKit(t, host.Options{Roots: []string{root}, Terminals: &terminals.Options{}, Permission: &permission.Options{Rules: []permission.Rule{
		{Decision: permission.Deny, Paths: []string{root + "/private/**"}},
		{Decision: permission.Allow, Paths: []string{root + "/**"}},
		{Decision: permission.Allow, Commands: []string{"echo *"}},
	}}})
	command := func(label, command string, args ...string) step {
		s := step{Label: label, Method: acp.MethodTerminalCreate, Params: map[string]any{"command": command}}
		if args != nil {
			s.Params["args"] = args
		}
		return s
	}
	got := k.run(
		writeStep("allowed", root+"/a", "x"), writeStep("denied", root+"/private/a", "x"), writeStep("by a link", root+"/open/a", "x"), writeStep("by dots", root+"/sub/../private/a", "x"),
		command("echo", "echo", "hello"), command("shell", "echo hello; touch "+root+"/b"), command("bash -c", "bash", "-c", "echo hello; touch "+root+"/b"),
		command("sh -c", "sh", "-c", "echo hello"), command("env", "env", "A=1", "echo", "x"),
		ask("claim", map[string]any{"kind": "execute", "title": "echo hello", "rawInput": map[string]any{"command": "echo hello"}}, usual...),
	)
	for label, want := range map[string]string{"allowed": "{}", "denied": "403", "by a link": "403", "by dots": "403", "shell": "403", "bash -c": "403", "env": "403", "claim": selected("reject_once")} {
		assert.Equal(t, want, got.get(label), label)
	}
	for _, label := range []string{"echo", "sh -c"} {
		assert.True(t, strings.HasPrefix(got.get(label), `{"terminalId":`), got.get(label))
	}
	assert.NoFileExists(t, root+"/b")
}

// Forms and pages of an agent on the TypeScript SDK.
func TestHostKitElicitation(t *testing.T) {
	t.Parallel()
	var shown []string
	done := make(chan acp.ElicitationID, 1)
	k := newHostKit(t, host.Options{
		Form: func(_ context.Context, f *elicitation.Form) (map[string]acp.ElicitationContentValue, error) {
			switch {
			case f.Message == "decline":
				return nil, elicitation.ErrDeclined
			case f.Message == "close":
				return nil, elicitation.ErrCancelled
			case f.Problem == nil && f.Message == "twice":
				return map[string]acp.ElicitationContentValue{"level": acp.ElicitationInteger(99)}, nil
			}
			return map[string]acp.ElicitationContentValue{"level": acp.ElicitationInteger(3)}, nil
		},
		Page: func(_ context.Context, p *elicitation.Page) error {
			shown = append(shown, p.URL)
			if strings.HasSuffix(p.URL, "/no") {
				return elicitation.ErrDeclined
			}
			return nil
		},
		PageDone: func(id acp.ElicitationID) { done <- id },
	})
	form := func(message string) step {
		return step{Label: message, Method: acp.MethodElicitationCreate, Params: map[string]any{"message": message, "mode": "form", "requestedSchema": map[string]any{
			"type": "object", "required": []string{"level"}, "properties": map[string]any{"level": map[string]any{"type": "integer", "minimum": 0, "maximum": 9}},
		}}}
	}
	page := func(label, url string) step {
		return step{Label: label, Method: acp.MethodElicitationCreate, Params: map[string]any{"message": label, "mode": "url", "elicitationId": "id of " + label, "url": url}}
	}
	got := k.run(form("accept"), form("decline"), form("close"), form("twice"),
		page("open", "https://example.com/yes"), page("refuse", "https://example.com/no"), page("script", "javascript:alert(1)"), page("file", "file:///etc/passwd"),
		step{Notify: acp.MethodElicitationComplete, Params: map[string]any{"elicitationId": "id of open"}})
	for label, want := range map[string]string{
		"accept": `{"action":"accept","content":{"level":3}}`, "decline": `{"action":"decline"}`, "close": `{"action":"cancel"}`, "twice": `{"action":"accept","content":{"level":3}}`,
		"open": `{"action":"accept"}`, "refuse": `{"action":"decline"}`,
	} {
		assert.JSONEq(t, want, got.get(label), label)
	}
	assert.Equal(t, []string{"-32602", "-32602"}, []string{got.get("script"), got.get("file")})
	assert.Equal(t, []string{"https://example.com/yes", "https://example.com/no"}, shown)
	assert.Equal(t, acp.ElicitationID("id of open"), <-done)
}
