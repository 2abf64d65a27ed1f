//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each failed start tells the reason and the next step at once.
func TestStartsThatFail(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, "text")
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer locked.Close()
	sh := func(script string) settings { return settings{dir: dir, agent: []string{"sh", "-c", script}} }
	const plain = `read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"plain","version":"3"}}}'; read line`
	for name, tt := range map[string]struct {
		s     settings
		wants []string
	}{
		"not installed":       {settings{dir: dir, agent: []string{"no-such-agent"}}, []string{"no-such-agent", "not installed here"}},
		"no program":          {settings{dir: dir, agent: []string{file}}, []string{"permission denied", "Check its permissions"}},
		"exits":               {sh("echo no such model >&2; exit 3"), []string{"exited with status 3", "no such model", "exited before it responded"}},
		"prints its usage":    {sh("echo Usage: agent; exit 0"), []string{`its standard output begins with "Usage: agent"`, "such as --acp"}},
		"prints for ever":     {settings{dir: dir, agent: []string{"yes"}}, []string{`prints lines such as "y"`, "such as --acp"}},
		"only version 2":      {sh(`read line; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"x","data":{"requested":1,"supported":[2]}}}'; read line`), []string{"version 1, only version 2"}},
		"cannot list":         {settings{dir: dir, list: true, agent: []string{"sh", "-c", plain}}, []string{"plain 3 cannot list its sessions"}},
		"cannot load":         {settings{dir: dir, load: "x", agent: []string{"sh", "-c", plain}}, []string{"plain 3 can neither load nor resume a session"}},
		"no system prompt":    {settings{dir: dir, system: "x", agent: []string{"sh", "-c", plain}}, []string{"plain 3 takes no instructions of its client", "without -system"}},
		"another version":     {sh(`read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":9}}'; read line`), []string{"version 9", "speaks version 1"}},
		"a reason":            {sh(`read line; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"API key is missing"}}'; read line`), []string{"API key is missing (-32603)"}},
		"an error":            {sh(`read line; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error","data":"OPENAI_API_KEY is not set"}}'; read line`), []string{"OPENAI_API_KEY is not set"}},
		"no token":            {settings{dir: dir, agent: bridge(t, locked.URL+"/acp")}, []string{"HTTP status 401", "Set it in ACP_TOKEN."}},
		"no token, WebSocket": {settings{dir: dir, agent: bridge(t, "ws"+strings.TrimPrefix(locked.URL, "http")+"/acp")}, []string{"HTTP status 401", "Set it in ACP_TOKEN."}},
		"no reason":           {sh(`read line; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}'; read line`), []string{"Internal error (-32603)", "chat with -v"}},
		"no reason, an id":    {sh(`read line; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error","data":{"errorId":"u3cyfdz5"}}}'; read line`), []string{"Internal error (-32603): error id u3cyfdz5", "chat with -v"}},
		"no such folder":      {settings{dir: filepath.Join(dir, "none")}, []string{"there is no folder " + dir, "-dir"}},
		"not a folder":        {settings{dir: file}, []string{"is not a folder", "-dir"}},
		"no folder to record": {settings{dir: dir, record: filepath.Join(dir, "none", "x")}, []string{"-record"}},
		"no agent listens":    {settings{dir: dir, agent: bridge(t, "http://127.0.0.1:1/acp")}, []string{"No agent listens there"}},
		"no scheme":           {settings{dir: dir, agent: bridge(t, "host/acp")}, []string{"unix, ws, wss, http and https"}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.s.prompt = "x"
			began := time.Now()
			err := run(t.Context(), tt.s, noConsole())
			require.Error(t, err)
			for _, want := range tt.wants {
				assert.Contains(t, text(err), want)
			}
			if !strings.HasPrefix(name, "no reason") {
				assert.NotContains(t, text(err), "chat with -v")
			}
			assert.NotRegexp(t, "(stream|streamhttp|websocket|client|host|acp): ", text(err))
			assert.Less(t, time.Since(began), 4*time.Second, "without waiting for a grace")
		})
	}
}

