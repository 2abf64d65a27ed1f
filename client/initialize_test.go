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
			c, peer := dial(t, &fileReader{}, nil)
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
		peer.Call("1", "session/request_permission", `{"sessionId":"s1","toolCall":{"toolCallId":"c1"},"options":[{"optionId":"ok","name":"OK","kind":"allow_once"}]}`)
		response, _ := peer.Recv()
		assert.JSONEq(t, `{"outcome":{"outcome":"selected","optionId":"ok"}}`, string(response.Result))
		peer.Answer(m, `{"protocolVersion":1}`)
	}()
	_, err := c.Initialize(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, 1, asked)
}

func TestCapabilityWithoutItsMethodIsNotAdvertised(t *testing.T) {
	c, _ := dial(t, &peertest.Client{}, nil)
	_, err := c.Initialize(t.Context(), &acp.InitializeRequest{ClientCapabilities: &acp.ClientCapabilities{Terminal: true}})
	assert.ErrorContains(t, err, "terminal")
	assert.ErrorContains(t, err, "acp.TerminalHost")
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
		{"sessionCapabilities.options", start(acp.NewSessionRequest{ConfigOptions: []acp.InitialSessionConfigOption{{ConfigID: "c", Value: &acp.SessionConfigValue{Value: "v"}}}})},
		{"sessionCapabilities.systemPrompt", start(acp.NewSessionRequest{SystemPrompt: &acp.SystemPrompt{Mode: acp.SystemPromptModeAppend}})},
	} {
		var missing *acp.CapabilityError
		if assert.ErrorAs(t, tt.call(t.Context()), &missing, tt.capability) {
			assert.Equal(t, tt.capability, missing.Capability)
		}
	}
}

func TestUnstableCallsNeedTheOption(t *testing.T) {
	c, _ := open(t, &peertest.Client{}, `{"providers":{}}`, nil)
	_, err := c.ListProviders(t.Context(), nil)
	assert.ErrorContains(t, err, "set Options.Unstable")
}

// Params that break a rule are not sent. The error contains the name of the field.
func TestBadParamsAreNotSent(t *testing.T) {
	c, _ := open(t, &peertest.Client{}, `{"loadSession":true}`, nil)
	for _, tt := range []struct {
		path string
		call func(context.Context) error
	}{
		{"cwd", func(ctx context.Context) error {
			_, err := c.StartSession(ctx, &acp.NewSessionRequest{Cwd: "work"})
			return err
		}},
		{"cwd", func(ctx context.Context) error { _, err := c.NewSession(ctx, nil); return err }},
		{"sessionId", func(ctx context.Context) error { _, err := c.Prompt(ctx, nil); return err }},
		{"sessionId", func(ctx context.Context) error { return c.Cancel(ctx, nil) }},
		{"sessionId", func(ctx context.Context) error {
			_, err := c.StartLoadedSession(ctx, &acp.LoadSessionRequest{Cwd: "/"}, nil)
			return err
		}},
		{"methodId", func(ctx context.Context) error {
			return c.Call(ctx, "authenticate", struct{}{}, nil)
		}},
	} {
		var invalid *acp.InvalidError
		err := tt.call(t.Context())
		if assert.ErrorAs(t, err, &invalid) {
			assert.Contains(t, err.Error(), tt.path)
		}
	}
}

// All methods of a zero Conn return errors and do not panic.
func TestZeroConn(t *testing.T) {
	var c client.Conn
	ctx := t.Context()
	s := c.Session("s1")
	s.OnUpdate(func(context.Context, acp.SessionUpdate) {})
	_, turnErr := s.Prompt(ctx, acp.Text("hi")).Wait()
	_, initErr := c.Initialize(ctx, nil)
	_, newErr := c.StartSession(ctx, nil)
	_, loadErr := c.StartLoadedSession(ctx, nil, nil)
	_, plainErr := c.LoadSession(ctx, &acp.LoadSessionRequest{SessionID: "s2"})
	_, promptErr := c.Prompt(ctx, &acp.PromptRequest{SessionID: "s3"})
	for what, err := range map[string]error{
		"Prompt": turnErr, "Initialize": initErr, "StartSession": newErr, "StartLoadedSession": loadErr,
		"LoadSession": plainErr, "Conn.Prompt": promptErr, "Cancel": s.Cancel(ctx), "Start": c.Start(ctx), "Wait": c.Wait(),
		"Call": c.Call(ctx, "_x", nil, nil),
	} {
		assert.ErrorContains(t, err, "New", what)
	}
	assert.ErrorContains(t, c.SignInAndRetry(ctx, nil, nil), "nil call")
	require.NoError(t, c.Close())
}

func TestConnect(t *testing.T) {
	leak.Check(t)
	newClient := func(*client.Conn) acp.Client { return &peertest.Client{} }
	t.Run("refused", func(t *testing.T) {
		s, peer := rawpeer.Pipe(t)
		done := make(chan bool)
		go func() { // ends with the connection
			peer.Fail(peer.Expect("initialize"), -32000, "no")
			_, more := peer.Recv()
			done <- more
		}()
		_, err := client.Connect(t.Context(), s, newClient, nil)
		assert.ErrorIs(t, err, rpcerr.ErrAuthRequired)
		assert.False(t, <-done, "the stream is closed")
	})
	t.Run("badly made", func(t *testing.T) {
		s, _ := rawpeer.Pipe(t)
		_, err := client.Connect(t.Context(), s, nil, nil)
		assert.ErrorContains(t, err, "pass a func that returns your client")
	})
}
