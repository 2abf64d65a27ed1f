package client_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/wire"
)

// asked has valid params for every request an agent can send.
var asked = map[string]string{
	"session/request_permission": `{"sessionId":"s",` + question + `}`,
	"elicitation/create":         `{"sessionId":"s","message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}}`,
	"mcp/message":                `{"serverId":"s","requestId":"r","method":"tools/list"}`,
}

// called has valid params for every request a client can send, and a valid result.
var called = map[string][2]string{
	"initialize":                {`{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{}}`, `{"protocolVersion":2,"info":{"name":"a","version":"1"}}`},
	"auth/login":                {`{"methodId":"m"}`, `{}`},
	"auth/logout":               {`{}`, `{}`},
	"session/new":               {`{"cwd":"/"}`, `{"sessionId":"s"}`},
	"session/resume":            {`{"sessionId":"s","cwd":"/"}`, `{}`},
	"session/list":              {`{}`, `{"sessions":[]}`},
	"session/delete":            {`{"sessionId":"s"}`, `{}`},
	"session/close":             {`{"sessionId":"s"}`, `{}`},
	"session/set_config_option": {`{"sessionId":"s","configId":"c","type":"id","value":"v"}`, `{"configOptions":[]}`},
	"session/prompt":            {`{"sessionId":"s","prompt":[{"type":"text","text":"t"}]}`, `{"messageId":"u"}`},
	"tool_call/cancel":          {`{"sessionId":"s","toolCallId":"c"}`, `{}`},
	"terminal/cancel":           {`{"sessionId":"s","terminalId":"t"}`, `{}`},
	"providers/list":            {`{}`, `{"providers":[]}`},
	"providers/set":             {`{"providerId":"p","apiType":"openai","baseUrl":"https://x.test"}`, `{}`},
	"providers/disable":         {`{"providerId":"p"}`, `{}`},
	"session/fork":              {`{"sessionId":"s","cwd":"/"}`, `{"sessionId":"f"}`},
	"session/archive":           {`{"sessionId":"s"}`, `{}`},
	"session/unarchive":         {`{"sessionId":"s"}`, `{}`},
	"session/status":            {`{"sessionId":"s"}`, `{"status":"open"}`},
	"session/set_title":         {`{"sessionId":"s","title":"t"}`, `{"title":"t"}`},
	"auth/status":               {`{}`, `{"state":"authenticated"}`},
	"_extension":                {`{}`, `{}`},
}

// everything is a client with every method. Those that are nil panic, which gives an error
// other than "method not found".
type everything struct {
	*viewer
	acp.Elicitor
	acp.ElicitationCompleter
	acp.AuthStatusUpdater
	acp.MCPMessageHandler
}

var reckless = &client.Options{Unstable: true, IgnoreCapabilities: true, CancelGrace: -1}

// connect returns a started connection of any client, and the agent that the test plays.
func connect(t *testing.T, c acp.Client) (*client.Conn, *rawpeer.Peer) {
	t.Helper()
	s, peer := rawpeer.Pipe(t)
	return rawpeer.Start(t, client.New(s, func(*client.Conn) acp.Client { return c }, reckless)), peer
}

// Every method of the protocol is handled if the client implements it, and only then.
func TestEveryMethodIsHandled(t *testing.T) {
	for _, m := range wire.Methods(acp.ProtocolVersion) {
		if m.Side != wire.Client || m.Notification {
			continue
		}
		params, ok := asked[m.Name]
		require.True(t, ok, m.Name)
		for _, full := range []bool{true, false} {
			var c acp.Client = &viewer{}
			if full {
				c = everything{viewer: &viewer{}}
			}
			_, peer := connect(t, c)
			peer.Call(`"x"`, m.Name, params)
			res := peer.Next()
			missing := res.Error != nil && res.Error.Code == -32601
			assert.Equal(t, !full && m.Name != "session/request_permission", missing, "%s: %s", m.Name, res.Raw)
		}
	}
}

// A call ends with its ctx: before it is sent nothing is sent; while it waits the agent is
// told, and the late response is dropped. After that the next call works.
func TestCtxOfEveryCall(t *testing.T) {
	for _, m := range wire.Methods(acp.ProtocolVersion) {
		if m.Side == wire.Agent && !m.Notification {
			assert.Contains(t, called, m.Name)
		}
	}
	for method, payload := range called {
		t.Run(method, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				leak.Check(t)
				c, peer := connect(t, &viewer{})
				call := func(ctx context.Context) error { return c.Call(ctx, method, json.RawMessage(payload[0]), nil) }

				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				require.ErrorIs(t, call(ctx), context.Canceled, "before")

				ctx, cancel = context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- call(ctx) }() // ends with ctx
				m := peer.Expect(method)
				assert.JSONEq(t, payload[0], string(m.Params))
				cancel()
				peer.Expect("$/cancel_request")
				require.ErrorIs(t, <-ended, context.Canceled, "during")
				peer.Answer(m, payload[1])

				go func() { peer.Answer(peer.Expect(method), payload[1]) }() // ends with the response
				require.NoError(t, call(t.Context()), "after")
				synctest.Wait()
			})
		})
	}
}
