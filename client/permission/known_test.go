package permission_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/thread"
)

const (
	claudeAgent = "@agentclientprotocol/claude-agent-acp"
	codexAgent  = "@agentclientprotocol/codex-acp"
)

// A rule that allows go test lets an agent run it without a person, if the agent asks first. A line
// that a shell may read as more is denied. Package interop has the same test with recordings.
func TestKnownAgentsRunWithoutAPerson(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("on Windows no rule allows the command in a line for a shell")
	}
	run := func(name, input string) permission.Tool {
		return permission.Tool{Name: name, Kind: "execute", Input: json.RawMessage(input)}
	}
	goose := func(title, input string) permission.Tool {
		return permission.Tool{Kind: "other", Title: title, Input: json.RawMessage(input)}
	}
	gemini := func(id, kind, title, input string) permission.Tool {
		return permission.Tool{ID: id, Kind: kind, Title: title, Input: json.RawMessage(input)}
	}
	for _, c := range []struct {
		agent string
		tool  permission.Tool
		by    permission.Reason
	}{
		{claudeAgent, run("Bash", `{"command":"go test ./...","description":"Run the tests"}`), permission.ByRule},
		{claudeAgent, run("Bash", `{"command":"go test -run=TestA ./a","timeout":60000,"run_in_background":true}`), permission.ByRule},
		{codexAgent, run("", `{"command":"go test ./...","cwd":"/srv/acp/ws"}`), permission.ByRule},
		{codexAgent, run("exec_command", `{"command":"go test ./...","cwd":"/srv/acp/ws"}`), permission.ByRule},
		{codexAgent, run("", `{"server":"box","tool":"run","command":"go test"}`), permission.ByNoOne},
		{"qwen-code", run("", `{"command":"go test ./...","is_background":false,"timeout":1000,"directory":"/srv"}`), permission.ByRule},
		{"OpenCode", run("", `{"command":"go test ./...","timeout":1000,"workdir":"/srv"}`), permission.ByRule},
		{"goose", goose("shell · go test ./...", `{"command":"go test ./...","timeout_secs":60}`), permission.ByRule},
		{"gemini-cli", gemini("run_shell_command__1", "execute", "go test ./...", ""), permission.ByRule},

		{claudeAgent, run("Bash", `{"command":"go vet ./..."}`), permission.ByNoOne},
		{claudeAgent, run("Bash", `{"command":"go test ./...; rm x"}`), permission.ByNoOne},
		{claudeAgent, run("Bash", `{"command":"go test","dangerouslyDisableSandbox":true}`), permission.ByNoOne},
		{claudeAgent, run("Bash", `{"command":"go test","args":"x"}`), permission.ByNoOne},
		{claudeAgent, run("Bash", `{"command":" "}`), permission.ByNoOne},
		{claudeAgent, run("mcp__box__run", `{"command":"go test"}`), permission.ByNoOne},
		{"another", run("Bash", `{"command":"go test"}`), permission.ByNoOne},
		{"qwen-code", run("", `{"command":"go test","unsandboxed":true}`), permission.ByNoOne},
		{"goose", goose("shell · go test", `{"command":"rm x"}`), permission.ByNoOne},
		{"goose", goose("box__run · go test", `{"command":"go test"}`), permission.ByNoOne},
		{"goose", goose("shell", `{"command":"go test"}`), permission.ByNoOne},
		{"gemini-cli", gemini("run_shell_command__1", "execute", "go test ./... > x", ""), permission.ByNoOne},
		{"gemini-cli", gemini("box__1", "execute", "go test", ""), permission.ByNoOne},
		{"gemini-cli", gemini("run_shell_command__1", "other", "go test", ""), permission.ByNoOne},
		{"gemini-cli", gemini("run_shell_command__1", "execute", "go test", `{"command":"rm x"}`), permission.ByNoOne},
		{claudeAgent, run("Bash", `{"command":"go test ./... && git push"}`), permission.ByRule}, // which denies
	} {
		rules := []permission.Rule{{Decision: permission.Allow, Commands: []string{"go test *"}}, {Name: "push", Decision: permission.Deny, Commands: []string{"git push"}}}
		d := newTestScope(t, permission.Options{Extract: permission.ExtractKnown}, rules...)
		q := question(c.tool)
		q.Agent = c.agent
		o := d.Decide(t.Context(), q)
		assert.Equal(t, c.by, o.By, "%s %+v", c.agent, c.tool)
		assert.Equal(t, c.by == permission.ByRule && d.last().Rule != "push", o.Decision == permission.Allow, "%s %+v", c.agent, c.tool)
	}
}

