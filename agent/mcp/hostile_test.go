package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/mcp"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// web serves a server over HTTP until the test ends.
func web(t *testing.T, name string, s *sdk.Server) acp.MCPServer {
	there := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	t.Cleanup(there.Close)
	return &acp.MCPServerHTTP{Name: name, URL: there.URL}
}

// with returns a server with one tool.
func with(tool *sdk.Tool, call sdk.ToolHandler) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	tool.InputSchema = map[string]any{"type": "object"}
	s.AddTool(tool, call)
	return s
}

func ok(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return text("ok"), nil }

// chooser is a session that chooses the last option that allows, and keeps what it was shown.
type chooser struct {
	session
	asked  *acp.ToolCallUpdate
	labels []string
	failed *acp.ToolCallUpdate
	texts  []string
	shown  chan struct{} // gets an element for each text, if it is not nil
}

func (c *chooser) AskPermission(_ context.Context, u *acp.ToolCallUpdate, options ...acp.PermissionOption) (acp.PermissionOption, error) {
	c.asked = u
	chosen := options[0]
	for _, o := range options {
		c.labels = append(c.labels, o.Name)
		if o.Kind == acp.PermissionOptionKindAllowAlways {
			chosen = o
		}
	}
	return chosen, nil
}

func (c *chooser) Update(_ context.Context, u acp.SessionUpdate) error {
	if u, ok := u.(*acp.ToolCallUpdate); ok {
		for _, x := range u.Content {
			c.texts = append(c.texts, acp.PlainText(x.(*acp.Content).Content))
			if c.shown != nil {
				c.shown <- struct{}{}
			}
		}
		if u.Status == acp.ToolCallStatusFailed {
			c.failed = u
		}
	}
	return nil
}

// A rule is about one tool of one server, however similar the names are.
func TestRulesHaveIdentity(t *testing.T) {
	pairs := [][2]string{{"my.server", "go"}, {"my_server", "go"}, {"my server", "go"}, {"a", "b__c"}, {"a__b", "c"}, {"x", "_y"}, {"x_", "y"}, {"x_", "_y"}, {"x__", "y"},
		{"s", strings.Repeat("long", 30)}, {"s" + strings.Repeat("long", 30), "go"}}
	var servers []acp.MCPServer
	for _, p := range pairs {
		servers = append(servers, web(t, p[0], with(&sdk.Tool{Name: p[1]}, ok)))
	}
	byName := map[string]bool{}
	for i := range servers { // each alone, because some have the same name
		alone := open(t, nil, servers[i])
		require.Empty(t, alone.Ready(t.Context()))
		list := names(alone)
		require.Len(t, list, 1, pairs[i])
		assert.Regexp(t, `^[A-Za-z0-9_-]{1,64}$`, list[0])
		assert.False(t, byName[list[0]], "%v has the name of another one: %s", pairs[i], list[0])
		byName[list[0]] = true
		if i > 4 { // a few are enough
			continue
		}
		rules := new(tools.Rules)
		asks := func(server acp.MCPServer) bool {
			set := open(t, nil, server)
			require.Empty(t, set.Ready(t.Context()))
			of := set.Tools()[0]
			of.Name = "mcp__the_same_name" // as another session may call it
			registry := tools.NewRegistry(of)
			c := &chooser{}
			_, err := registry.Run(t.Context(), tools.Env{Session: c, Rules: rules}, []tools.Request{{Name: of.Name}})
			require.NoError(t, err)
			return c.asked != nil
		}
		require.True(t, asks(servers[i]))
		assert.False(t, asks(servers[i]), pairs[i])
		for j := range 5 {
			assert.Equal(t, j != i, asks(servers[j]), "%v allows %v", pairs[i], pairs[j])
		}
	}
}

// What a server says is one line wherever a person decides by it, and the server is always named.
func TestTextsOfServers(t *testing.T) {
	c := &chooser{shown: make(chan struct{}, 2)}
	evil := "Read a file\n\x1b[2J\u202e" + strings.Repeat("x", 1000)
	s := with(&sdk.Tool{Name: "go", Title: evil}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Message: evil})
		select {
		case <-c.shown:
		case <-ctx.Done():
		}
		return text("ok"), nil
	})
	set := open(t, nil, web(t, "the\nserver", s))
	require.Empty(t, set.Ready(t.Context()))
	registry := tools.NewRegistry(set.Tools()...)
	_, err := registry.Run(t.Context(), tools.Env{Session: c, Rules: new(tools.Rules)}, []tools.Request{{Name: set.Tools()[0].Name}})
	require.NoError(t, err)
	assert.Contains(t, c.asked.Title, `(the\nserver)`)
	assert.Contains(t, strings.Join(c.labels, "|"), `Always allow all calls of "go" of the MCP server "the\nserver" in this session`)
	require.Len(t, c.texts, 2, "the progress, and the result")
	for _, line := range append(c.labels, c.asked.Title, c.texts[0]) {
		assert.Equal(t, line, safetext.Label(line))
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 200)
	}
}

