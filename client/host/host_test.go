package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client/elicitation"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/rpcerr"
)

// An agent can neither write a file nor run a command if the user rejects it, nor if the
// host has no function that asks the user. This also holds for operations for which the
// agent has not requested permission.
func TestNothingHappensWithoutConsent(t *testing.T) {
	for name, ask := range map[string]func(context.Context, *permission.Question) (string, error){"a person says no": pick(permission.RejectOnce), "nobody to ask": nil} {
		t.Run(name, func(t *testing.T) {
			x := newFixture(t, host.Options{Ask: ask, Terminals: &terminals.Options{}})
			require.NoError(t, x.run(func(ctx context.Context, _ acp.SessionID) error {
				answer, err := x.ask(ctx, "a", "text")
				assert.Equal(t, "n", answer)
				denied(t, x.write(ctx, "a", "text"))
				denied(t, x.command(ctx, echo("x")))
				denied(t, x.command(ctx, acp.CreateTerminalRequest{Command: "echo x > b"}))
				return err
			}))
			x.gone("a")
			x.gone("b")
			x.mu.Lock()
			defer x.mu.Unlock()
			assert.Len(t, x.records, 4)
		})
	}
}

// Reads need no consent, unless a rule says so.
func TestRulesForReads(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	rule := func(d permission.Decision, path string) permission.Rule {
		return permission.Rule{Name: path, Decision: d, Paths: []string{filepath.ToSlash(dir) + path}}
	}
	for name, readOnly := range map[string]bool{"files": false, "read only": true} {
		t.Run(name, func(t *testing.T) {
			x := newFixture(t, host.Options{Roots: []string{dir}, ReadOnly: readOnly, Ask: pick(permission.AllowAlways),
				Rules: []permission.Rule{rule(permission.Deny, "/secrets/**"), rule(permission.Ask, "/private/**"), {Decision: permission.Deny, Kinds: []string{"edit"}}}})
			for _, name := range []string{"a", "secrets/a", "private/a"} {
				require.NoError(t, os.MkdirAll(filepath.Dir(x.path(name)), 0o700))
				require.NoError(t, os.WriteFile(x.path(name), []byte("hello"), 0o600))
			}
			require.NoError(t, x.run(func(ctx context.Context, id acp.SessionID) error {
				read := func(name string) error {
					_, err := x.agent.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: id, Path: x.path(name)})
					return err
				}
				require.NoError(t, read("a"))
				denied(t, read("secrets/a"))
				denied(t, read("secrets/none"))
				require.NoError(t, read("private/a"))
				return nil
			}))
			require.Len(t, x.questions(), 1)
			assert.Equal(t, []string{"read " + x.path("private/a")}, x.questions()[0].Lines())
			assert.Equal(t, "Always allow reading private/a in this session", x.questions()[0].Options[1].Label)
			var by []permission.Reason
			for _, r := range x.records {
				by = append(by, r.Outcome.By)
			}
			assert.Equal(t, []permission.Reason{permission.ByDefault, permission.ByRule, permission.ByRule, permission.ByPerson}, by)
		})
	}
}

