package client_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/wire"
)

// everything is a client with every method. Most of them panic, which is an answer
// other than "method not found".
type everything struct {
	*peertest.Client
	acp.TextFileReader
	acp.TextFileWriter
	acp.TerminalHost
	acp.Elicitor
	acp.ElicitationCompleter
	acp.AuthStatusUpdater
	acp.MCPMessageHandler
}

// asked has valid params for every request an agent can send.
var asked = map[string]string{
	"session/request_permission": `{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"o","name":"O","kind":"allow_once"}]}`,
	"fs/read_text_file":          `{"sessionId":"s","path":"/x"}`,
	"fs/write_text_file":         `{"sessionId":"s","path":"/x","content":""}`,
	"terminal/create":            `{"sessionId":"s","command":"ls"}`,
	"terminal/output":            `{"sessionId":"s","terminalId":"t"}`,
	"terminal/wait_for_exit":     `{"sessionId":"s","terminalId":"t"}`,
	"terminal/kill":              `{"sessionId":"s","terminalId":"t"}`,
	"terminal/release":           `{"sessionId":"s","terminalId":"t"}`,
	"elicitation/create":         `{"sessionId":"s","message":"m","mode":"form","requestedSchema":{"type":"object"}}`,
	"mcp/message":                `{"serverId":"s","requestId":"r","method":"tools/list"}`,
}

// Every method of the protocol that a client handles has a row, and without its
// interface none.
func TestEveryMethodIsHandled(t *testing.T) {
	_, full := open(t, &everything{Client: &peertest.Client{}}, `{}`, &client.Options{Unstable: true})
	_, bare := open(t, &peertest.Client{}, `{}`, nil)
	for _, m := range wire.Methods(acp.ProtocolVersion) {
		if m.Side != wire.Client || m.Notification {
			continue
		}
		params, ok := asked[m.Name]
		require.True(t, ok, m.Name)
		full.Call(`1`, m.Name, params)
		answer, ok := full.Recv()
		require.True(t, ok, m.Name)
		if answer.Error != nil {
			assert.Equal(t, -32603, answer.Error.Code, m.Name)
		}
		bare.Call(`1`, m.Name, params)
		answer, ok = bare.Recv()
		require.True(t, ok, m.Name)
		if m.Name != "session/request_permission" {
			require.NotNil(t, answer.Error, m.Name)
			assert.Equal(t, -32601, answer.Error.Code, m.Name)
		}
	}
}

// Every method of the protocol that an agent handles has a caller.
func TestEveryMethodCanBeCalled(t *testing.T) {
	for _, m := range wire.Methods(acp.ProtocolVersion) {
		if m.Side == wire.Agent && !m.Notification {
			assert.Contains(t, calls, m.Name) // and TestCtxOfEveryCall calls it
		}
	}
	c, peer := dial(t, &peertest.Client{}, reckless)
	require.NoError(t, c.Notify(t.Context(), "session/cancel", map[string]string{"sessionId": "s"}))
	peer.Expect("session/cancel")
	require.NoError(t, c.Notify(t.Context(), "mcp/message", map[string]string{"serverId": "s", "requestId": "r", "method": "m"}))
	peer.Expect("mcp/message")
	require.NoError(t, c.Notify(t.Context(), "_note", nil))
	peer.Expect("_note")
}
