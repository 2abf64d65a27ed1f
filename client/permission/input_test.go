package permission_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/permission"
)

// What agents in use send as the input of a tool call that runs a command, and the command
// that a person reads and allows with the question.
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
		`{"command":"ls -l","directory":"sub/..","is_background":false}`: nil, // cannot be resolved: sub is not there
		`{"command":"sh","args":["-c","exit 3"],"cwd":"/w"}`:             in(command("sh", "-c", "exit 3"), "/w"),
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
			d := newDesk(t, permission.Options{Ask: pick(permission.AllowOnce)})
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
			assert.Equal(t, shown[1:], d.last().Question.Lines(), "what was allowed was shown")
		})
	}
}
