// Package terminal holds the tests of what our programs print of the texts of a peer. It has no code of
// its own.
package terminal_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	neturl "net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// programs is the folder with the built programs, and self this test, which is their agent.
var programs, self string

func TestMain(m *testing.M) {
	if play := os.Getenv(playVar); play != "" {
		playAgent(play)
		return
	}
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (code int, err error) {
	if self, err = os.Executable(); err != nil {
		return 0, err
	}
	if programs, err = os.MkdirTemp("", "terminal"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(programs)
	build := exec.Command("go", "build", "-ldflags=-w", "-o", programs+string(filepath.Separator), "github.com/acpkit/go-sdk/cmd/acp")
	for _, name := range []string{"chat", "ask", "ci", "bridge", "proxy"} {
		build.Args = append(build.Args, "github.com/acpkit/go-sdk/examples/"+name)
	}
	draft := exec.Command("go", "build", "-ldflags=-w", "-o", filepath.Join(programs, "draft2")+string(filepath.Separator), "github.com/acpkit/go-sdk/draft2/examples/chat")
	for _, build := range []*exec.Cmd{build, draft} {
		if out, err := build.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%w: %s", err, out)
		}
	}
	return m.Run(), nil
}

// run runs a program with an agent that plays, and returns what it writes.
func run(t *testing.T, play, input string, args ...string) (stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs, args[0]), args[1:]...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), playVar+"="+play, "XDG_STATE_HOME="+cmd.Dir, "XDG_CACHE_HOME="+cmd.Dir, "ACP_TOKEN=")
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	err := cmd.Run()
	require.NoError(t, ctx.Err(), "%s %s%s", args[0], &out, &errs)
	if _, exited := err.(*exec.ExitError); !exited {
		require.NoError(t, err)
	}
	return out.String(), errs.String()
}

// conversation returns what a client writes to the agent.
func conversation() string {
	var b strings.Builder
	for i, m := range []object{
		{"method": "initialize", "params": object{"protocolVersion": 1, "clientCapabilities": object{}}},
		{"method": "session/new", "params": object{"cwd": "/", "mcpServers": []string{}}},
		{"method": "session/prompt", "params": object{"sessionId": text("session"), "prompt": []object{{"type": "text", "text": "x"}}}},
	} {
		m["jsonrpc"], m["id"] = "2.0", i
		b.Write(encode(m))
	}
	for i := range 6 {
		b.Write(encode(object{"jsonrpc": "2.0", "id": fmt.Sprint("ask ", i+1), "error": object{"code": -32603, "message": text("refused")}}))
	}
	return b.String()
}

var gap = regexp.MustCompile(`[\s\p{Zs}\x{2800}\x{3164}]{3}IMITATION`)

// clean asserts that a text can be written to a terminal, and that it shows what was tagged.
func clean(t *testing.T, shown string, tags ...string) {
	t.Helper()
	for _, tag := range tags {
		assert.True(t, strings.Contains(shown, "<"+tag+">"), "it does not show %s", tag)
	}
	for line := range strings.Lines(shown) {
		assert.True(t, utf8.ValidString(line), "%.200q", line)
		if i := strings.IndexFunc(strings.TrimSuffix(line, "\n"), acts); i >= 0 {
			r, _ := utf8.DecodeRuneInString(line[i:])
			assert.Fail(t, "a character acts on the terminal, or cannot be seen", "%U in %.300q", r, line)
		}
	}
}

func acts(r rune) bool {
	return r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Bidi_Control,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || r == '\u2800' || r == '\U0001d159'
}