// record calls the only tool of a server, and returns the record of its failure.
func record(t *testing.T, server acp.MCPServer) (*kind.Error, string) {
	t.Helper()
	set := open(t, nil, server)
	require.Empty(t, set.Ready(t.Context()))
	registry := tools.NewRegistry(set.Tools()...)
	c := &chooser{}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	done, err := registry.Run(ctx, tools.Env{Session: c}, []tools.Request{{Name: set.Tools()[0].Name}})
	require.NoError(t, err)
	require.Equal(t, tools.Failed, done[0].Outcome)
	e, ok := kind.FromToolCall(c.failed)
	require.True(t, ok, string(c.failed.RawOutput))
	return e, done[0].Model[0].Text
}

// The codes and the data of a server's errors arrive over each transport, at once. None of them is
// taken for the end of the connection.
func TestCodesArrive(t *testing.T) {
	for code, want := range map[int64]kind.Kind{
		-32003: kind.RateLimited, -32004: kind.Timeout, -32005: kind.Forbidden, -32001: kind.NotFound, -32006: kind.Unauthorized, -32000: kind.ServiceUnavailable,
		-32602: kind.InvalidParams, -32603: kind.Internal, 7: kind.Unknown,
	} {
		for name, server := range map[string]acp.MCPServer{
			"http":  web(t, "a", with(&sdk.Tool{Name: "go"}, answering(code))),
			"stdio": self(t, "a", fmt.Sprint("code ", code)),
		} {
			begin := time.Now()
			e, said := record(t, server)
			assert.Equal(t, want, e.Kind, "%s %d", name, code)
			var data struct{ MCPCode, Left int64 }
			require.NoError(t, json.Unmarshal(e.Data, &data))
			assert.Equal(t, code, data.MCPCode, name)
			assert.Equal(t, int64(3), data.Left, name)
			assert.Contains(t, said, "it says no")
			assert.Less(t, time.Since(begin), 20*time.Second)
		}
	}
}

func answering(code int64) sdk.ToolHandler {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: code, Message: "it says no", Data: json.RawMessage(`{"left":3}`)}
	}
}

// A connection that is cut is no answer of the server.
func TestCutConnection(t *testing.T) {
	s := with(&sdk.Tool{Name: "go"}, ok)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "tools/call") {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(there.Close)
	e, said := record(t, &acp.MCPServerHTTP{Name: "a", URL: there.URL + "?key=hush-hush"})
	assert.Equal(t, kind.MCPUnavailable, e.Kind)
	assert.False(t, e.Retryable, "it may have taken effect")
	assert.Contains(t, said, "may have taken effect")
	assert.NotContains(t, said, "hush")

	e, said = record(t, self(t, "a", "exits in a call"))
	assert.Equal(t, kind.MCPUnavailable, e.Kind)
	assert.Contains(t, said, "has ended during the call")
}

// The errors in results are records, too.
func TestErrorsInResults(t *testing.T) {
	for name, c := range map[string]struct {
		result *sdk.CallToolResult
		kind   kind.Kind
		check  func(e *kind.Error, said string)
	}{
		"text": {text("it broke"), kind.Unknown, func(_ *kind.Error, said string) { assert.Equal(t, "Error: it broke", said) }},
		"text of toolerr": {text(toolerr.RateLimited("slowly", 2*time.Second).Text()), kind.RateLimited, func(e *kind.Error, _ string) {
			assert.Equal(t, 2*time.Second, e.RetryAfter)
			assert.Equal(t, "RATE_LIMITED", e.Code)
		}},
		"an error object": {&sdk.CallToolResult{StructuredContent: json.RawMessage(`{"error":{"code":-32001,"message":"no","data":{"id":"x"}}}`)}, kind.NotFound,
			func(e *kind.Error, _ string) { assert.JSONEq(t, `{"id":"x","mcpCode":-32001}`, string(e.Data)) }},
		"another object": {&sdk.CallToolResult{StructuredContent: map[string]any{"why": "x"}}, kind.Unknown,
			func(e *kind.Error, _ string) { assert.JSONEq(t, `{"structuredContent":{"why":"x"}}`, string(e.Data)) }},
		"nothing": {&sdk.CallToolResult{}, kind.Unknown, func(_ *kind.Error, said string) { assert.Contains(t, said, "has not said why") }},
		"much": {text(strings.Repeat("世", 1<<20)), kind.Unknown, func(e *kind.Error, _ string) {
			assert.Less(t, len(e.Message), 100<<10)
			assert.True(t, utf8.ValidString(e.Message))
		}},
	} {
		c.result.IsError = true
		e, said := record(t, web(t, "a", with(&sdk.Tool{Name: "go"}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return c.result, nil })))
		assert.Equal(t, c.kind, e.Kind, name)
		c.check(e, said)
	}
}