// A rule for a folder lets an agent change files in it without a person, if the agent asks first,
// and nothing else.
func TestKnownAgentsChangeFilesWithoutAPerson(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "open"), 0o700))
	inside, outside, text := filepath.Join(dir, "open", "a"), filepath.Join(dir, "b"), "x"
	input := func(members map[string]string) json.RawMessage {
		raw, err := json.Marshal(members)
		require.NoError(t, err)
		return raw
	}
	for name, c := range map[string]struct {
		agent string
		tool  permission.Tool
		want  bool
	}{
		"a diff":               {codexAgent, permission.Tool{Kind: "edit", Diffs: []permission.Diff{{Path: inside, NewText: &text}}}, true},
		"a location":           {codexAgent, permission.Tool{Kind: "edit", Paths: []string{inside}}, true},
		"the input":            {"goose", permission.Tool{Title: "write · " + inside, Input: input(map[string]string{"path": inside})}, true},
		"relative":             {"qwen-code", permission.Tool{Kind: "edit", Paths: []string{"open/a"}}, true},
		"a read":               {"OpenCode", permission.Tool{Kind: "read", Paths: []string{inside}}, true},
		"one outside":          {claudeAgent, permission.Tool{Kind: "edit", Paths: []string{inside, outside}}, false},
		"another in the input": {claudeAgent, permission.Tool{Kind: "edit", Paths: []string{inside}, Input: input(map[string]string{"file_path": outside})}, false},
		"a diff outside":       {"gemini-cli", permission.Tool{Kind: "edit", Paths: []string{inside}, Diffs: []permission.Diff{{Path: outside}}}, false},
		"a read with a diff":   {"gemini-cli", permission.Tool{Kind: "read", Diffs: []permission.Diff{{Path: inside}}}, false},
		"no file":              {claudeAgent, permission.Tool{Kind: "edit"}, false},
		"another tool":         {"goose", permission.Tool{Title: "box__put · " + inside, Kind: "edit", Input: input(map[string]string{"path": inside})}, false},
		"another kind":         {claudeAgent, permission.Tool{Kind: "delete", Paths: []string{inside}}, false},
		"another agent":        {"a", permission.Tool{Kind: "edit", Paths: []string{inside}}, false},
	} {
		rules := []permission.Rule{{Decision: permission.Allow, Paths: []string{filepath.ToSlash(dir) + "/open/**"}}}
		d := newTestScope(t, permission.Options{Extract: permission.ExtractKnown}, rules...)
		q := question(c.tool)
		q.Agent, q.Workspace = c.agent, dir
		assert.Equal(t, c.want, d.Decide(t.Context(), q).Decision == permission.Allow, name)
	}
}

// Goose asks, and then runs the command in a terminal of the client with a variable of its own.
func TestOneQuestionForACommandOfGoose(t *testing.T) {
	d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce), Extract: permission.ExtractKnown})
	q := question(permission.Tool{Title: "shell · go vet; ls", Input: json.RawMessage(`{"command":"go vet; ls"}`)})
	q.Agent, q.Workspace = "goose", on("/w")
	require.Equal(t, permission.Allow, d.Decide(t.Context(), q).Decision)
	act := shell("go vet; ls")
	act.Operation.Cwd = resolved("/w")
	act.Variables = []permission.Variable{{Name: "AGENT_SESSION_ID", Value: "1"}}
	require.NoError(t, d.Authorize(t.Context(), act))
	assert.Equal(t, 1, d.timesAsked())
	act.Variables = append(act.Variables, permission.Variable{Name: "LD_PRELOAD", Value: "x"})
	require.NoError(t, d.Authorize(t.Context(), act))
	assert.Equal(t, 2, d.timesAsked())
}