// A turn that ends early says what the person can do now.
func TestTurnsThatEndEarly(t *testing.T) {
	const agent = `read a; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
read a; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'
read a; echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"%s"}}'; read a`
	for reason, next := range map[string]string{
		"refusal":           "(refusal)\nThe agent does not take this prompt, and will not remember it.",
		"max_tokens":        "(max tokens)\nThe model has reached its limit of tokens.",
		"max_turn_requests": "(max turn requests)\nThe agent has reached its limit of requests to its model.",
		"_tired":            "( tired)\nThis is a reason of the agent's own",
	} {
		screen := converse(t, settings{agent: []string{"sh", "-c", fmt.Sprintf(agent, reason)}}, "x\n")
		assert.Contains(t, screen, next)
	}
}

// The default agent is chat itself: there is nothing to compile, and it works anywhere.
func TestDefaultAgentIsBuiltIn(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", "")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "notes"), "one\ntwo\n")
	assert.Contains(t, converse(t, settings{agent: []string{}, dir: dir, prompt: "read notes"}, ""), "notes has 2 lines.")
}

// The first line that is not a message is shown at once.
func TestNoiseIsShownAtOnce(t *testing.T) {
	agent := exampleAgent(t)
	var notes bytes.Buffer
	console := noConsole()
	console.err = &notes
	s := settings{dir: t.TempDir(), prompt: "help", agent: []string{"sh", "-c", `echo Welcome; echo "to the agent"; exec "$0" -state "$1"`, agent, t.TempDir()}}
	require.NoError(t, run(t.Context(), s, console))
	assert.Equal(t, "chat: the agent printed \"Welcome\", which is not a message of the protocol\n", notes.String())
}

// The start of an agent has no time limit. After two seconds, and every ten seconds from
// then on, the user sees what the program waits for.
func TestWaitingSaysWhatFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		s := &start{}
		began := time.Now()
		stop := waiting(func(line string) { said = append(said, time.Since(began).String()+" "+line) }, func() string { return s.doing("gemini --acp") })
		time.Sleep(3 * time.Second)
		s.stderr("\x1b[2Kdownloading 40%")
		time.Sleep(10 * time.Second)
		stop()
		time.Sleep(time.Hour)
		assert.Equal(t, []string{
			"2s waiting for gemini --acp to start",
			"12s waiting for gemini --acp, which says: downloading 40% (12 s)",
		}, said)
	})
	synctest.Test(t, func(t *testing.T) {
		stop := waiting(func(string) { t.Error("it did not take long") }, func() string { return "" })
		time.Sleep(time.Second)
		stop()
		time.Sleep(time.Minute)
	})
}

// The program waits for an agent that starts or ends slowly, and prints that it waits.
func TestSlowStartAndEnd(t *testing.T) {
	before := waitingAfter
	waitingAfter = 0
	defer func() { waitingAfter = before }()
	agent := exampleAgent(t)
	fifo := filepath.Join(t.TempDir(), "go")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	console := noConsole()
	told := make(chan string, 8)
	console.err = lineWriter(told)
	s := settings{dir: t.TempDir(), prompt: "help", agent: []string{"sh", "-c", `read x <"$2"; "$0" -state "$1"; read x <"$2"`, agent, t.TempDir(), fifo}}
	done := make(chan error, 1)
	go func() { done <- run(t.Context(), s, console) }() // ends with the agent
	assert.Contains(t, <-told, "chat: waiting for sh -c")
	require.NoError(t, os.WriteFile(fifo, []byte("\n"), 0))
	waitForLine(told, "chat: waiting for the agent to end")
	require.NoError(t, os.WriteFile(fifo, []byte("\n"), 0))
	require.NoError(t, <-done)
}

// An agent may start servers before it opens a session.
func TestSlowSession(t *testing.T) {
	before := waitingAfter
	waitingAfter = 100 * time.Millisecond
	defer func() { waitingAfter = before }()
	fifo := filepath.Join(t.TempDir(), "go")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	console := noConsole()
	told := make(chan string, 8)
	console.err = lineWriter(told)
	s := lock(t, lockedAgent{Methods: "[]", Slow: fifo})
	s.dir, s.prompt = t.TempDir(), "x"
	done := make(chan error, 1)
	go func() { done <- run(t.Context(), s, console) }() // ends with the agent
	waitForLine(told, " to open a new session;")
	require.NoError(t, os.WriteFile(fifo, []byte("\n"), 0))
	require.NoError(t, <-done)
}

