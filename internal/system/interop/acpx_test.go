package interop_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// acpx, a command line client, drives our agent: its own record of the conversation
// tells what it sent and saw.
func TestAcpx(t *testing.T) {
	t.Parallel()
	needShell(t)
	for _, test := range []struct {
		name, flag, prompt string
		code               int
		check              func(t *testing.T, dir string, said []envelope)
	}{
		{"approve permission", "--approve-all", "permission", 0, func(t *testing.T, _ string, said []envelope) {
			assert.True(t, says(said, `"agent_message_chunk","content":{"type":"text","text":"selected id-allow_once"}`))
		}},
		{"deny permission", "--deny-all", "permission", 5, func(t *testing.T, _ string, said []envelope) {
			assert.True(t, says(said, `"agent_message_chunk","content":{"type":"text","text":"selected id-reject_once"}`))
		}},
		{"files", "--approve-all", "files", 0, func(t *testing.T, dir string, said []envelope) {
			b, err := os.ReadFile(filepath.Join(dir, "file.txt"))
			require.NoError(t, err)
			assert.Equal(t, "one\ntwo\nthree\nfour\n", string(b))
			assert.Equal(t, []rpcerr.Code{0, 0, 0, rpcerr.CodeInternalError}, answers(t, said, "fs/"), "acpx has no code for missing files")
		}},
		{"files denied", "--deny-all", "files", 0, func(t *testing.T, dir string, _ []envelope) {
			assert.NoFileExists(t, filepath.Join(dir, "file.txt"))
		}},
		{"terminals", "--approve-all", "terminal", 0, func(t *testing.T, _ string, said []envelope) {
			assert.Equal(t, []rpcerr.Code{0, 0, 0, 0, 0, 0, 0, 0, rpcerr.CodeInternalError}, answers(t, said, "terminal/"))
		}},
		{"every update", "--approve-all", "updates", 0, func(t *testing.T, _ string, said []envelope) {
			seen := 0
			for _, e := range said {
				if e.Method == "session/update" && !strings.Contains(string(e.Params), "says hello") {
					seen++
				}
			}
			assert.Equal(t, 17, seen, "what acpx has not advertised is not sent, as boolean options")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir, home := pairtest.TempDir(t), pairtest.TempDir(t)
			got := run(t, dir, append(selfEnv("agent"), "HOME="+home), "",
				acpx(t, dir, self(t), test.flag, "--format", "json", "exec", test.prompt)...)
			require.Equal(t, test.code, got.code, "stdout: %s\nstderr: %s", got.stdout, got.stderr)
			assert.NotContains(t, got.stderr, "level=", "our agent has nothing to warn of")
			var said []envelope
			for line := range strings.Lines(got.stdout) {
				e, ok := open(line)
				require.True(t, ok, line)
				said = append(said, e)
			}
			assert.Contains(t, string(said[len(said)-1].Result), `"end_turn"`, "last: %s %.300s", said[len(said)-1].Method, said[len(said)-1].Params)
			test.check(t, dir, said)
		})
	}
}

// acpx's plainest output is what the agent said.
func TestAcpxQuiet(t *testing.T) {
	t.Parallel()
	dir := pairtest.TempDir(t)
	got := run(t, dir, append(selfEnv("agent"), "HOME="+dir), "",
		acpx(t, dir, self(t), "--approve-all", "--format", "quiet", "exec", "say hello")...)
	assert.Equal(t, outcome{stdout: "hello\n"}, got)
}

// acpx is the command that runs acpx with an agent in a folder.
func acpx(t *testing.T, dir string, agent []string, args ...string) []string {
	t.Helper()
	quoted := make([]string, len(agent))
	for i, word := range agent {
		quoted[i] = `"` + strings.ReplaceAll(word, `\`, `\\`) + `"`
	}
	return node(t, "node_modules/acpx/dist/cli.js", append([]string{"--cwd", dir, "--agent", strings.Join(quoted, " ")}, args...)...)
}

// says reports whether an update contains a text.
func says(said []envelope, text string) bool {
	return slices.ContainsFunc(said, func(e envelope) bool {
		return e.Method == "session/update" && strings.Contains(string(e.Params), text)
	})
}

// answers are the codes with which the client answered the agent's requests below a
// prefix, 0 for a result, in the order of the requests.
func answers(t *testing.T, said []envelope, prefix string) []rpcerr.Code {
	t.Helper()
	var codes []rpcerr.Code
	place := map[string]int{}
	for _, e := range said {
		switch {
		case e.isRequest() && strings.HasPrefix(e.Method, prefix):
			place[string(e.ID)] = len(codes)
			codes = append(codes, -1)
		case e.isResponse():
			i, ok := place[string(e.ID)]
			if !ok || codes[i] != -1 {
				continue
			}
			var fault rpcerr.RequestError
			if e.Error != nil {
				require.NoError(t, json.Unmarshal(e.Error, &fault))
			}
			codes[i] = fault.Code
		}
	}
	return codes
}
