package client_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
)

type fileClient struct{ peertest.Client }

func (*fileClient) ReadTextFile(context.Context, *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return &acp.ReadTextFileResponse{Content: "hello"}, nil
}

func TestInitializeFillsInWhatIsLeftOpen(t *testing.T) {
	leak.Check(t)
	for _, tt := range []struct {
		name    string
		req     *acp.InitializeRequest
		version int
		caps    string
	}{
		{"nil", nil, 1, `{"fs":{"readTextFile":true}}`},
		{"own capabilities", &acp.InitializeRequest{ClientCapabilities: &acp.ClientCapabilities{}}, 1, `{}`},
		{"own version", &acp.InitializeRequest{ProtocolVersion: 2}, 2, `{"fs":{"readTextFile":true}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, peer := dial(t, &fileClient{}, nil)
			assert.Zero(t, c.ProtocolVersion())
			assert.Nil(t, c.AgentCapabilities())
			sent := make(chan rawpeer.Message, 1)
			go func() { // ends with the response
				m := peer.Expect("initialize")
				peer.Answer(m, `{"protocolVersion":1,"agentInfo":{"name":"a","version":"1"},"authMethods":[{"id":"key","name":"Key"}]}`)
				sent <- m
			}()
			res, err := c.Initialize(t.Context(), tt.req)
			require.NoError(t, err)
			assert.Nil(t, res.AgentCapabilities)
			var params struct {
				ProtocolVersion    int             `json:"protocolVersion"`
				ClientCapabilities json.RawMessage `json:"clientCapabilities"`
			}
			require.NoError(t, json.Unmarshal((<-sent).Params, &params))
			assert.Equal(t, tt.version, params.ProtocolVersion)
			assert.JSONEq(t, tt.caps, string(params.ClientCapabilities))
			assert.Equal(t, 1, c.ProtocolVersion())
			assert.Equal(t, "a", c.PeerInfo().Name)
			assert.Equal(t, &acp.AgentCapabilities{}, c.AgentCapabilities())
			assert.Len(t, c.AuthMethods(), 1)
		})
	}
}

// An agent of version 1 may send requests to the client before it responds to initialize.
func TestAgentAsksBeforeItsInitializeResponse(t *testing.T) {
	asked := 0
	c, peer := dial(t, &peertest.Client{OnPermission: func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
		asked++
		return acp.Selected("ok"), nil
	}}, nil)
	go func() { // ends with the response
		m := peer.Expect("initialize")
		peer.Call("1", "session/request_permission", `{"sessionId":"s1","toolCall":{"toolCallId":"c1"},"options":[]}`)
		response, _ := peer.Recv()
		assert.JSONEq(t, `{"outcome":{"outcome":"selected","optionId":"ok"}}`, string(response.Result))
		peer.Answer(m, `{"protocolVersion":1}`)
	}()
	_, err := c.Initialize(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, 1, asked)
}

func TestInitializeAnswersOfOtherVersions(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		version      int
	}{
		{"newer", `{"protocolVersion":99}`, 99},
		{"zero", `{"protocolVersion":0}`, 0},
		{"a shape that version 1 refuses", `{"protocolVersion":3,"agentInfo":"a","authMethods":7,"agentCapabilities":[]}`, 3},
		{"shape of version 2", `{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}},
			"authMethods":[{"methodId":"key","type":"agent","name":"Key"}]}`, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, peer := dial(t, &peertest.Client{}, nil)
			go func() { peer.Answer(peer.Expect("initialize"), tt.answer) }() // ends with the response
			var raw json.RawMessage
			_, err := c.Initialize(client.WithRawResult(t.Context(), &raw), nil)
			var version *acp.VersionError
			require.ErrorAs(t, err, &version)
			assert.JSONEq(t, tt.answer, string(raw))
			assert.Equal(t, tt.version, version.Answered)
			assert.Contains(t, err.Error(), "this client supports version 1")
			assert.Equal(t, rpcerr.UnsupportedProtocolVersion(1, tt.version).Data, rpcerr.From(err).Data, "as a proxy passes it on")
			assert.Zero(t, c.ProtocolVersion())
			assert.Nil(t, c.AgentCapabilities())
		})
	}
}

func TestInitializeFailsWithWhatTheAgentSays(t *testing.T) {
	c, peer := dial(t, &peertest.Client{}, nil)
	go func() { peer.Fail(peer.Expect("initialize"), -32022, "Unsupported protocol version") }() // ends with the response
	_, err := c.Initialize(t.Context(), nil)
	assert.ErrorIs(t, err, rpcerr.ErrUnsupportedProtocolVersion)
	var version *acp.VersionError
	require.ErrorAs(t, err, &version)
	assert.Equal(t, 1, version.Requested)
	assert.EqualError(t, err, "client: the agent does not support protocol version 1; this client supports version 1")
}

// Values that are not versions are not listed as supported.
func TestInitializeReadsTheVersionsOfTheAgent(t *testing.T) {
	c, peer := dial(t, &peertest.Client{}, nil)
	go func() { // ends with the response
		m := peer.Expect("initialize")
		peer.Write([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32022,"message":"m","data":{"supported":["3",4.0,"draft",null]}}}`))
	}()
	_, err := c.Initialize(t.Context(), nil)
	var version *acp.VersionError
	require.ErrorAs(t, err, &version)
	assert.Equal(t, []int{3, 4}, version.Supported)
}

