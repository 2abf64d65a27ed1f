package interop_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/mcp"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
)

// everything and filesystem are the MCP servers of npm, goEverything is that of the MCP SDK for Go.
const (
	everything   = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
	filesystem   = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
	goEverything = "github.com/modelcontextprotocol/go-sdk/examples/server/everything"
)

var buildGoServer = sync.OnceValues(func() ([]byte, error) {
	return exec.Command("go", "build", "-o", filepath.Join(builds, "everything.exe"), goEverything).CombinedOutput()
})

// mcpSession is a session of an agent of the kit whose model does what the person says: "tools" lists
// the tools, anything else is the name of one and its input.
type mcpSession struct {
	acp.Client
	session  *client.Session
	progress chan string // the first texts of tool calls
}

func (s *mcpSession) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	u, ok := n.Update.(*acp.ToolCallUpdate)
	if !ok || len(u.Content) == 0 || u.Status == acp.ToolCallStatusCompleted || u.Status == acp.ToolCallStatusFailed {
		return nil
	}
	select {
	case s.progress <- acp.PlainText(u.Content[0].(*acp.Content).Content):
	default: // the test has enough
	}
	return nil
}

func startMCP(t *testing.T, opts mcp.Options, servers ...acp.MCPServer) *mcpSession {
	t.Helper()
	opts.Logger = slog.New(slog.DiscardHandler)
	a := kit.New(&kit.Options{
		MCP:  mcp.Connector(&opts),
		Gate: func(*kit.Session, *tools.Call) tools.Decision { return tools.Allow },
		Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
			name, input, _ := strings.Cut(acp.PlainText(p.Blocks...), " ")
			if name == "tools" {
				var names []string
				for _, tool := range s.Tools() {
					names = append(names, tool.Name)
				}
				return "", s.Text(ctx, strings.Join(names, "\n"))
			}
			done, err := s.Run(ctx, tools.Request{Name: name, Input: []byte(input)})
			text := string(done[0].Outcome) + ":"
			for _, part := range done[0].Model {
				text += " " + part.Text + part.MIMEType
			}
			return "", errors.Join(err, s.Text(ctx, text))
		},
	})
	t.Cleanup(func() { assert.NoError(t, a.Close(context.Background())) })
	s := &mcpSession{progress: make(chan string, 100)}
	conn := peertest.Connect(t, a.Serve, s, nil)
	var err error
	s.session, err = conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir(), MCPServers: servers})
	require.NoError(t, err)
	return s
}

// forget drops the progress of earlier turns, all of which has arrived.
func (s *mcpSession) forget() {
	for len(s.progress) > 0 {
		<-s.progress
	}
}

// ask makes a turn and returns what the agent has said.
func (s *mcpSession) ask(t *testing.T, ctx context.Context, prompt string) string {
	t.Helper()
	said, err := s.session.Prompt(ctx, acp.Text(prompt)).Text()
	require.NoError(t, err)
	return said
}

// stdioServer describes a server that is a program.
func stdioServer(name string, command []string, env ...acp.EnvVariable) acp.MCPServer {
	return &acp.MCPServerStdio{Name: name, Command: command[0], Args: command[1:], Env: env}
}

// httpServer runs a server until the test ends, and returns its address once it listens.
func httpServer(t *testing.T, port int, env []string, command ...string) string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { // after the sessions
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	address := "127.0.0.1:" + strconv.Itoa(port)
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		return c.Close() == nil
	}, conversationTimeout, 20*time.Millisecond)
	return "http://" + address
}

// freePort returns a port that nobody listens at. The system gives none of its range to others.
func freePort(t *testing.T) int {
	t.Helper()
	for {
		port := 20_000 + rand.IntN(10_000)
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			require.NoError(t, l.Close())
			return port
		}
	}
}