// Where sessions have owners, a client reaches neither a program nor an address of this network
// through the servers that it names.
func TestOwned(t *testing.T) {
	s := with(&sdk.Tool{Name: "go"}, ok)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	var reached []string
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached = append(reached, r.Host)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(inside.Close)
	resolve(t, "127.0.0.1")
	t.Setenv("HTTP_PROXY", inside.URL)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(inside.URL, "http://"))
	connect := func(opts *mcp.Options, server acp.MCPServer) (kit.MCPServers, error) {
		set, err := mcp.Connector(opts).Connect(kit.MCPSession{Cwd: t.TempDir(), Servers: []acp.MCPServer{server}, Owned: true})
		if err == nil {
			t.Cleanup(func() { _ = set.Close() })
		}
		return set, err
	}
	_, err := connect(nil, self(t, "a", "server"))
	assert.ErrorContains(t, err, "starts no programs for its users")
	_, err = connect(&mcp.Options{AllowPrivate: true}, self(t, "a", "server"))
	assert.ErrorContains(t, err, "starts no programs for its users")
	set, err := connect(&mcp.Options{AllowCommands: true}, self(t, "a", "server"))
	require.NoError(t, err)
	assert.Empty(t, set.Ready(t.Context()))

	for _, host := range []string{"127.0.0.1", "localhost", "rebinding.example.com", "[::1]", "0.0.0.0", "[::]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]",
		"10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "100.100.100.200", "255.255.255.255", "224.0.0.1"} {
		set, err := connect(&mcp.Options{AllowCommands: true}, &acp.MCPServerHTTP{Name: "a", URL: "http://" + net.JoinHostPort(strings.Trim(host, "[]"), port) + "/"})
		require.NoError(t, err)
		assert.Equal(t, []string{`The MCP server "a" cannot be used: `}, cut(set.Ready(t.Context())), host)
		assert.Empty(t, set.Tools(), host)
	}
	assert.Empty(t, reached)

	set, err = connect(&mcp.Options{AllowPrivate: true}, &acp.MCPServerHTTP{Name: "a", URL: inside.URL})
	require.NoError(t, err)
	assert.Empty(t, set.Ready(t.Context()))
	assert.Len(t, set.Tools(), 1)
}

// cut returns the sentences up to the reason, which must be that of a private address.
func cut(sentences []string) (all []string) {
	for _, s := range sentences {
		head, reason, _ := strings.Cut(s, ": ")
		if strings.Contains(reason, "not one of the public network") {
			reason = ""
		}
		all = append(all, head+": "+reason)
	}
	return all
}

// resolve makes every name an address, until the test ends.
func resolve(t *testing.T, address string) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	before := net.DefaultResolver
	t.Cleanup(func() {
		net.DefaultResolver = before
		conn.Close()
	})
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	go func() { // ends when conn is closed
		for buf := make([]byte, 512); ; {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			end := 12 // the header, then the name, its type and its class
			for end < n && buf[end] != 0 {
				end += int(buf[end]) + 1
			}
			end += 5
			answer := append([]byte{buf[0], buf[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, buf[12:end]...)
			if buf[end-3] == 1 { // an A record
				answer[7] = 1
				answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				answer = append(answer, net.ParseIP(address).To4()...)
			}
			_, _ = conn.WriteTo(answer, from)
		}
	}()
}

// play runs a server over stdio for the tests of this file.
func play(name string) {
	var code int64
	s := with(&sdk.Tool{Name: "go"}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		os.Exit(1)
		return nil, nil
	})
	if n, _ := fmt.Sscanf(name, "code %d", &code); n == 1 {
		s = with(&sdk.Tool{Name: "go"}, answering(code))
	}
	_ = s.Run(context.Background(), &sdk.StdioTransport{})
}
