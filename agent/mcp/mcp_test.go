package mcp_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/user"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/loop/chat"
	"github.com/acpkit/go-sdk/agent/mcp"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/stream"
)

const playVariable = "MCP_TEST_PLAY"

// TestMain runs the test binary as a server over stdio if the environment says so.
func TestMain(m *testing.M) {
	switch name := os.Getenv(playVariable); name {
	case "":
		os.Exit(m.Run())
	case "server":
		_ = newServer().Run(context.Background(), &sdk.StdioTransport{})
	case "exits":
		fmt.Fprintln(os.Stderr, "no token: "+os.Getenv("TOKEN"))
		os.Exit(3)
	case "junk":
		fmt.Println("welcome!")
		_ = newServer().Run(context.Background(), &sdk.StdioTransport{})
	case "silent":
		_, _ = io.Copy(io.Discard, os.Stdin)
	default:
		play(name)
	}
}

type textInput struct {
	Text string `json:"text"`
}

func text(s string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
}

// newServer returns a server with tools for the tests.
func newServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ServerOptions{PageSize: 2})
	add := func(name string, f func(ctx context.Context, req *sdk.CallToolRequest, in textInput) (*sdk.CallToolResult, any, error)) {
		sdk.AddTool(s, &sdk.Tool{Name: name, Description: name + "."}, f)
	}
	add("echo", func(_ context.Context, _ *sdk.CallToolRequest, in textInput) (*sdk.CallToolResult, any, error) {
		return text(in.Text), nil, nil
	})
	add("env", func(_ context.Context, _ *sdk.CallToolRequest, in textInput) (*sdk.CallToolResult, any, error) {
		return text(os.Getenv(in.Text)), nil, nil
	})
	add("fail", func(context.Context, *sdk.CallToolRequest, textInput) (*sdk.CallToolResult, any, error) {
		return nil, nil, fmt.Errorf("no such file")
	})
	add("large", func(context.Context, *sdk.CallToolRequest, textInput) (*sdk.CallToolResult, any, error) {
		return text(strings.Repeat("x", 4<<20)), nil, nil
	})
	add("exit", func(context.Context, *sdk.CallToolRequest, textInput) (*sdk.CallToolResult, any, error) {
		os.Exit(1)
		return nil, nil, nil
	})
	add("wait", func(ctx context.Context, req *sdk.CallToolRequest, _ textInput) (*sdk.CallToolResult, any, error) {
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Message: "half", Progress: 1, Total: 2})
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	add("more", func(context.Context, *sdk.CallToolRequest, textInput) (*sdk.CallToolResult, any, error) {
		add("a tool with spaces and a name that is much longer than what models accept", func(context.Context, *sdk.CallToolRequest, textInput) (*sdk.CallToolResult, any, error) {
			return text("new"), nil, nil
		})
		return text("ok"), nil, nil
	})
	return s
}

// self returns the description of a server that is run by this test binary.
func self(t *testing.T, name, play string, env ...acp.EnvVariable) acp.MCPServer {
	path, err := os.Executable()
	require.NoError(t, err)
	return &acp.MCPServerStdio{Name: name, Command: path, Env: append(env, acp.EnvVariable{Name: playVariable, Value: play})}
}

// session is the tools.Session of a test.
type session struct {
	inform chan string // if not nil, receives each text that is shown
	count  atomic.Int64
}

func (s *session) Update(_ context.Context, u acp.SessionUpdate) error {
	s.count.Add(1)
	if u, ok := u.(*acp.ToolCallUpdate); ok && len(u.Content) > 0 {
		if c, ok := u.Content[0].(*acp.Content); ok && s.inform != nil {
			s.inform <- acp.PlainText(c.Content)
		}
	}
	return nil
}

func (s *session) FailedCall(_ context.Context, id acp.ToolCallID, err error) *acp.ToolCallUpdate {
	return acp.FailToolCall(id, err)
}

func (s *session) AskPermission(_ context.Context, _ *acp.ToolCallUpdate, options ...acp.PermissionOption) (acp.PermissionOption, error) {
	return options[0], nil
}

// open connects to servers until the test ends.
func open(t *testing.T, opts *mcp.Options, servers ...acp.MCPServer) kit.MCPServers {
	t.Helper()
	if opts == nil {
		opts = &mcp.Options{}
	}
	opts.Logger = slog.New(slog.DiscardHandler)
	set, err := mcp.Connector(opts).Connect(kit.MCPSession{Cwd: t.TempDir(), Servers: servers})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, set.Close()) })
	return set
}

func names(set kit.MCPServers) (all []string) {
	for _, tool := range set.Tools() {
		all = append(all, tool.Name)
	}
	return all
}

// run calls a tool and returns the result.
func run(ctx context.Context, t *testing.T, set kit.MCPServers, s *session, name, input string) tools.Done {
	t.Helper()
	registry := tools.NewRegistry(set.Tools()...)
	done, _ := registry.Run(ctx, tools.Env{Session: s, Logger: slog.New(slog.DiscardHandler)}, []tools.Request{{Name: name, Input: []byte(input)}})
	return done[0]
}

