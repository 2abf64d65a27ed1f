package terminals_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

type withTerminals struct {
	peertest.Client
	*terminals.Terminals
}

func TestOnTheWire(t *testing.T) {
	assert.Equal(t, &acp.ClientCapabilities{Terminal: true}, client.Capabilities(&withTerminals{}))
	h := newRunner(t, nil, nil)
	s, peer := rawpeer.Pipe(t)
	conn := rawpeer.Start(t, client.New(s, func(c *client.Conn) acp.Client { return &withTerminals{Terminals: h.pool.Terminals(c, nil)} }, nil))
	var played sync.WaitGroup
	ask := func(method string, params map[string]any) rawpeer.Message {
		params["sessionId"] = "s"
		raw, err := json.Marshal(params)
		assert.NoError(t, err)
		peer.Send(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, raw)
		m, _ := peer.Recv()
		return m
	}
	create := func(name string, args ...string) (id acp.TerminalID) {
		var res acp.CreateTerminalResponse
		req := play(name, args...)
		m := ask("terminal/create", map[string]any{"command": req.Command, "args": req.Args})
		assert.NoError(t, json.Unmarshal(m.Result, &res))
		return res.TerminalID
	}
	var id acp.TerminalID
	played.Go(func() { // ends with the last answer
		peer.Initialize(`{}`)
		peer.Answer(peer.Expect("session/new"), `{"sessionId":"s"}`)
		id = create("say", "hello", "3")
		assert.JSONEq(t, `{"exitCode":3}`, string(ask("terminal/wait_for_exit", map[string]any{"terminalId": id}).Result))
		assert.JSONEq(t, `{"output":"hello\n","truncated":false,"exitStatus":{"exitCode":3}}`, string(ask("terminal/output", map[string]any{"terminalId": id}).Result))
		assert.JSONEq(t, `{}`, string(ask("terminal/kill", map[string]any{"terminalId": id}).Result))
		assert.JSONEq(t, `{}`, string(ask("terminal/release", map[string]any{"terminalId": id}).Result))
		assert.Equal(t, -32002, ask("terminal/output", map[string]any{"terminalId": id}).Error.Code)
		assert.Equal(t, -32602, ask("terminal/create", map[string]any{"command": "no-such-command"}).Error.Code)
		id = create("wait")
	})
	_, err := conn.Initialize(t.Context(), nil)
	require.NoError(t, err)
	_, err = conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: h.work})
	require.NoError(t, err)
	played.Wait()
	pids := h.pids(id, 1)
	conn.Close()
	require.NoError(t, conn.Wait())
	requireGone(t, pids)
}
