package interop_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// Our client holds its whole conversation with agents on the TypeScript SDK, by itself and behind
// their router, and with ours.
func TestConversation(t *testing.T) {
	needShell(t)
	eachWay(t, map[string]map[string]way{
		"their agent": waysTo(t, "agent.mjs"), "their router": waysTo(t, "v2/router.mjs"), "our agent": waysToOurs(t, "agent"),
	}, func(t *testing.T, agent, transport string, s stream.Stream) {
		var without []string
		if transport == "WebSocket" && agent != "their router" {
			without = append(without, "before initialize") // it ends the connection
		}
		converse(t, s, connected).all(t, without...)
	})
}

// conversation is what one run of the steps shares.
type conversation struct {
	program
	conn    *client.Conn
	handler *goClient
	dir     string
	session *client.Session
}

// converse connects our client to an agent.
func converse(t *testing.T, s stream.Stream, connect func(*testing.T, stream.Stream, func(*client.Conn) acp.Client) *client.Conn) *conversation {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), conversationTimeout)
	t.Cleanup(cancel)
	h := newGoClient(t)
	conn := connect(t, s, h.of)
	return &conversation{program: program{ctx, conn, &h.record}, conn: conn, handler: h, dir: h.dir}
}

// start initializes the connection and opens a session.
func (c *conversation) start(t *testing.T) {
	t.Helper()
	_, err := c.conn.Initialize(c.ctx, &acp.InitializeRequest{})
	require.NoError(t, err)
	c.session, err = c.conn.StartSession(c.ctx, &acp.NewSessionRequest{Cwd: c.dir})
	require.NoError(t, err)
}

// all runs every step, except those that are named.
func (c *conversation) all(t *testing.T, without ...string) {
	reset := func() { c.handler.reset(acp.PermissionOptionKindAllowOnce) }
	runSteps(t, reset, without, []conversationStep{
		{"before initialize", c.beforeInitialize}, {"initialize", c.initialize}, {"authenticate and logout", c.authenticate},
		{"new", c.newSession}, {"prompt", c.prompt}, {"every update", c.everyUpdate}, {"permission", c.permission},
		{"permission cancelled", c.permissionCancelled}, {"files", c.files}, {"terminals", c.terminals},
		{"form", c.form}, {"url", c.url}, {"cancel", c.cancel}, {"cancel of a request", c.cancelRequest},
		{"taken back", c.takenBack}, {"modes and options", c.settings}, {"extensions", func(t *testing.T) { c.extensions(t, func() { c.say(t, "extension") }) }},
		{"an error out of a turn", c.turnFails}, {"load and resume", c.loadAndResume},
		{"list, close, delete", c.listCloseDelete}, {"unstable methods", c.unstable},
	})
}

// conversationStep is a part of a conversation.
type conversationStep struct {
	name string
	run  func(*testing.T)
}

// runSteps runs steps, except those that are named, after a reset of the client. It ends with a step that
// fails.
func runSteps(t *testing.T, reset func(), without []string, steps []conversationStep) {
	for _, step := range steps {
		if slices.Contains(without, step.name) {
			continue
		}
		reset()
		if !t.Run(step.name, step.run) {
			return // what follows builds on it
		}
	}
}

// say runs a turn to its end and returns what the agent said.
func (c *conversation) say(t *testing.T, text string) (string, *acp.PromptResponse) {
	t.Helper()
	turn := c.session.Prompt(c.ctx, acp.Text(text))
	said, _ := turn.Text() // Wait has the error
	res, err := turn.Wait()
	require.NoError(t, err)
	return said, res
}

// hasCode asserts that the peer answered with an error of this code, and returns it.
func hasCode(t *testing.T, code rpcerr.Code, err error) *rpcerr.RequestError {
	t.Helper()
	var e *rpcerr.RequestError
	require.ErrorAs(t, err, &e)
	require.Equal(t, code, e.Code, e.Error())
	return e
}

func (c *conversation) beforeInitialize(t *testing.T) {
	_, err := c.conn.NewSession(c.ctx, &acp.NewSessionRequest{Cwd: c.dir})
	require.Error(t, err)
	assert.Contains(t, err.Error(), "nitialize")
}

func (c *conversation) initialize(t *testing.T) {
	caps := client.Capabilities(c.handler)
	assert.True(t, caps.Has("fs.readTextFile") && caps.Has("fs.writeTextFile") && caps.Has("terminal"), "derived from the methods")
	caps.Elicitation = &acp.ElicitationCapabilities{Form: &acp.ElicitationFormCapabilities{}, URL: &acp.ElicitationURLCapabilities{}}
	caps.Auth = &acp.AuthCapabilities{Terminal: true}
	caps.Session = &acp.ClientSessionCapabilities{
		Notices: &acp.NoticeCapabilities{}, Compaction: &acp.CompactionCapabilities{},
		ConfigOptions: &acp.SessionConfigOptionsCapabilities{Boolean: &acp.BooleanConfigOptionCapabilities{}},
	}
	caps.Plan, caps.Subagents = &acp.PlanCapabilities{}, &acp.SubagentCapabilities{}
	res, err := c.conn.Initialize(c.ctx, &acp.InitializeRequest{
		ClientInfo: &acp.Implementation{Name: "interop-go-client", Version: "1.0.0"}, ClientCapabilities: caps,
	})
	require.NoError(t, err)
	assert.EqualValues(t, acp.ProtocolVersion, res.ProtocolVersion)
	assert.Equal(t, &acp.PromptCapabilities{Image: true, Audio: true, EmbeddedContext: true}, res.AgentCapabilities.PromptCapabilities)
	for _, bit := range []string{
		"loadSession", "auth.logout", "providers", "sessionCapabilities.list", "sessionCapabilities.delete", "sessionCapabilities.resume",
		"sessionCapabilities.close", "sessionCapabilities.fork", "sessionCapabilities.archive", "sessionCapabilities.title",
	} {
		assert.True(t, c.conn.AgentCapabilities().Has(bit), bit)
	}
	require.Len(t, res.AuthMethods, 2)
	assert.Equal(t, &acp.AuthMethodAgent{ID: "token", Name: "Token", Description: "asks for a token"}, res.AuthMethods[0])
	terminal, ok := res.AuthMethods[1].(*acp.AuthMethodTerminal)
	require.True(t, ok, "%T", res.AuthMethods[1])
	assert.Equal(t, []string{"login"}, terminal.Args)
	sent := last(t, journal(c.ctx, t, c.conn), "initialize")
	assert.Contains(t, string(sent), `"interop-go-client"`)
}

