package examples_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The usage of each example begins with its name, not with the path of its binary.
func TestHelp(t *testing.T) {
	t.Parallel()
	all, err := filepath.Glob(filepath.Join(programs, "*"))
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, program := range all {
		name := strings.TrimSuffix(filepath.Base(program), ".exe")
		out, err := exec.Command(program, "-h").CombinedOutput()
		assert.NoError(t, err, name)
		assert.True(t, strings.HasPrefix(string(out), "usage: "+name), "%s: %s", name, out)
		assert.NotContains(t, string(out), programs)
	}
}

// The error text of an example names the next step.
func TestErrorsNameTheNextStep(t *testing.T) {
	t.Parallel()
	const (
		install = "The agent is not installed here. Install it"
		exited  = "The agent exited before it responded. Run its command by itself"
	)
	self, err := os.Executable()
	require.NoError(t, err)
	plain := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o600))
	notExecutable := "Check its permissions"
	if runtime.GOOS == "windows" { // a file is a program by its extension
		notExecutable = install
	}
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer locked.Close()
	for _, tt := range []struct {
		program string
		args    []string
		want    string
	}{
		{"ask", nil, "usage: ask QUESTION AGENT"},
		{"ask", []string{"hello", "no-such-agent"}, install},
		{"ask", []string{"hello", plain}, notExecutable},
		{"ask", []string{"hello", self, "speak", "print", "", "", "0"}, exited},
		{"ask", []string{"hello", self, "speak", "print", "Usage: x\n", "", "0"}, `begins with "Usage: x"`},
		{"ask", []string{"hello", self, "speak", "respond", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error","data":{"details":"no key"}}}`}, "no key"},
		{"ask", []string{"hello", self, "speak", "respond", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}`}, "look into its log.\nthe model is not loaded"},
		{"ask", []string{"hello", self, "speak", "respond", `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"authMethods":[{"id":"b","name":"Browser"}]}}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Authentication required"}}`}, "Sign in to the agent first.\n  b: Browser"},
		{"ask", []string{"hello", self, "speak", "respond", `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`, `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`, `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"refusal"}}`}, "ask: the agent stopped: refusal\nThe agent does not take this prompt"},
		{"chat", []string{"-prompt", "hello", "--", self, "speak", "respond", `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`, `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`, `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"max_tokens"}}`}, "chat: the agent stopped: max_tokens\nThe model has reached its limit of tokens."},
		{"proxy", nil, "usage: proxy AGENT"},
		{"proxy", []string{"no-such-agent"}, install},
		{"proxy", []string{self, "speak", "print", "", "no model\n", "3"}, "no model"},
		{"proxy", []string{self, "speak", "print", "Welcome to \x1b[1mthe\n", "", "1"}, `said="Welcome to \\x1b[1mthe"`},
		{"bridge", nil, "usage: bridge -url URL"},
		{"bridge", []string{"-url", "x"}, "unix, ws, wss, http and https"},
		{"bridge", []string{"-url", "http://127.0.0.1:1/acp"}, "bridge: POST: dial tcp 127.0.0.1:1: connect: connection refused\nNo agent listens there."},
		{"bridge", []string{"-url", "ws://127.0.0.1:1/acp"}, "connection refused\nNo agent listens there."},
		{"bridge", []string{"-url", locked.URL + "/acp"}, "HTTP status 401\nThe agent wants a token: it got none, or not the one that it expects. Set it in ACP_TOKEN."},
	} {
		t.Run(tt.program+" "+tt.want, func(t *testing.T) {
			cmd := exec.Command(filepath.Join(programs, tt.program), tt.args...)
			in, err := cmd.StdinPipe() // stays open
			require.NoError(t, err)
			defer in.Close()
			_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`+"\n")
			require.NoError(t, err)
			out, err := cmd.CombinedOutput()
			assert.Error(t, err)
			assert.Contains(t, string(out), tt.want)
		})
	}
}
