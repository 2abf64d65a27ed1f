//go:build unix

package examples_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each example says how it is used, by its name and not by the path of its binary.
func TestHelp(t *testing.T) {
	all, err := filepath.Glob(filepath.Join(programs, "*"))
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, program := range all {
		name := filepath.Base(program)
		out, err := exec.Command(program, "-h").CombinedOutput()
		assert.NoError(t, err, name)
		assert.True(t, strings.HasPrefix(string(out), "usage: "+name), "%s: %s", name, out)
		assert.NotContains(t, string(out), programs)
	}
}

// What an example prints when it cannot work names the next step.
func TestErrorsNameTheNextStep(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, exec.Command("touch", plain).Run())
	const (
		install = "The agent is not installed here. Install it"
		exited  = "The agent exited before it responded. Run its command by itself"
	)
	for _, tt := range []struct {
		program string
		args    []string
		want    string
	}{
		{"ask", nil, "usage: ask QUESTION AGENT"},
		{"ask", []string{"hello", "no-such-agent"}, install},
		{"ask", []string{"hello", plain}, "Check its permissions"},
		{"ask", []string{"hello", "true"}, exited},
		{"ask", []string{"hello", "sh", "-c", "echo Usage: x"}, `begins with "Usage: x"`},
		{"ask", []string{"hello", "sh", "-c", `read l; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error","data":{"details":"no key"}}}'; read l`}, "no key"},
		{"ask", []string{"hello", "sh", "-c", `read l; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"authMethods":[{"id":"b","name":"Browser"}]}}'; read l; echo '{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Authentication required"}}'; read l`}, "Sign in to the agent first.\n  b: Browser"},
		{"proxy", nil, "usage: proxy AGENT"},
		{"proxy", []string{"no-such-agent"}, install},
		{"proxy", []string{"sh", "-c", "echo no model >&2; exit 3"}, "no model"},
		{"bridge", nil, "usage: bridge -url URL"},
		{"bridge", []string{"-url", "x"}, "ws, wss, http or https"},
	} {
		t.Run(tt.program+" "+strings.Join(tt.args, " "), func(t *testing.T) {
			cmd := exec.Command(filepath.Join(programs, tt.program), tt.args...)
			in, err := cmd.StdinPipe() // stays open
			require.NoError(t, err)
			defer in.Close()
			out, err := cmd.CombinedOutput()
			assert.Error(t, err)
			assert.Contains(t, string(out), tt.want)
		})
	}
}

// ask waits for an agent that does not respond, and says so.
func TestAskSaysThatItWaits(t *testing.T) {
	cmd := exec.Command(filepath.Join(programs, "ask"), "hello", "sh", "-c", "echo Welcome; read x; read x")
	out, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "ask: waiting for the agent to start; Ctrl-C ends it. Welcome\n", line)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	assert.Error(t, cmd.Wait())
}
