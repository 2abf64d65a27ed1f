package agent_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Every method of the protocol that an agent handles has a row, and without its
// interface none.
func TestEveryMethodIsHandled(t *testing.T) {
	start := func(a acp.Agent) *rawpeer.Peer {
		s, peer := rawpeer.Pipe(t)
		c := agent.New(s, func(*agent.Conn) acp.Agent { return a }, &agent.Options{Unstable: true})
		require.NoError(t, c.Start(t.Context()))
		t.Cleanup(func() { c.Close() })
		peer.Call("0", "initialize", `{"protocolVersion":1}`)
		peer.Recv()
		return peer
	}
	full := start(&peertest.FullAgent{})
	bare := start(&peertest.Agent{})
	baseline := map[string]bool{"initialize": true, "session/new": true, "session/prompt": true}
	for _, m := range wire.Methods(acp.ProtocolVersion) {
		if m.Side != wire.Agent || m.Notification {
			continue
		}
		params, ok := peertest.Params[m.Name]
		require.True(t, ok, m.Name)
		full.Call(`1`, m.Name, params)
		answer := full.Next()
		assert.Nil(t, answer.Error, "%s: %s", m.Name, answer.Raw)
		bare.Call(`1`, m.Name, params)
		answer = bare.Next()
		if !baseline[m.Name] {
			require.NotNil(t, answer.Error, m.Name)
			assert.Equal(t, -32601, answer.Error.Code, m.Name)
		}
	}
}

// calls has valid params for every request an agent can send, and a valid response.
var calls = map[string][2]string{
	"session/request_permission": {`{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}`, `{"outcome":{"outcome":"cancelled"}}`},
	"fs/read_text_file":          {`{"sessionId":"s","path":"/x"}`, `{"content":""}`},
	"fs/write_text_file":         {`{"sessionId":"s","path":"/x","content":""}`, `{}`},
	"terminal/create":            {`{"sessionId":"s","command":"ls"}`, `{"terminalId":"t"}`},
	"terminal/output":            {`{"sessionId":"s","terminalId":"t"}`, `{"output":"","truncated":false}`},
	"terminal/wait_for_exit":     {`{"sessionId":"s","terminalId":"t"}`, `{}`},
	"terminal/kill":              {`{"sessionId":"s","terminalId":"t"}`, `null`},
	"terminal/release":           {`{"sessionId":"s","terminalId":"t"}`, `{}`},
	"elicitation/create":         {`{"sessionId":"s","message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}}`, `{"action":"cancel"}`},
	"mcp/message":                {`{"serverId":"s","requestId":"r","method":"tools/list"}`, `{"result":{}}`},
	"_extension":                 {`{"n":1}`, `[]`},
}

// A call ends with its ctx: before it is sent nothing is sent; while it waits the client
// is told, and the late response is dropped.
func TestCtxOfEveryCall(t *testing.T) {
	for _, m := range wire.Methods(acp.ProtocolVersion) {
		if m.Side == wire.Client && !m.Notification {
			assert.Contains(t, calls, m.Name)
		}
	}
	for method, row := range calls {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				s, peer := rawpeer.Pipe(t)
				c := agent.New(s, good, &agent.Options{Unstable: true, IgnoreCapabilities: true})
				require.NoError(t, c.Start(t.Context()))
				defer c.Wait()
				defer c.Close()
				call := func(ctx context.Context) error { return c.Call(ctx, method, json.RawMessage(row[0]), nil) }

				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				require.ErrorIs(t, call(ctx), context.Canceled, "before")

				ctx, cancel = context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- call(ctx) }() // ends with ctx
				m := peer.Expect(method)
				assert.JSONEq(t, row[0], string(m.Params))
				cancel()
				peer.Expect("$/cancel_request")
				require.ErrorIs(t, <-ended, context.Canceled, "during")
				peer.Answer(m, row[1])

				go func() { peer.Answer(peer.Expect(method), row[1]) }() // ends with the response
				ctx, cancel = context.WithCancel(t.Context())
				require.NoError(t, call(ctx), "after")
				cancel()
				synctest.Wait()
			})
		})
	}
}

func TestNotificationsByName(t *testing.T) {
	s, peer := rawpeer.Pipe(t)
	c := agent.New(s, good, &agent.Options{Unstable: true, IgnoreCapabilities: true})
	require.NoError(t, c.Start(t.Context()))
	defer c.Close()
	for method, params := range map[string]string{
		"session/update":       `{"sessionId":"s","update":{"sessionUpdate":"brand_new","x":1}}`,
		"elicitation/complete": `{"elicitationId":"e"}`,
		"auth/status_update":   `{"state":"authenticated","accounts":[]}`,
		"_note":                `[1]`,
	} {
		require.NoError(t, c.Notify(t.Context(), method, json.RawMessage(params)), method)
		assert.JSONEq(t, params, string(peer.Expect(method).Params))
	}
}