// The servers that others wrote are tools of a session, over stdio and HTTP.
func TestMCPServers(t *testing.T) {
	t.Parallel()
	program := built(t, buildGoServer, "everything.exe")
	dir := pairtest.TempDir(t)
	big := strings.Repeat("0123456789abcde\n", 4<<20/16)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "big.txt"), []byte(big), 0o600))
	port, goPort := freePort(t), freePort(t)
	remote := httpServer(t, port, []string{"PORT=" + strconv.Itoa(port)}, node(t, everything, "streamableHttp")...) + "/mcp"
	goRemote := httpServer(t, goPort, nil, program, "-http", "127.0.0.1:"+strconv.Itoa(goPort))
	s := startMCP(t, mcp.Options{},
		stdioServer("every", node(t, everything, "stdio"), acp.EnvVariable{Name: "TOKEN", Value: "given"}),
		stdioServer("files", node(t, filesystem, dir)),
		stdioServer("go", []string{program}),
		&acp.MCPServerHTTP{Name: "every_http", URL: remote},
		&acp.MCPServerHTTP{Name: "go_http", URL: goRemote})
	for prompt, want := range map[string]string{
		`mcp__every__echo {"message":"hi"}`:                             `^completed: Echo: hi$`,
		`mcp__every__echo {}`:                                           `^failed: .*message`,
		`mcp__every__get-sum {"a":2,"b":3}`:                             `^completed: The sum of 2 and 3 is 5\.$`,
		`mcp__every__get-tiny-image {}`:                                 `^completed: Here's .* image/png The image`,
		`mcp__every__get-structured-content {"location":"Chicago"}`:     `^completed: \{.*"temperature":36`,
		`mcp__every__get-env {}`:                                        `"TOKEN": "given"`,
		`mcp__every_http__get-sum {"a":2,"b":3}`:                        `^completed: The sum of 2 and 3 is 5\.$`,
		`mcp__files__read_text_file {"path":"` + dir + `/none.txt"}`:    `^failed: .*ENOENT`,
		`mcp__files__read_text_file {"path":"/etc/passwd"}`:             `^failed: Error: Access denied`,
		`mcp__files__write_file {"path":"` + dir + `/a","content":"x"}`: `^completed: Successfully wrote`,
		`mcp__files__list_directory {"path":"` + dir + `"}`:             `\[FILE\] big\.txt`,
		`mcp__go__greet {"name":"Ann"}`:                                 `^completed: Hi Ann$`,
		`mcp__go__greet__structured__aaj3jzdd {"name":"Ann"}`:           `^completed: \{"message":"Hi Ann"\}$`,
		`mcp__go__ping {}`:                                              `^completed:$`,
		`mcp__go__roots {}`:                                             `^completed: $`,
		`mcp__go_http__greet {"name":"Ann"}`:                            `^completed: Hi Ann$`,
	} {
		assert.Regexp(t, want, s.ask(t, t.Context(), prompt), prompt)
	}
	text, err := os.ReadFile(filepath.Join(dir, "a"))
	require.NoError(t, err)
	assert.Equal(t, "x", string(text))

	large := s.ask(t, t.Context(), `mcp__files__read_text_file {"path":"`+dir+`/big.txt"}`)
	assert.Regexp(t, `^completed: 0123456789abcde\n`, large)
	assert.Less(t, len(large), 1<<20, "4 MiB are cut for the model")

	for _, server := range []string{"every", "every_http"} {
		s.forget()
		assert.Contains(t, s.ask(t, t.Context(), "mcp__"+server+`__trigger-long-running-operation {"duration":1,"steps":2}`), "completed: Long running operation completed")
		assert.Equal(t, "1 of 2", <-s.progress, server)
	}
}

// A call that takes too long, or is cancelled, ends, and the server goes on. A server that is killed in
// a call fails it, and is there again in the next turn. Its list of tools changes after initialize.
func TestMCPServerTroubles(t *testing.T) {
	t.Parallel()
	needShell(t)
	pid := filepath.Join(t.TempDir(), "pid")
	shell := append([]string{"sh", "-c", `echo $$ > "$0"; exec "$@"`, pid}, node(t, everything, "stdio")...)
	s := startMCP(t, mcp.Options{CallTime: 3 * time.Second}, stdioServer("every", shell))
	const long = `mcp__every__trigger-long-running-operation {"duration":600,"steps":6000}`
	require.Equal(t, "failed: The call took too long and was stopped. It may have taken effect in part.", s.ask(t, t.Context(), long))
	assert.Equal(t, "completed: Echo: hi", s.ask(t, t.Context(), `mcp__every__echo {"message":"hi"}`))

	assert.Contains(t, s.ask(t, t.Context(), "tools"), "mcp__every__simulate-research-query", "it comes after initialize")

	s.forget()
	killed := make(chan error, 1)
	go func() { // ends with the progress of the call
		<-s.progress
		killed <- exec.Command("sh", "-c", `kill -9 "$(cat "$0")"`, pid).Run()
	}()
	require.Equal(t, `failed: Error: The MCP server "every" has ended during the call: it may have taken effect.`, s.ask(t, t.Context(), long))
	require.NoError(t, <-killed)
	assert.Regexp(t, `(?s)The MCP server "every" has ended.*completed: Echo: again$`, s.ask(t, t.Context(), `mcp__every__echo {"message":"again"}`))
}
