package examples_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A pipeline learns from the exit status how the turn ended.
func TestExitStatusInCI(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	worker := filepath.Join(programs, "agent")
	const opened = `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`
	answers := func(more ...string) []string {
		return append([]string{self, "speak", "respond", `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`}, more...)
	}
	stops := func(reason string) []string {
		return answers(opened, `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"`+reason+`"}}`)
	}
	write := []string{"write notes.txt: done", worker, "-state", t.TempDir()}
	for name, tt := range map[string]struct {
		flags, args []string
		want        int
		says        string
	}{
		"ends its turn":          {nil, append([]string{"hi"}, stops("end_turn")...), 0, ""},
		"runs what it may":       {[]string{"-allow", "grep *"}, []string{`search for "needle"`, worker, "-state", t.TempDir()}, 0, "needle"},
		"writes what it may not": {[]string{"-write", "*.go", "-allow", "go test *"}, write, 5, "ci: denied: write "},
		"writes what it may":     {[]string{"-write", "*.txt"}, write, 0, "Wrote "},
		"refuses":                {nil, append([]string{"hi"}, stops("refusal")...), 3, "ci: the agent stopped: refusal\nThe agent does not take this prompt"},
		"reaches a limit":        {nil, append([]string{"hi"}, stops("max_tokens")...), 4, "ci: the agent stopped: max_tokens\nThe model has reached its limit of tokens."},
		"fails":                  {nil, append([]string{"hi"}, answers(opened, `{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"no model"}}`)...), 1, "no model"},
		"is not there":           {nil, []string{"hi", "no-such-agent"}, 1, "not installed here"},
		"takes too long":         {[]string{"-time", "5s"}, append([]string{"hi"}, answers(opened)...), 6, "ci: the agent was cancelled, and has not ended in time: the time of -time, 5s, is over"},
		"streams too long":       {[]string{"-time", "5s"}, []string{"hi", self, "speak", "stream"}, 6, "ci: the agent was cancelled, and has ended its turn: the time of -time, 5s, is over"},
		"is silent":              {[]string{"-silence", "1s"}, append([]string{"hi"}, answers(opened)...), 6, "has sent nothing about the session for 1s"},
		"is not named":           {nil, []string{"hi"}, 2, "usage: ci"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "log.jsonl")
			require.NoError(t, os.WriteFile(file, nil, 0o644))
			flags := append([]string{"-dir", dir, "-log", file}, tt.flags...)
			out, err := exec.Command(filepath.Join(programs, "ci"), append(flags, tt.args...)...).CombinedOutput()
			code := 0
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				code = exit.ExitCode()
			}
			assert.Equal(t, tt.want, code, "%s", out)
			assert.Contains(t, string(out), tt.says)
			_, err = os.Stat(filepath.Join(dir, "notes.txt"))
			assert.Equal(t, name == "writes what it may", err == nil)
			if tt.want == 0 {
				log, err := os.Open(file)
				require.NoError(t, err)
				defer log.Close()
				info, err := log.Stat()
				require.NoError(t, err)
				if runtime.GOOS != "windows" {
					assert.Zero(t, info.Mode().Perm()&0o077, "others do not read it")
				}
				lines := 0
				for r := bufio.NewReader(log); ; lines++ {
					line, err := r.ReadBytes('\n')
					if err == io.EOF {
						break
					}
					var entry struct {
						Direction string
						Message   struct{ JSONRPC string }
					}
					require.NoError(t, json.Unmarshal(line, &entry))
					assert.Equal(t, "2.0", entry.Message.JSONRPC)
				}
				assert.GreaterOrEqual(t, lines, 6)
			}
		})
	}
}