// An agent that does not end by itself is ended, and the user reads that.
func TestStuckAgent(t *testing.T) {
	defer func(before time.Duration) { endGrace = before }(endGrace)
	endGrace = 200 * time.Millisecond
	agent := exampleAgent(t)
	var notes bytes.Buffer
	console := noConsole()
	console.err = &notes
	s := settings{dir: t.TempDir(), prompt: "help", agent: []string{"sh", "-c", `"$0" -state "$1"; exec sleep 1000`, agent, t.TempDir()}}
	require.NoError(t, run(t.Context(), s, console))
	assert.Contains(t, notes.String(), "chat: the agent did not end by itself and was ended (signal: terminated)\n")
}

// waitForLine waits until a line with the text is told.
func waitForLine(told <-chan string, text string) {
	for !strings.Contains(<-told, text) {
	}
}

// lineWriter sends each write to a channel.
type lineWriter chan<- string

func (w lineWriter) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

// listening starts the example agent as a server, and returns its URL.
func listening(t *testing.T, token string, flags ...string) (agent *exec.Cmd, url string) {
	t.Helper()
	agent = exec.Command(exampleAgent(t), append([]string{"-state", t.TempDir(), "-listen", "127.0.0.1:0"}, flags...)...)
	agent.Env = append(agent.Environ(), "ACP_TOKEN="+token)
	out, err := agent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, agent.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return agent, strings.TrimSpace(line)
}

// The example agent works the same over the network and as a child process.
func TestRemoteAgent(t *testing.T) {
	agent, url := listening(t, "secret")
	t.Setenv("ACP_TOKEN", "secret")
	for _, url := range []string{url, "ws" + strings.TrimPrefix(url, "http")} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a.txt"), "hello\n")
		screen := converse(t, settings{agent: bridge(t, url), dir: dir, yes: true, prompt: "read a.txt, then run `echo from the shell`"}, "")
		for _, want := range []string{"▸ Read a.txt", "hello", "▸ Run echo from the shell", "from the shell", "Everything is done.", "(end turn)"} {
			assert.Contains(t, screen, want)
		}
	}
	t.Setenv("ACP_TOKEN", "wrong")
	assert.ErrorContains(t, run(t.Context(), settings{agent: bridge(t, url), dir: t.TempDir(), prompt: "help"}, noConsole()), "401")
	require.NoError(t, agent.Process.Signal(syscall.SIGTERM))
	assert.NoError(t, agent.Wait(), "it shuts down")
}

// Without a token everyone on this machine can connect to the agent, so it offers no files and
// commands of its own user.
func TestAgentWithoutATokenHasNoFilesOfItsOwn(t *testing.T) {
	agent, url := listening(t, "", "-no-token")
	defer agent.Wait()
	defer agent.Process.Kill()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.txt"), "hello\n")
	screen := converse(t, settings{agent: bridge(t, url), dir: dir, yes: true}, "read a.txt\nrun touch made\nwrite made: x\nsearch hello\n")
	assert.Equal(t, 1, strings.Count(screen, "this client does not offer it"), "clients cannot search: %s", screen)
	assert.Contains(t, screen, "a.txt has 1 line.")
	assert.FileExists(t, filepath.Join(dir, "made"))
}

// Every user of this machine can reach a port. So a token is needed also on the loopback interface,
// and none is made where it would be written to a log.
func TestListeningAgentNeedsAToken(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "0.0.0.0:0", "unix:" + filepath.Join(os.TempDir(), "acp-agent.sock")} {
		cmd := exec.Command(exampleAgent(t), "-state", t.TempDir(), "-listen", address)
		cmd.Env = append(cmd.Environ(), "ACP_TOKEN=")
		out, err := cmd.CombinedOutput()
		assert.Error(t, err, address)
		assert.Contains(t, string(out), "set ACP_TOKEN", address)
		assert.NotContains(t, string(out), "ACP_TOKEN=", address)
	}
}

// A Unix socket in a folder of the user needs no token.
func TestAgentAtAUnixSocket(t *testing.T) {
	folder, err := os.MkdirTemp("", "") // that of the test is too long for the name of a socket
	require.NoError(t, err)
	defer os.RemoveAll(folder)
	address := "unix:" + filepath.Join(folder, "s")
	agent, url := listening(t, "", "-listen", address)
	assert.Equal(t, address, url)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.txt"), "hello\n")
	assert.Contains(t, converse(t, settings{agent: bridge(t, url), dir: dir, yes: true, prompt: "read a.txt"}, ""), "a.txt has 1 line.")
	require.NoError(t, agent.Process.Signal(syscall.SIGTERM))
	assert.NoError(t, agent.Wait())
}
