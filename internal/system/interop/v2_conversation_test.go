package interop_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// Our client of version 2 holds its whole conversation with agents on the TypeScript SDK, and with
// ours, by themselves and behind routers.
func TestConversationOfVersion2(t *testing.T) {
	eachWay(t, map[string]map[string]way{
		"their agent": waysTo(t, "v2/agent.mjs"), "their router": waysTo(t, "v2/router.mjs"),
		"our agent": waysToOurs(t, "agent2"), "our router": waysToOurs(t, "router"),
	}, func(t *testing.T, agent, transport string, s stream.Stream) {
		var without []string
		if transport == "HTTP" {
			without = append(without, "initialize again") // their server takes one initialize a connection
		}
		converse2(t, s, strings.HasPrefix(agent, "our"), without...)
	})
}

// conversation2 is what one run of the steps shares.
type conversation2 struct {
	program
	conn    *client.Conn
	handler *goClient2
	dir     string
	session *client.Session
	marks   bool // the agent marks the end of each replay
}

// converse2 runs every step over s, except those that are named.
func converse2(t *testing.T, s stream.Stream, marks bool, without ...string) {
	ctx, cancel := context.WithTimeout(t.Context(), conversationTimeout)
	defer cancel()
	h := newGoClient2()
	conn := client.New(s, func(*client.Conn) acp.Client { return h }, &client.Options{Unstable: true, Logger: pairtest.StrictLogger(t), OnDropped: noDrop(t)})
	require.NoError(t, conn.Start(context.Background()))
	defer func() {
		assert.NoError(t, conn.Close())
		assert.NoError(t, conn.Wait())
	}()
	c := &conversation2{program: program{ctx, conn, &h.record}, conn: conn, handler: h, dir: pairtest.TempDir(t), marks: marks}
	reset := func() { h.reset(acp.PermissionOptionKindAllowOnce) }
	runSteps(t, reset, without, []conversationStep{
		{"before initialize", c.beforeInitialize}, {"initialize", c.initialize}, {"initialize again", c.initializeAgain}, {"login and logout", c.login}, {"new", c.newSession},
		{"prompt", c.prompt}, {"orders at a prompt", c.orders}, {"every update", c.everyUpdate}, {"messages", c.messages},
		{"tool call", c.toolCall}, {"plan", c.plan}, {"terminal", c.terminal}, {"stop reasons", c.stopReasons}, {"a prompt that fails", c.promptFails},
		{"permission", c.permission}, {"permission for other subjects", c.subjects}, {"permission cancelled", c.permissionCancelled},
		{"permission taken back", c.takenBack}, {"form", c.form}, {"url", c.url},
		{"cancel", c.cancel}, {"held prompts", c.held}, {"held prompts cancelled", c.heldCancelled}, {"one held prompt cancelled", c.oneHeldCancelled},
		{"a prompt right behind a cancel", c.promptBehindCancel}, {"a prompt that joins", c.joins}, {"background work", c.background},
		{"cancel of a request", c.cancelRequest}, {"options", c.options}, {"extensions", func(t *testing.T) { c.extensions(t, func() { c.say(t, "extension") }) }},
		{"resume", c.resume}, {"list", c.list}, {"close", c.close}, {"delete", c.delete}, {"unstable methods", c.unstable},
	})
}

// say runs a turn to its end and returns what the agent said.
func (c *conversation2) say(t *testing.T, text string) (string, *acp.IdleStateUpdate) {
	t.Helper()
	turn := c.session.Prompt(c.ctx, acp.Text(text))
	said, _ := turn.Text() // Wait has the error
	idle, err := turn.Wait()
	require.NoError(t, err)
	return said, idle
}

// wait waits until test, which is called with the handler's lock held, is true.
func (c *conversation2) wait(t *testing.T, test func() bool) {
	t.Helper()
	require.NoError(t, c.handler.until(c.ctx, test))
}

func (c *conversation2) beforeInitialize(t *testing.T) {
	_, err := c.conn.NewSession(c.ctx, &acp.NewSessionRequest{Cwd: acp.AbsolutePath(c.dir)})
	require.Error(t, err)
	assert.Contains(t, err.Error(), "nitialize")
}

func (c *conversation2) initialize(t *testing.T) {
	caps := client.Capabilities(c.handler)
	assert.True(t, caps.Has("elicitation.form") && caps.Has("elicitation.url"), "derived from the methods")
	caps.Auth = &acp.ClientAuthCapabilities{Terminal: &acp.TerminalAuthCapabilities{}}
	req := &acp.InitializeRequest{Info: acp.Implementation{Name: "interop-go-client", Version: "1.0.0"}, Capabilities: caps}
	res, err := c.conn.Initialize(c.ctx, req)
	require.NoError(t, err)
	assert.EqualValues(t, acp.ProtocolVersion, res.ProtocolVersion)
	assert.Equal(t, "Interop", res.Info.Title)
	for _, bit := range []string{
		"session", "session.prompt.image", "session.prompt.audio", "session.prompt.embeddedContext", "session.mcp.stdio", "session.mcp.http",
		"session.delete", "session.additionalDirectories", "session.fork", "session.archive", "session.status", "session.title", "auth.status", "providers",
	} {
		assert.True(t, c.conn.AgentCapabilities().Has(bit), bit)
	}
	require.Len(t, res.AuthMethods, 3)
	assert.Equal(t, &acp.AuthMethodAgent{MethodID: "token", Name: "Token", Description: "asks for a token"}, res.AuthMethods[0])
	terminal, ok := res.AuthMethods[1].(*acp.AuthMethodTerminal)
	require.True(t, ok, "%T", res.AuthMethods[1])
	assert.Equal(t, []acp.EnvVariable{{Name: "LOGIN", Value: "1"}}, terminal.Env)
	passkey, ok := res.AuthMethods[2].(*acp.UnknownAuthMethod)
	require.True(t, ok, "%T", res.AuthMethods[2])
	assert.JSONEq(t, `{"type":"_passkey","methodId":"pk","name":"Passkey","party":"example.com"}`, string(passkey.Raw))
	sent := last(t, journal(c.ctx, t, c.conn), "initialize")
	assert.JSONEq(t, `{"protocolVersion":2,"info":{"name":"interop-go-client","version":"1.0.0"},
		"capabilities":{"auth":{"terminal":{}},"elicitation":{"form":{},"url":{}}}}`, string(sent))
}