// An operation that the user allowed in a question needs no second question, once and in the same
// turn.
func TestConsentIsForOneOperation(t *testing.T) {
	x := newFixture(t, host.Options{Ask: func(_ context.Context, q *permission.Question) (string, error) {
		if q.Tool != nil {
			return q.Pick(permission.AllowOnce), nil
		}
		return q.Pick(permission.RejectOnce), nil
	}})
	require.NoError(t, x.run(func(ctx context.Context, _ acp.SessionID) error {
		answer, err := x.ask(ctx, "a", "text")
		assert.Equal(t, "y", answer)
		denied(t, x.write(ctx, "b", "text"))
		denied(t, x.write(ctx, "a", "other"))
		require.NoError(t, x.write(ctx, "a", "text"))
		denied(t, x.write(ctx, "a", "text"))
		_, asked := x.ask(ctx, "a", "text") // for the next turn
		return errors.Join(err, asked)
	}))
	require.NoError(t, x.run(func(ctx context.Context, _ acp.SessionID) error {
		denied(t, x.write(ctx, "a", "text"))
		return nil
	}))
	x.gone("b")
	for i, text := range []string{"text", "other", "text"} { // the agent did not ask about the writes, so the person is asked
		require.NotNil(t, x.questions()[1+i].Text)
		assert.Equal(t, text, *x.questions()[1+i].Text)
	}
	q := x.questions()[0]
	assert.Nil(t, q.Text, "the agent has shown it")
	assert.Equal(t, "scripted", q.Agent)
	assert.Equal(t, x.dir, q.Workspace)
	assert.True(t, q.Claimed)
	assert.Equal(t, x.path("a"), q.Operations[0].Path)
}

// An agent that asks before it runs a command describes the command in rawInput. The user reads it
// and answers once. A different command needs another question.
func TestOneQuestionForOneCommand(t *testing.T) {
	for name, c := range map[string]struct {
		input any
		req   acp.CreateTerminalRequest
		asked int
	}{
		"words":       {map[string]any{"command": "go", "args": []string{"version"}}, acp.CreateTerminalRequest{Command: "go", Args: []string{"version"}}, 1},
		"a line":      {map[string]any{"command": "go version && go version", "description": "Say it"}, acp.CreateTerminalRequest{Command: "go version && go version"}, 1},
		"other words": {map[string]any{"command": "go", "args": []string{"version"}}, acp.CreateTerminalRequest{Command: "go", Args: []string{"env"}}, 2},
		"a variable":  {map[string]any{"command": "go", "args": []string{"version"}}, acp.CreateTerminalRequest{Command: "go", Args: []string{"version"}, Env: []acp.EnvVariable{{Name: "CI", Value: "1"}}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			x := newFixture(t, host.Options{Ask: pick(permission.AllowOnce), Terminals: &terminals.Options{}})
			input, err := json.Marshal(c.input)
			require.NoError(t, err)
			require.NoError(t, x.run(func(ctx context.Context, id acp.SessionID) error {
				call, err := x.agent.Session(id).StartToolCall(ctx, &acp.ToolCall{Title: "Run it", Kind: acp.ToolKindExecute, RawInput: input})
				require.NoError(t, err)
				_, err = call.AskPermission(ctx)
				require.NoError(t, err)
				require.NoError(t, x.command(ctx, c.req))
				assert.Len(t, x.questions(), c.asked)
				return x.command(ctx, c.req)
			}))
			assert.Len(t, x.questions(), c.asked+1, "one answer is for one command")
			if c.asked == 1 {
				assert.Equal(t, x.questions()[1].Lines(), x.questions()[0].Lines()[1:], "the user has read what runs")
			}
		})
	}
}

// The "always" of the host in a question of the agent applies to the command, and to the same question later.
func TestAlwaysInTheQuestionOfACommand(t *testing.T) {
	x := newFixture(t, host.Options{Ask: pick(permission.AllowAlways), Terminals: &terminals.Options{}})
	for i, input := range []string{`{"command":"go","args":["version"]}`, `{"command":"go","args":["version"],"description":"Once more"}`} {
		require.NoError(t, x.run(func(ctx context.Context, id acp.SessionID) error {
			call, err := x.agent.Session(id).StartToolCall(ctx, &acp.ToolCall{
				ToolCallID: acp.ToolCallID(strconv.Itoa(i)), Title: "Run it", Kind: acp.ToolKindExecute, RawInput: json.RawMessage(input)})
			require.NoError(t, err)
			choice, err := call.AskPermission(ctx,
				acp.PermissionOption{OptionID: "1", Name: "Always", Kind: acp.PermissionOptionKindAllowAlways},
				acp.PermissionOption{OptionID: "2", Name: "Once", Kind: acp.PermissionOptionKindAllowOnce})
			require.NoError(t, err)
			assert.True(t, agent.Allows(choice))
			require.NoError(t, x.command(ctx, acp.CreateTerminalRequest{Command: "go", Args: []string{"version"}}))
			return x.command(ctx, acp.CreateTerminalRequest{Command: "go", Args: []string{"version"}})
		}))
	}
	assert.Len(t, x.questions(), 1)
	assert.Equal(t, "Always allow running go version in this session", x.questions()[0].Options[2].Label)
}