// Whatever an agent says, and wherever it says it, no program writes what acts on a terminal, turns a
// text around, cannot be seen or imitates a line behind blanks. The tags are what the program must have
// shown, so that the agent has been heard.
func TestHostileAgent(t *testing.T) {
	t.Parallel()
	commands := ":help\n:mode\n:set\n:sessions\n"
	for name, tt := range map[string]struct {
		play, input string
		args        []string
		stdout      []string // the tags
		stderr      []string
		wire        bool // standard output is no terminal, but the stream of messages
	}{
		"ask":                    {play: "end_turn", args: []string{"ask", "x", self}, stdout: []string{"said"}},
		"ask, a turn fails":      {play: "end", args: []string{"ask", "x", self}, stdout: []string{"said"}, stderr: []string{"message", "details", "stderr"}},
		"ask, signed out":        {play: "session/new", args: []string{"ask", "x", self}, stderr: []string{"way"}},
		"ask, no session":        {play: "initialize", args: []string{"ask", "x", self}, stderr: []string{"message"}},
		"ask, no agent":          {play: "silent", args: []string{"ask", "x", self}, stderr: []string{"stderr"}},
		"draft2/chat":            {play: "end_turn", input: "x\n1\n1\n1\n1\n1\n1\n", args: []string{"draft2/chat", self}, stdout: []string{"said", "title"}},
		"draft2/chat, version 2": {play: "version 2", input: "x\n", args: []string{"draft2/chat", self}, stdout: []string{"said", "title", "question", "question description", "run", "run cwd", "stop reason"}},
		"draft2/chat fails":      {play: "end", input: "x\n", args: []string{"draft2/chat", self}, stderr: []string{"message", "details"}},
		"ci":                     {play: "end_turn", args: []string{"ci", "x", self}, stdout: []string{"said"}, stderr: []string{"stderr", "title", "run", "file"}},
		"ci, a turn fails":       {play: "end", args: []string{"ci", "x", self}, stdout: []string{"said"}, stderr: []string{"message"}},
		"ci, signed out":         {play: "session/new", args: []string{"ci", "x", self}, stderr: []string{"message"}},
		"ci, no agent":           {play: "silent", args: []string{"ci", "x", self}, stderr: []string{"stderr"}},
		"chat": {play: "end_turn", input: "x\n1\n1\n3\n" + commands, args: []string{"chat", "-v", "--", self},
			stdout: []string{"said", "title", "choice", "plan", "tool output", "raw", "file", "run", "slash", "mode", "option id", "listed"}, stderr: []string{"stderr", "noise"}},
		"chat, all allowed":    {play: "end_turn", args: []string{"chat", "-yes", "-prompt", "x", "--", self}, stdout: []string{"said", "title", "run"}},
		"chat, a turn fails":   {play: "end", args: []string{"chat", "-no", "-prompt", "x", "--", self}, stdout: []string{"said"}, stderr: []string{"message"}},
		"chat, signed out":     {play: "session/new", input: "2\n1\n1\n", args: []string{"chat", "--", self}, stdout: []string{"way"}},
		"chat, no agent":       {play: "silent", args: []string{"chat", "--", self}, stderr: []string{"stderr"}},
		"chat, sessions":       {play: "end_turn", args: []string{"chat", "-list", "--", self}, stdout: []string{"listed", "listed title"}},
		"proxy":                {play: "end_turn", input: conversation(), args: []string{"proxy", self}, wire: true, stderr: []string{"stderr", "noise", "notification"}},
		"proxy, all fails":     {play: "session/new", input: conversation(), args: []string{"proxy", self}, wire: true, stderr: []string{"stderr", "message"}},
		"proxy, no agent":      {play: "silent", input: conversation(), args: []string{"proxy", self}, wire: true, stderr: []string{"stderr"}},
		"acp check":            {play: "end_turn", args: []string{"acp", "check", "agent", "-wait", "1s", "-only", "v1-init-basic", "--", self}},
		"acp check, all fails": {play: "initialize", args: []string{"acp", "check", "agent", "-wait", "1s", "--", self}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr := run(t, tt.play, tt.input, tt.args...)
			if !tt.wire {
				clean(t, stdout, tt.stdout...)
			}
			clean(t, stderr, tt.stderr...)
			if tt.args[0] != "chat" { // which marks the rows of a terminal that belong to one line
				assert.False(t, gap.MatchString(stderr) || !tt.wire && gap.MatchString(stdout), "a text can imitate a line: %q%q", stdout, stderr)
			}
		})
	}
}

// A message may be lost with a line that quotes one, so each program tells its person once what it has skipped.
func TestQuotedMessageIsTold(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"ask", "x", self}, {"ci", "x", self}, {"chat", "-no", "-prompt", "x", "--", self}, {"draft2/chat", self}, {"proxy", self},
	} {
		t.Run(strings.ReplaceAll(args[0], "/", " "), func(t *testing.T) {
			t.Parallel()
			_, stderr := run(t, "quotes", map[bool]string{true: conversation(), false: "x\n1\n1\n1\n1\n"}[args[0] == "proxy"], args...)
			assert.Equal(t, 1, strings.Count(stderr, "<quoted>"), stderr)
			clean(t, stderr)
		})
	}
}