// Opencode names the file of a read when it announces the call, and asks with empty values.
func TestQuestionsWithEmptyValuesHideNothing(t *testing.T) {
	rules := []permission.Rule{{Decision: permission.Deny, Paths: []string{"/w/secret/**"}}}
	d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)}, rules...)
	d.Observe("s", thread.ToolCallChanged{ID: "1", RawInput: new(json.RawMessage(`{"filePath":"` + on("/w/secret/a") + `"}`))})
	o := d.Decide(t.Context(), question(permission.Tool{ID: "1", Kind: "read", Input: json.RawMessage(`{ }`), Paths: []string{}}))
	assert.Equal(t, permission.ByRule, o.By)
	o = d.Decide(t.Context(), question(permission.Tool{ID: "1", Kind: "read", Paths: []string{on("/w/a")}, Input: json.RawMessage(`{}`)}))
	assert.Equal(t, permission.ByPerson, o.By)
}

// TestInputsThatNameCommands compares inputs that agents send for commands with the commands that a
// person reads and allows.
func TestInputsThatNameCommands(t *testing.T) {
	in := func(a permission.Act, cwd string) *permission.Act {
		a.Operation.Cwd = cwd
		return &a
	}
	for input, want := range map[string]*permission.Act{
		`{"command":"npm test; ls","description":"Test"}`:                in(shell("npm test; ls"), "/w"), // claude
		`{"command":"sleep 60; ls","run_in_background":true}`:            in(shell("sleep 60; ls"), "/w"),
		`{"command":"npm test; ls","cwd":"/nowhere/x"}`:                  in(shell("npm test; ls"), "/nowhere/x"), // codex
		`{"command":["bash","-lc","npm test"],"workdir":"sub"}`:          in(command("bash", "-lc", "npm test"), "/w/sub"),
		`{"command":"ls -l","directory":"sub/..","is_background":false}`: nil, // cannot be resolved: sub does not exist
		`{"command":"sh","args":["-c","exit 3"],"cwd":"/w"}`:             in(command("sh", "-c", "exit 3"), "/w"),
		`{"command":"echo 'a';\n exit 3","cwd":"/w"}`:                    in(command("/bin/sh", "-c", ":\necho 'a';\n exit 3\n"), "/w"),
		`{"command":"/bin/sh","args":["-c","exit 3"],"cwd":"/w"}`:        in(command("/bin/sh", "-c", ":\nexit 3\n"), "/w"),
		`{"command":"ls","args":[]}`:                                     in(command("ls"), "/w"),
		`{"cmd":"ls","arguments":["-l"]}`:                                in(command("ls", "-l"), "/w"),
		`{"command":"ls","args":["-l"],"arguments":["-a"]}`:              nil,
		`{"command":"ls","args":{"0":"-l"}}`:                             nil,
		`{"command":"ls","cwd":"/w","workdir":"/v"}`:                     nil,
		`{"command":"ls","cwd":1}`:                                       nil,
		`{"command":""}`:                                                 nil,
		`{"command":{"run":"ls"}}`:                                       nil,
	} {
		t.Run(input, func(t *testing.T) {
			d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)})
			require.Equal(t, permission.Allow, d.Decide(t.Context(), question(permission.Tool{Title: "T", Input: json.RawMessage(input)})).Decision)
			shown := d.last().Question.Lines()
			for _, act := range []permission.Act{command("ls"), *in(command("ls"), "/v")} {
				if want == nil {
					require.NoError(t, d.Authorize(t.Context(), act))
				}
			}
			if want == nil {
				assert.Equal(t, 3, d.timesAsked())
				return
			}
			require.NoError(t, d.Authorize(t.Context(), *want))
			require.Equal(t, 1, d.timesAsked())
			require.NoError(t, d.Authorize(t.Context(), *want))
			assert.Equal(t, 2, d.timesAsked(), "one answer is for one command")
			shown = slices.DeleteFunc(shown[1:], func(line string) bool { return strings.HasPrefix(line, "the input also has ") })
			assert.Equal(t, shown, d.last().Question.Lines(), "what was allowed was shown")
		})
	}
}