// Agents describe a tool call in an update, and then ask about it by its id alone.
func TestConsentToAnAnnouncedCall(t *testing.T) {
	x := newFixture(t, host.Options{Ask: func(_ context.Context, q *permission.Question) (string, error) {
		if q.Tool != nil {
			assert.Equal(t, "Edit a", q.Title)
			return q.Pick(permission.AllowOnce), nil
		}
		return q.Pick(permission.RejectOnce), nil
	}})
	require.NoError(t, x.run(func(ctx context.Context, id acp.SessionID) error {
		call, err := x.agent.Session(id).StartToolCall(ctx, &acp.ToolCall{ToolCallID: "1", Title: "Edit a", Content: []acp.ToolCallContent{
			&acp.Diff{Path: x.path("a"), NewText: "text"},
		}})
		require.NoError(t, err)
		choice, err := call.AskPermission(ctx)
		if err != nil {
			return err
		}
		assert.True(t, agent.Allows(choice))
		assert.NoError(t, x.write(ctx, "a", "text"))
		denied(t, x.write(ctx, "a", "other"))
		return nil
	}))
}

// Rules are applied to the file that is written and to the arguments that run.
func TestRulesSeeWhatWillHappen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows lacks what the test needs: symlinks without a privilege, and an echo program")
	}
	x := newFixture(t, host.Options{Terminals: &terminals.Options{}, Rules: []permission.Rule{
		{Decision: permission.Allow, Paths: []string{"/**/open/**"}},
		{Decision: permission.Allow, Commands: []string{"echo *"}},
	}})
	require.NoError(t, os.MkdirAll(x.path("open"), 0o700))
	require.NoError(t, os.MkdirAll(x.path("shut"), 0o700))
	require.NoError(t, os.Symlink("../shut", x.path("open/alias")))
	require.NoError(t, x.run(func(ctx context.Context, _ acp.SessionID) error {
		assert.NoError(t, x.write(ctx, "open/a", "x"))
		denied(t, x.write(ctx, "open/alias/a", "x"))
		denied(t, x.write(ctx, "shut/a", "x"))
		assert.NoError(t, x.command(ctx, echo("; rm -rf /")), "an argument is no shell line")
		denied(t, x.command(ctx, acp.CreateTerminalRequest{Command: "echo x; echo y"}))
		denied(t, x.command(ctx, acp.CreateTerminalRequest{Command: "A=1 echo x"}))
		denied(t, x.command(ctx, acp.CreateTerminalRequest{Command: "sh", Args: []string{"-c", "echo x; echo y"}}))
		assert.NoError(t, x.command(ctx, acp.CreateTerminalRequest{Command: "sh", Args: []string{"-c", "echo x"}}))
		preload := echo("x")
		preload.Env = []acp.EnvVariable{{Name: "LD_PRELOAD", Value: "/evil.so"}}
		denied(t, x.command(ctx, preload))
		return nil
	}))
	x.gone("shut/a")
	x.mu.Lock()
	defer x.mu.Unlock()
	last := x.records[len(x.records)-1].Question.Operations[0]
	assert.Equal(t, []string{"LD_PRELOAD"}, last.Env)
	assert.NotContains(t, last.EnvDigest, "evil")
	assert.Equal(t, x.dir, last.Cwd)
	assert.True(t, x.records[4].Question.Operations[0].Shell)
}

