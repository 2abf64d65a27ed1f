package permission_test

import (
	"encoding/json"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/permission"
)

// A person reads the line that the model wrote, in the question of the agent and in that about the terminal.
// The answer to the first is also one to the second.
func TestPeopleReadTheLineOfTheModel(t *testing.T) {
	for arg, line := range map[string]string{
		":\nls -l\n":                  "ls -l",
		":\ngo test && echo \"$X\"\n": `go test && echo "$X"`,
		":\ncat <<E\n'a'\nE\n":        "cat <<E\n'a'\nE",
		":\nls\n\n":                   "ls\n",
		":\n:\nls\n":                  ":\nls",
		":\necho a\\":                 `echo a\`,
		":\necho a\\\n":               "echo a\\\n",
		":\nls":                       "ls",
		"ls\n":                        "ls\n",
		": \nls\n":                    ": \nls\n",
	} {
		d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)})
		for _, input := range []map[string]any{{"command": line}, {"command": "/bin/sh", "args": []string{"-c", arg}}} {
			raw, err := json.Marshal(input)
			require.NoError(t, err)
			before := d.timesAsked()
			require.Equal(t, permission.Allow, d.Decide(t.Context(), question(permission.Tool{Title: "T", Input: raw})).Decision)
			asked := d.last().Question
			assert.Equal(t, []string{line}, asked.Operations[0].Argv)
			assert.True(t, asked.Operations[0].Shell)
			act := command("/bin/sh", "-c", arg)
			act.Operation.Program = "/bin/sh"
			require.NoError(t, d.Authorize(t.Context(), act))
			assert.Equal(t, before+1, d.timesAsked(), "%q %s", arg, raw)
			require.NoError(t, d.Authorize(t.Context(), act))
			assert.Equal(t, before+2, d.timesAsked(), "one answer is for one command")
			assert.Equal(t, asked.Lines()[1:], d.last().Question.Lines())
			assert.Equal(t, asked.Operations[0].Argv, d.last().Question.Operations[0].Argv)
		}
	}
}

// What is around the line makes no difference to rules, and a rule about the shell still holds.
func TestRulesReadTheLineOfTheModel(t *testing.T) {
	decides := func(decision permission.Decision, rule string, argv ...string) bool {
		rules := []permission.Rule{{Decision: decision, Commands: []string{rule}}}
		if decision == permission.Deny {
			rules = append(rules, permission.Rule{Decision: permission.Allow, Commands: []string{"ls *"}})
		}
		err := newTestScope(t, permission.Options{}, rules...).Authorize(t.Context(), command(argv...))
		return (err == nil) == (decision == permission.Allow)
	}
	sh := func(arg string) []string { return []string{"/bin/sh", "-c", arg} }
	allows := runtime.GOOS != "windows" // where no rule allows the command in a line for a shell
	assert.Equal(t, allows, decides(permission.Allow, "ls -l", sh(":\nls -l\n")...))
	assert.Equal(t, allows, decides(permission.Allow, "ls *", sh(":\nls x")...))
	for _, arg := range []string{":\nls; rm x\n", ":\nls\nrm x\n", ":\nls\n\n", ":\n:\nls\n", ": rm\nls\n", "rm\nls\n", ":\n", ":\n\n", ""} {
		assert.False(t, decides(permission.Allow, "ls *", sh(arg)...), "%q", arg)
	}
	assert.False(t, decides(permission.Allow, "ls", "bash", "-c", ":\nls\n"))
	for _, rule := range []string{"ls", "ls -l", "sh *", "/bin/sh -c *"} {
		assert.True(t, decides(permission.Deny, rule, sh(":\nls -l\n")...), rule)
	}
}

// Where a line is more than a word, cmd.exe may read another one than a person.
func TestWordsForCmd(t *testing.T) {
	for word, is := range map[string]bool{"dir": true, `.\build.cmd`: true, `C:\tools\run`: true, "a&b": false, "%X%": false, "a b": false, "": false} {
		d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)})
		require.NoError(t, d.Authorize(t.Context(), command("cmd.exe", "/d", "/c", word)))
		assert.Equal(t, is && runtime.GOOS == "windows", d.last().Question.Operations[0].Shell, word)
	}
}