func TestCapabilityWithoutItsMethodIsNotAdvertised(t *testing.T) {
	c := client.New(silent{t}, good, nil)
	require.NoError(t, c.Start(t.Context()))
	_, err := c.Initialize(t.Context(), &acp.InitializeRequest{ClientCapabilities: &acp.ClientCapabilities{Terminal: true}})
	assert.ErrorContains(t, err, "terminal")
	assert.ErrorContains(t, err, "acp.TerminalHost")
}

func TestCapabilities(t *testing.T) {
	for _, tt := range []struct {
		name   string
		client acp.Client
		want   string
	}{
		{"baseline", &peertest.Client{}, `{}`},
		{"read", &fileClient{}, `{"fs":{"readTextFile":true}}`},
		{"write and terminal", struct {
			acp.Client
			acp.TextFileWriter
			acp.TerminalHost
		}{}, `{"fs":{"writeTextFile":true},"terminal":true}`},
		{"forms", struct {
			acp.Client
			acp.Elicitor
		}{}, `{"elicitation":{"form":{}}}`},
		{"forms and pages", struct {
			acp.Client
			acp.Elicitor
			acp.ElicitationCompleter
		}{}, `{"elicitation":{"form":{},"url":{}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(client.Capabilities(tt.client))
			require.NoError(t, err)
			assert.JSONEq(t, tt.want, string(got))
		})
	}
}

func TestCallsThatTheAgentDidNotAdvertise(t *testing.T) {
	c, _ := open(t, &peertest.Client{}, `{}`, &client.Options{Unstable: true})
	prompt := func(b acp.ContentBlock) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := c.Prompt(ctx, &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{b}})
			return err
		}
	}
	start := func(req acp.NewSessionRequest) func(context.Context) error {
		req.Cwd = "/"
		return func(ctx context.Context) error { _, err := c.StartSession(ctx, &req); return err }
	}
	for _, tt := range []struct {
		capability string
		call       func(context.Context) error
	}{
		{"loadSession", func(ctx context.Context) error {
			_, err := c.StartLoadedSession(ctx, &acp.LoadSessionRequest{SessionID: "s", Cwd: "/"}, nil)
			return err
		}},
		{"sessionCapabilities.resume", func(ctx context.Context) error {
			_, err := c.StartResumedSession(ctx, &acp.ResumeSessionRequest{SessionID: "s", Cwd: "/"})
			return err
		}},
		{"sessionCapabilities.fork", func(ctx context.Context) error {
			_, err := c.StartForkedSession(ctx, &acp.ForkSessionRequest{SessionID: "s", Cwd: "/"})
			return err
		}},
		{"sessionCapabilities.list", func(ctx context.Context) error { _, err := c.ListSessions(ctx, nil); return err }},
		{"sessionCapabilities.close", func(ctx context.Context) error { return c.Session("s").Close(ctx) }},
		{"sessionCapabilities.delete", func(ctx context.Context) error { return c.Session("s").Delete(ctx) }},
		{"auth.logout", func(ctx context.Context) error { _, err := c.Logout(ctx, nil); return err }},
		{"providers", func(ctx context.Context) error { _, err := c.ListProviders(ctx, nil); return err }},
		{"sessionCapabilities.list", func(ctx context.Context) error { return c.Call(ctx, "session/list", nil, nil) }},
		{"promptCapabilities.image", prompt(&acp.ImageContent{MIMEType: "image/png"})},
		{"promptCapabilities.audio", prompt(&acp.AudioContent{MIMEType: "audio/wav"})},
		{"promptCapabilities.embeddedContext", prompt(&acp.EmbeddedResource{Resource: &acp.TextResourceContents{URI: "file:///x"}})},
		{"sessionCapabilities.additionalDirectories", start(acp.NewSessionRequest{AdditionalDirectories: []string{"/x"}})},
		{"mcpCapabilities.http", start(acp.NewSessionRequest{MCPServers: []acp.MCPServer{&acp.MCPServerHTTP{Name: "m", URL: "https://x.test"}}})},
		{"sessionCapabilities.systemPrompt", start(acp.NewSessionRequest{SystemPrompt: &acp.SystemPrompt{Mode: acp.SystemPromptModeAppend}})},
	} {
		var missing *acp.CapabilityError
		if assert.ErrorAs(t, tt.call(t.Context()), &missing, tt.capability) {
			assert.Equal(t, tt.capability, missing.Capability)
		}
	}
}

func TestGatesCanBeTurnedOff(t *testing.T) {
	c, peer := open(t, &peertest.Client{}, `{}`, &client.Options{IgnoreCapabilities: true})
	go func() { peer.Answer(peer.Expect("session/list"), `{"sessions":[]}`) }() // ends with the response
	_, err := c.ListSessions(t.Context(), nil)
	require.NoError(t, err)
}

func TestUnstableCallsNeedTheOption(t *testing.T) {
	c, _ := open(t, &peertest.Client{}, `{"providers":{}}`, nil)
	_, err := c.ListProviders(t.Context(), nil)
	assert.ErrorContains(t, err, "set Options.Unstable")
}