// An agent that does not wait for its requests ends the turn while the user decides about
// them. A later answer has no effect.
func TestAnswerAfterTheTurn(t *testing.T) {
	withdrawn, click := make(chan struct{}, 1), make(chan struct{})
	x := newFixture(t, host.Options{Terminals: &terminals.Options{}, Ask: func(ctx context.Context, q *permission.Question) (string, error) {
		withdrawn <- struct{}{} // room for the first
		<-ctx.Done()
		withdrawn <- struct{}{}
		<-click // ignores the end of the turn
		return q.Pick(permission.AllowOnce), nil
	}})
	for name, act := range map[string]func(ctx context.Context) error{
		"write": func(ctx context.Context) error { return x.write(ctx, "a", "text") },
		"command": func(ctx context.Context) error {
			return x.command(ctx, acp.CreateTerminalRequest{Command: "touch", Args: []string{"a"}})
		},
	} {
		failed := make(chan error, 1)
		require.NoError(t, x.run(func(ctx context.Context, _ acp.SessionID) error {
			go func() { failed <- act(context.WithoutCancel(ctx)) }() // ends with the response
			<-withdrawn
			return nil
		}))
		<-withdrawn
		click <- struct{}{}
		assert.ErrorIs(t, <-failed, rpcerr.ErrRequestCancelled, name)
		x.gone("a")
	}
}

func TestCancelDuringAQuestion(t *testing.T) {
	thinking, click := make(chan struct{}, 2), make(chan struct{})
	x := newFixture(t, host.Options{Terminals: &terminals.Options{}, Ask: func(_ context.Context, q *permission.Question) (string, error) {
		thinking <- struct{}{}
		<-click // ignores the cancel
		return q.Pick(permission.AllowAlways), nil
	}})
	x.agent.turn = func(ctx context.Context, _ acp.SessionID) error {
		err := x.write(context.WithoutCancel(ctx), "a", "text")
		assert.ErrorIs(t, err, rpcerr.ErrRequestCancelled)
		return err
	}
	turn := x.session.Prompt(t.Context(), acp.Text("go"))
	<-thinking
	require.NoError(t, turn.Cancel(t.Context()))
	res, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonCancelled, res.StopReason)
	close(click) // late
	x.gone("a")
	require.NoError(t, x.run(func(ctx context.Context, _ acp.SessionID) error { return nil }))
	x.gone("a")
}

func TestConnectionLostDuringAQuestion(t *testing.T) {
	thinking, ended := make(chan struct{}), make(chan struct{})
	x := newFixture(t, host.Options{Ask: func(ctx context.Context, q *permission.Question) (string, error) {
		close(thinking)
		<-ctx.Done()
		close(ended)
		return q.Pick(permission.AllowAlways), nil
	}})
	x.agent.turn = func(ctx context.Context, _ acp.SessionID) error { return x.write(ctx, "a", "text") }
	turn := x.session.Prompt(t.Context(), acp.Text("go"))
	<-thinking
	x.conn.Close()
	_, err := turn.Wait()
	assert.ErrorIs(t, err, acp.ErrClosed)
	<-ended
	require.NoError(t, x.conn.Wait())
	x.gone("a")
}

func TestUnknownSession(t *testing.T) {
	x := newFixture(t, host.Options{Ask: pick(permission.AllowOnce), Terminals: &terminals.Options{}})
	require.NoError(t, x.run(func(ctx context.Context, _ acp.SessionID) error {
		_, err := x.agent.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: "foreign", Path: x.path("a"), Content: "x"})
		assert.Error(t, err)
		req := echo("x")
		req.SessionID = "foreign"
		_, err = x.agent.CreateTerminal(ctx, &req)
		assert.Error(t, err)
		return nil
	}))
	assert.Empty(t, x.questions(), "nobody is asked about what cannot be done")
	x.gone("a")
}