// A recording of a hostile agent is shown as lines of text.
func TestRecordingOfAHostileAgent(t *testing.T) {
	t.Parallel()
	for _, play := range []string{"end_turn", "initialize", "session/new", "end", "silent"} {
		t.Run(strings.ReplaceAll(play, "/", " "), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			tap := exec.Command(filepath.Join(programs, "acp"), "tap", "--", self)
			tap.Env = append(os.Environ(), playVar+"="+play, "XDG_STATE_HOME="+folder)
			tap.Stdin = strings.NewReader(conversation())
			_ = tap.Run() // it ends as the agent does
			all, err := filepath.Glob(filepath.Join(folder, "acpkit", "recordings", "*"))
			require.NoError(t, err)
			require.Len(t, all, 1)
			stdout, stderr := run(t, play, "", "acp", "view", "-text", all[0])
			clean(t, stdout, "noise")
			clean(t, stderr)
		})
	}
}

// A server that is no agent, or one behind a bridge.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 401, 404, 500, 503} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; x="+"\u202e\u3164")
			w.Header().Set("WWW-Authenticate", "Bearer realm=\"\u202e\u3164\u2800\"")
			w.WriteHeader(status)
			io.WriteString(w, text("body"))
		}))
		t.Cleanup(server.Close)
		for _, args := range [][]string{
			{"bridge", "-url", server.URL}, {"bridge", "-url", strings.Replace(server.URL, "http", "ws", 1)},
			{"chat", "--", filepath.Join(programs, "bridge"), "-url", server.URL}, {"acp", "check", "agent", "-wait", "1s", server.URL},
		} {
			t.Run(fmt.Sprint(status, args[0], args[len(args)-1][:2]), func(t *testing.T) {
				t.Parallel()
				stdout, stderr := run(t, "", conversation(), args...)
				clean(t, stderr)
				if args[0] != "bridge" { // its output is the stream of messages
					clean(t, stdout)
				}
			})
		}
	}
}

// A bridge that starts the agent and refuses strangers, and one that reaches it.
func TestHostilePeersOfABridge(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	listening := exec.CommandContext(ctx, filepath.Join(programs, "bridge"), "-listen", "127.0.0.1:0", "-no-token", "--", self)
	listening.Env = append(os.Environ(), playVar+"=end_turn")
	var shown bytes.Buffer
	listening.Stderr = &shown
	out, err := listening.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, listening.Start())
	url, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	url = strings.TrimSpace(url)
	stdout, stderr := run(t, "", "", "ask", "x", filepath.Join(programs, "bridge"), "-url", strings.Replace(url, "http", "ws", 1)) // its session is no header
	clean(t, stdout, "said")
	clean(t, stderr)
	for _, path := range []string{"?" + text("query"), "/" + text("path")} {
		u, err := neturl.Parse(url)
		require.NoError(t, err)
		u.RawQuery, u.Path = neturl.QueryEscape(path), u.Path+path
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(text("body")))
		require.NoError(t, err)
		request.Header["Origin"], request.Header["Acp-Connection-Id"] = []string{"https://\u3164\u2800"}, []string{"\u202e\u3164"}
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		response.Body.Close()
	}
	require.NoError(t, listening.Process.Signal(os.Interrupt))
	_ = listening.Wait() // a signal ended it
	assert.NotEmpty(t, shown.String())
	clean(t, shown.String())
}

// What was cut is neither cleaned nor shown: a title of a megabyte makes lines of a few kilobytes. A command that
// nobody could read is refused, also by a person who has allowed everything, who is told.
func TestLongTitle(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"ask", "x", self}, {"ci", "x", self}, {"chat", "-no", "-prompt", "x", "--", self}, {"chat", "-yes", "-prompt", "x", "--", self}} {
		stdout, stderr := run(t, "megabyte", "", args...)
		if args[0] == "chat" {
			assert.Regexp(t, `chat: refused, because its 104\d{4} bytes are too many to be read: run .*touch ran`, stderr)
		}
		clean(t, stdout, "said")
		clean(t, stderr)
		assert.Less(t, len(stdout)+len(stderr), 100<<10, args[0])
	}
}