func TestStdio(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "secret")
	t.Setenv("HOME", "") // some editors start agents with PATH alone
	account, err := user.Current()
	require.NoError(t, err)
	set := open(t, nil, self(t, "a", "server", acp.EnvVariable{Name: "TOKEN", Value: "given"}), self(t, "b", "junk"))
	assert.Empty(t, set.Ready(t.Context()))
	assert.Contains(t, names(set), "mcp__a__echo")
	assert.Contains(t, names(set), "mcp__b__echo", "a server that prints junk before")
	assert.Len(t, names(set), 14, "all pages")
	for _, tt := range []struct {
		tool, input string
		outcome     tools.Outcome
		want        string
	}{
		{"mcp__a__echo", `{"text":"hi"}`, tools.Completed, "hi"},
		{"mcp__a__env", `{"text":"TOKEN"}`, tools.Completed, "given"},
		{"mcp__b__env", `{"text":"TOKEN"}`, tools.Completed, ""},
		{"mcp__a__env", `{"text":"OPENAI_API_KEY"}`, tools.Completed, ""},
		{"mcp__a__env", `{"text":"HOME"}`, tools.Completed, account.HomeDir},
		{"mcp__a__fail", `{"text":""}`, tools.Failed, "Error: no such file"},
	} {
		d := run(t.Context(), t, set, &session{}, tt.tool, tt.input)
		assert.Equal(t, tt.outcome, d.Outcome, tt.tool)
		require.NotEmpty(t, d.Model, tt.tool)
		assert.Equal(t, tt.want, d.Model[0].Text, tt.tool)
	}
	large := run(t.Context(), t, set, &session{}, "mcp__a__large", `{"text":""}`)
	assert.Equal(t, tools.Completed, large.Outcome)
	assert.Less(t, len(large.Model[0].Text), 1<<20, "bounded for the model")
}

// A tool that the server adds later is available in the next turn, under a name that models accept.
func TestListChanges(t *testing.T) {
	set := open(t, nil, self(t, "a", "server"))
	set.Ready(t.Context())
	before := names(set)
	run(t.Context(), t, set, &session{}, "mcp__a__more", `{"text":""}`)
	require.Eventually(t, func() bool { return len(names(set)) == len(before)+1 }, 10*time.Second, 10*time.Millisecond)
	for _, name := range names(set) {
		assert.Regexp(t, `^[A-Za-z0-9_-]{1,64}$`, name)
	}
}

// A failing server is reported in a sentence without the values of the client. The other servers
// work.
func TestServersThatFail(t *testing.T) {
	coverage := acp.EnvVariable{Name: "GOCOVERDIR", Value: t.TempDir()} // without it a program of go test -cover warns
	set := open(t, nil, self(t, "a", "exits", acp.EnvVariable{Name: "TOKEN", Value: "hush-hush"}, coverage), self(t, "b", "server"),
		&acp.MCPServerStdio{Name: "c", Command: "/no/such/program"}, &acp.MCPServerHTTP{Name: "d", URL: "http://127.0.0.1:1/"})
	failed := strings.Join(set.Ready(t.Context()), "\n")
	assert.Contains(t, failed, `The MCP server "a" cannot be used`)
	assert.Contains(t, failed, `it has written "no token: ***"`)
	assert.Contains(t, failed, `The MCP server "c" cannot be used`)
	assert.Contains(t, failed, `The MCP server "d" cannot be used`)
	assert.NotContains(t, failed, "hush")
	assert.Contains(t, names(set), "mcp__b__echo")
	assert.Empty(t, set.Ready(t.Context()), "told once")
}

// A turn waits a few seconds for a server that does not respond. Then the person is told. The
// server ends with the session.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	set := open(t, nil, self(t, "a", "silent"), self(t, "b", "server"))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	assert.Empty(t, set.Ready(ctx))
	assert.Equal(t, []string{`The MCP server "a" has not started after 15s: its tools are there once it has.`}, set.Ready(t.Context()))
	assert.Empty(t, set.Ready(t.Context()), "told once")
	assert.Contains(t, names(set), "mcp__b__echo")
}

// If a server ends during a call, the call fails. The server is started again in the next turn, up
// to three times.
func TestCrash(t *testing.T) {
	set := open(t, nil, self(t, "a", "server"))
	set.Ready(t.Context())
	for range 4 {
		d := run(t.Context(), t, set, &session{}, "mcp__a__exit", `{"text":""}`)
		assert.Equal(t, tools.Failed, d.Outcome)
		assert.Contains(t, d.Model[0].Text, `has ended during the call: it may have taken effect.`)
		assert.Len(t, set.Ready(t.Context()), 1)
	}
	assert.Empty(t, set.Tools())
}