// A question about an unknown session does not reach the user. The session of a subagent is
// known, and so is a session that is being opened.
func TestQuestionsOfUnknownSessions(t *testing.T) {
	forms := 0
	form := func(context.Context, *elicitation.Form) (map[string]acp.ElicitationContentValue, error) {
		forms++
		return nil, elicitation.ErrDeclined
	}
	x := newFixture(t, host.Options{Ask: pick(permission.AllowOnce), Form: form})
	question := func(ctx context.Context, id acp.SessionID) error {
		_, err := x.agent.RequestPermission(ctx, &acp.RequestPermissionRequest{
			SessionID: id, ToolCall: acp.ToolCallUpdate{ToolCallID: "1"},
			Options: []acp.PermissionOption{{OptionID: "y", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce}}})
		_, other := x.agent.CreateElicitation(ctx, &acp.CreateElicitationRequest{Message: "m", Mode: &acp.ElicitationFormMode{
			Scope: &acp.ElicitationSessionScope{SessionID: id}}})
		assert.Equal(t, err == nil, other == nil, "%v, %v", err, other)
		return err
	}
	announce := func(ctx context.Context, by, id acp.SessionID) error {
		return x.agent.SessionUpdate(ctx, &acp.SessionNotification{SessionID: by, Update: &acp.SubagentUpdate{SessionID: id}})
	}
	require.NoError(t, x.run(func(ctx context.Context, _ acp.SessionID) error {
		require.NoError(t, announce(ctx, "foreign", "child of foreign"))
		for _, id := range []acp.SessionID{"foreign", "child", "child of foreign"} {
			assert.ErrorIs(t, question(ctx, id), rpcerr.ErrInvalidParams, "%s", id)
		}
		assert.Empty(t, x.questions())
		assert.Zero(t, forms)
		require.NoError(t, announce(ctx, "s", "child"))
		require.NoError(t, question(ctx, "child"))
		return question(ctx, "s")
	}))
	assert.Len(t, x.questions(), 2)
	assert.Equal(t, 2, forms)

	x.agent.open = func(ctx context.Context, id acp.SessionID) { assert.NoError(t, question(ctx, "t")) }
	_, err := x.conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: x.dir})
	require.NoError(t, err)
	assert.Len(t, x.questions(), 3)
}

func TestOptionsThatContradict(t *testing.T) {
	page := func(context.Context, *elicitation.Page) error { return nil }
	for name, opts := range map[string]host.Options{
		"terminals without roots": {Terminals: &terminals.Options{}},
		"pages without forms":     {Page: page},
		"done without pages":      {PageDone: func(acp.ElicitationID) {}},
		"two askers":              {Permission: &permission.Options{Ask: pick("")}},
		"no such root":            {Roots: []string{filepath.Join(t.TempDir(), "none")}},
		"a bad rule":              {Rules: []permission.Rule{{}}},
	} {
		_, err := host.Open(&opts)
		assert.ErrorContains(t, err, "host: ", name)
	}
}

// A person who is asked sees the variables with their values, so the permission includes them.
// Rules and records contain only the names.
func TestConsentCoversVariables(t *testing.T) {
	x := newFixture(t, host.Options{Ask: pick(permission.AllowOnce), Terminals: &terminals.Options{}})
	require.NoError(t, x.run(func(ctx context.Context, _ acp.SessionID) error {
		req := echo("x")
		req.Env = []acp.EnvVariable{{Name: "NODE_OPTIONS", Value: "--x"}, {Name: "CI", Value: "1"}}
		return x.command(ctx, req)
	}))
	require.Len(t, x.questions(), 1)
	assert.Equal(t, []string{"NODE_OPTIONS", "CI"}, x.questions()[0].Operations[0].Env)
	assert.Contains(t, x.questions()[0].Lines()[0], ` with NODE_OPTIONS="--x", CI="1"`)
	assert.Empty(t, x.records[0].Question.Variables)
	assert.NotContains(t, fmt.Sprintf("%+v", x.records[0].Question.Operations), "--x")
}