func (c *conversation) authenticate(t *testing.T) {
	locked := &acp.NewSessionRequest{Cwd: c.dir + "/locked"}
	_, err := c.conn.NewSession(c.ctx, locked)
	assert.ErrorIs(t, err, rpcerr.ErrAuthRequired)
	_, err = c.conn.Authenticate(c.ctx, &acp.AuthenticateRequest{MethodID: "nope"})
	hasCode(t, rpcerr.CodeInvalidParams, err)
	status, err := c.conn.AuthStatus(c.ctx, &acp.AuthStatusRequest{})
	require.NoError(t, err)
	assert.Equal(t, acp.AuthStateUnauthenticated, status.State)
	_, err = c.conn.Authenticate(c.ctx, &acp.AuthenticateRequest{MethodID: "token"})
	require.NoError(t, err)
	_, asked := c.handler.recorded()
	assert.Contains(t, string(last(t, asked, "elicitation/create")), `"requestId"`, "the question belongs to the request")
	assert.JSONEq(t, `{"action":"accept","content":{"token":"s3cret"}}`, c.told(t, "authenticate"))
	status, err = c.conn.AuthStatus(c.ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, "me@example.com", status.Accounts[0].Email)
	_, err = c.conn.NewSession(c.ctx, locked)
	require.NoError(t, err)
	// Its update must not come in the middle of a later step: streams of HTTP have no order
	// among each other.
	require.NoError(t, c.handler.until(c.ctx, func() bool { return len(c.handler.updates) > 0 }))
	_, err = c.conn.Logout(c.ctx, nil)
	require.NoError(t, err)
	_, err = c.conn.NewSession(c.ctx, locked)
	assert.ErrorIs(t, err, rpcerr.ErrAuthRequired)
}

func (c *conversation) newSession(t *testing.T) {
	_, err := c.conn.NewSession(c.ctx, &acp.NewSessionRequest{Cwd: "not/absolute"})
	var invalid *acp.InvalidError
	require.ErrorAs(t, err, &invalid, "refused before it leaves")
	hasCode(t, rpcerr.CodeInvalidParams, c.conn.Call(c.ctx, "_interop/fail", map[string]any{"code": -32602, "message": "m"}, nil))

	before := len(journal(c.ctx, t, c.conn))
	session, err := c.conn.StartSession(c.ctx, &acp.NewSessionRequest{
		Cwd: c.dir, AdditionalDirectories: []string{"/tmp"},
		MCPServers: []acp.MCPServer{
			&acp.MCPServerStdio{Name: "tools", Command: "/bin/true", Args: []string{"-x"}, Env: []acp.EnvVariable{{Name: "A", Value: "1"}}},
			&acp.MCPServerHTTP{Name: "web", URL: "https://example.com/mcp", Headers: []acp.HTTPHeader{{Name: "X", Value: "y"}}},
			&acp.MCPServerSSE{Name: "old", URL: "https://example.com/sse"},
		},
	})
	require.NoError(t, err)
	c.session = session
	sent := journal(c.ctx, t, c.conn)[before:]
	assert.JSONEq(t, `{"cwd":"`+c.dir+`","additionalDirectories":["/tmp"],"mcpServers":[
		{"name":"tools","command":"/bin/true","args":["-x"],"env":[{"name":"A","value":"1"}]},
		{"type":"http","name":"web","url":"https://example.com/mcp","headers":[{"name":"X","value":"y"}]},
		{"type":"sse","name":"old","url":"https://example.com/sse","headers":[]}]}`, string(last(t, sent, "session/new")))
	assert.Equal(t, acp.SessionModeID("ask"), session.Modes().CurrentModeID)
	options := session.ConfigOptions()
	require.Len(t, options, 3)
	effort, ok := options[1].Kind.(*acp.SessionConfigSelect)
	require.True(t, ok)
	assert.Equal(t, acp.SessionConfigValueID("high"), effort.Options.Grouped[0].Options[1].Value)
	assert.Equal(t, &acp.SessionConfigBoolean{}, options[2].Kind)
	require.NoError(t, c.handler.until(c.ctx, func() bool { return len(c.handler.updates) > 0 }))
	updates, _ := c.handler.recorded()
	assert.Equal(t, &acp.AvailableCommandsUpdate{AvailableCommands: []acp.AvailableCommand{{Name: "greet", Description: "says hello"}}}, updates[0])
}

func (c *conversation) turnFails(t *testing.T) {
	_, err := c.session.Prompt(c.ctx, acp.Text("fail -32000 login")).Wait()
	assert.ErrorIs(t, err, rpcerr.ErrAuthRequired)
	var e *rpcerr.RequestError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "failed as asked", e.Message)
	var data struct{ Word string }
	require.NoError(t, e.DecodeData(&data))
	assert.Equal(t, "login", data.Word)
}