// The server shows the progress of a call. A cancel and a deadline end the call at the server.
func TestCancel(t *testing.T) {
	set := open(t, &mcp.Options{CallTime: 5 * time.Second}, self(t, "a", "server"))
	set.Ready(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	s := &session{inform: make(chan string, 10)}
	go func() { // ends with the progress
		assert.Equal(t, "half 1 of 2", <-s.inform)
		cancel()
	}()
	assert.Equal(t, tools.Cancelled, run(ctx, t, set, s, "mcp__a__wait", `{"text":""}`).Outcome)
	assert.Equal(t, "hi", run(t.Context(), t, set, &session{}, "mcp__a__echo", `{"text":"hi"}`).Model[0].Text, "the server goes on")
}

// Headers are sent to the origin of the server and to no other one.
func TestHTTP(t *testing.T) {
	var mu sync.Mutex
	got := map[string]map[string]bool{"server": {}, "redirects": {}, "other": {}} // the headers, by where they were seen
	see := func(where string, next http.Handler) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			got[where][r.Header.Get("Authorization")] = true
			mu.Unlock()
			next.ServeHTTP(w, r)
		}
	}
	server := newServer()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	there := httptest.NewServer(see("server", handler))
	t.Cleanup(there.Close)
	other := httptest.NewServer(see("other", handler))
	t.Cleanup(other.Close)
	redirects := httptest.NewServer(see("redirects", http.RedirectHandler(other.URL, http.StatusTemporaryRedirect)))
	t.Cleanup(redirects.Close)
	headers := []acp.HTTPHeader{{Name: "Authorization", Value: "Bearer secret"}}
	set := open(t, nil, &acp.MCPServerHTTP{Name: "a", URL: there.URL, Headers: headers}, &acp.MCPServerHTTP{Name: "b", URL: redirects.URL, Headers: headers})
	set.Ready(t.Context())
	for _, tool := range []string{"mcp__a__echo", "mcp__b__echo"} {
		assert.Equal(t, "hi", run(t.Context(), t, set, &session{}, tool, `{"text":"hi"}`).Model[0].Text)
	}
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, map[string]bool{"Bearer secret": true}, got["server"], "each request has it")
	assert.Equal(t, map[string]bool{"Bearer secret": true}, got["redirects"])
	assert.Equal(t, map[string]bool{"": true}, got["other"], "no request has it")
}

func TestTwoServersOfOneName(t *testing.T) {
	_, err := mcp.Connector(nil).Connect(kit.MCPSession{Cwd: t.TempDir(), Servers: []acp.MCPServer{&acp.MCPServerStdio{Name: "a"}, &acp.MCPServerStdio{Name: "a"}}})
	assert.ErrorContains(t, err, "two servers have this name")
	_, err = mcp.Connector(nil).Connect(kit.MCPSession{Cwd: t.TempDir(), Servers: []acp.MCPServer{&acp.MCPServerSSE{Name: "a"}}})
	assert.ErrorContains(t, err, "stdio and http")
}

// A server that reports progress without end is shown ten times a second.
func TestProgressFlood(t *testing.T) {
	server := newServer()
	sdk.AddTool(server, &sdk.Tool{Name: "flood"}, func(ctx context.Context, req *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		for i := range 2000 {
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Message: fmt.Sprint("step ", i), Progress: float64(i)})
		}
		return text("done"), nil, nil
	})
	there := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(there.Close)
	set := open(t, nil, &acp.MCPServerHTTP{Name: "a", URL: there.URL})
	set.Ready(t.Context())
	s := &session{}
	begin := time.Now()
	assert.Equal(t, "done", run(t.Context(), t, set, s, "mcp__a__flood", `{}`).Model[0].Text)
	assert.LessOrEqual(t, s.count.Load(), 10+int64(time.Since(begin)/(90*time.Millisecond)))
}

// A server whose descriptions would fill the memory is not used, however many pages they have.
func TestLongDescriptions(t *testing.T) {
	server := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ServerOptions{PageSize: 1})
	for i := range 12 {
		server.AddTool(&sdk.Tool{Name: fmt.Sprint("t", i), Description: strings.Repeat("x", 1<<20), InputSchema: map[string]any{"type": "object"}}, ok)
	}
	there := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(there.Close)
	set := open(t, nil, &acp.MCPServerHTTP{Name: "a", URL: there.URL})
	failed := set.Ready(t.Context())
	require.Len(t, failed, 1)
	assert.Contains(t, failed[0], "more than 8 MiB")
	assert.Empty(t, set.Tools())
}

// A response without end is an error that the model reads.
func TestEndlessBody(t *testing.T) {
	server := newServer()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), "tools/call") {
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			handler.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat(" ", 64<<10)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(there.Close)
	set := open(t, nil, &acp.MCPServerHTTP{Name: "a", URL: there.URL})
	set.Ready(t.Context())
	d := run(t.Context(), t, set, &session{}, "mcp__a__echo", `{"text":"hi"}`)
	assert.Equal(t, tools.Failed, d.Outcome)
	assert.Contains(t, d.Model[0].Text, "MiB")
}

// An agent offers the tools of the MCP servers that its client names.
func ExampleConnector() {
	model := chat.New(&chat.Options{BaseURL: os.Getenv("BASE_URL"), Model: os.Getenv("MODEL")})
	a := kit.New(&kit.Options{
		Auth: model.Auth(),
		MCP:  mcp.Connector(nil),
		Turn: loop.New(model, nil).Turn,
	})
	if err := a.Serve(context.Background(), stream.Stdio()); err != nil {
		log.Fatal(err)
	}
}