// greeted waits for the commands that the agent reports after it has responded.
func (c *conversation2) greeted(t *testing.T, s *client.Session) {
	t.Helper()
	for len(s.Commands()) < 2 {
		journal(c.ctx, t, c.conn) // a call returns when what arrived before its response was handled
		require.NoError(t, c.ctx.Err(), "no commands")
	}
}

// initialize may be repeated only before any other request.
func (c *conversation2) initializeAgain(t *testing.T) {
	sent := last(t, journal(c.ctx, t, c.conn), "initialize")
	hasCode(t, rpcerr.CodeInvalidRequest, c.conn.Call(c.ctx, acp.MethodInitialize, sent, nil))
}

func (c *conversation2) login(t *testing.T) {
	locked := &acp.NewSessionRequest{Cwd: acp.AbsolutePath(c.dir + "/locked")}
	_, err := c.conn.NewSession(c.ctx, locked)
	assert.ErrorIs(t, err, rpcerr.ErrAuthRequired)
	_, err = c.conn.Login(c.ctx, &acp.LoginAuthRequest{MethodID: "nope"})
	hasCode(t, rpcerr.CodeInvalidParams, err)
	status, err := c.conn.AuthStatus(c.ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, acp.AuthStateUnauthenticated, status.State)
	c.handler.reset("")
	_, err = c.conn.Login(c.ctx, &acp.LoginAuthRequest{MethodID: "token"})
	require.NoError(t, err)
	asked := c.handler.told()
	assert.Contains(t, string(last(t, asked, "elicitation/create")), `"requestId"`, "the question belongs to the request")
	assert.JSONEq(t, `{"state":"authenticated"}`, string(last(t, asked, "auth/status_update")))
	assert.JSONEq(t, `{"action":"accept","content":{"token":"s3cret"}}`, c.told(t, "auth/login"))
	status, err = c.conn.AuthStatus(c.ctx, nil)
	require.NoError(t, err)
	require.Len(t, status.Accounts, 1)
	assert.Equal(t, "me@example.com", status.Accounts[0].Email)
	_, err = c.conn.NewSession(c.ctx, locked)
	require.NoError(t, err)
	_, err = c.conn.Logout(c.ctx, nil)
	require.NoError(t, err)
	_, err = c.conn.NewSession(c.ctx, locked)
	assert.ErrorIs(t, err, rpcerr.ErrAuthRequired)
}

func (c *conversation2) newSession(t *testing.T) {
	_, err := c.conn.NewSession(c.ctx, &acp.NewSessionRequest{Cwd: "not/absolute"})
	var invalid *acp.InvalidError
	require.ErrorAs(t, err, &invalid, "refused before it leaves")
	_, err = c.conn.NewSession(c.ctx, &acp.NewSessionRequest{Cwd: acp.AbsolutePath(c.dir), MCPServers: []acp.MCPServer{
		&acp.UnknownMCPServer{Type: "_pigeon", Raw: json.RawMessage(`{"type":"_pigeon","name":"coo"}`)}}})
	hasCode(t, rpcerr.CodeInvalidParams, err)

	before := len(journal(c.ctx, t, c.conn))
	c.session, err = c.conn.StartSession(c.ctx, &acp.NewSessionRequest{
		Cwd: acp.AbsolutePath(c.dir), AdditionalDirectories: []acp.AbsolutePath{"/tmp"},
		MCPServers: []acp.MCPServer{
			&acp.MCPServerStdio{Name: "tools", Command: "/bin/true", Args: []string{"-x"}, Env: []acp.EnvVariable{{Name: "A", Value: "1"}}},
			&acp.MCPServerHTTP{Name: "web", URL: "https://example.com/mcp", Headers: []acp.HTTPHeader{{Name: "X", Value: "y"}}},
		},
	})
	require.NoError(t, err)
	sent := journal(c.ctx, t, c.conn)[before:]
	assert.JSONEq(t, `{"cwd":"`+c.dir+`","additionalDirectories":["/tmp"],"mcpServers":[
		{"type":"stdio","name":"tools","command":"/bin/true","args":["-x"],"env":[{"name":"A","value":"1"}]},
		{"type":"http","name":"web","url":"https://example.com/mcp","headers":[{"name":"X","value":"y"}]}]}`, string(last(t, sent, "session/new")))
	options := c.session.ConfigOptions()
	require.Len(t, options, 4)
	effort, ok := options[1].Kind.(*acp.SessionConfigSelect)
	require.True(t, ok, "%T", options[1].Kind)
	assert.Equal(t, acp.SessionConfigValueID("high"), effort.Options.Grouped[0].Options[1].Value)
	assert.Equal(t, &acp.SessionConfigBoolean{}, options[2].Kind)
	colour, ok := options[3].Kind.(*acp.UnknownSessionConfigKind)
	require.True(t, ok, "%T", options[3].Kind)
	assert.Equal(t, "_colour", colour.Type)
	c.greeted(t, c.session)
	assert.Equal(t, &acp.Command{Name: "greet", Description: "says hello"}, c.session.Commands()[0])
	assert.Equal(t, &acp.IdleStateUpdate{}, c.session.State())
}
