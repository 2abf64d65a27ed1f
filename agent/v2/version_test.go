package agent_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

const okay = `"result":{"protocolVersion":2,"info":{"name":"scripted","version":"1"},"capabilities":{"session":{}}}`

// initialize is judged by the version that it requests and by what was read before it.
func TestInitialize(t *testing.T) {
	rawpeer.Dialogues(t, "testdata/initialize.txtar", func(t *testing.T) (*rawpeer.Peer, func()) {
		r, end := connect(t, &scripted{})
		return r.Peer, end
	})
}

// The place of a repeated initialize counts, not the time at which it is handled.
func TestRepeatedInitializeBehindARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &scripted{initialize: make(chan struct{})}
		r, end := connect(t, a)
		const init = `{"jsonrpc":"2.0","id":%q,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`
		r.Send(init, "first")
		r.Send(init, "second") // there is no other request before it
		r.Send(`{"jsonrpc":"2.0","id":"other","method":"_x/unknown"}`)
		r.Send(init, "third")
		r.ExpectJSON(`{"jsonrpc":"2.0","id":"third","error":{"code":-32600,"message":"Invalid request: a repeated initialize must come before every other request"}}`)
		close(a.initialize)
		r.ExpectJSON(`{"jsonrpc":"2.0","id":"first",` + okay + `}`)
		got := map[string]bool{r.read(): true, r.read(): true}
		assert.Equal(t, map[string]bool{`response "second"`: true, `error "other" -32601`: true}, got)
		end()
	})
}

// Nothing can be cancelled of an agent that does not say so.
func TestCancelOfOneItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, end := connect(t, &scripted{})
		r.Send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`)
		r.want("response 1")
		r.Send(`{"jsonrpc":"2.0","id":2,"method":"tool_call/cancel","params":{"sessionId":"s1","toolCallId":"t1"}}`)
		r.want("error 2 -32602")
		r.Send(`{"jsonrpc":"2.0","id":3,"method":"terminal/cancel","params":{"sessionId":"s1","terminalId":"t1"}}`)
		r.want("error 3 -32602")
		end()
	})
}

// connect starts a connection with the agent, and returns the other end of it.
func connect(t *testing.T, a *scripted) (r *raw, end func()) {
	near, far := rawpeer.Pipe(t)
	conn := agent.New(near, func(conn *agent.Conn) acp.Agent { a.conn = conn; return a }, &agent.Options{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, conn.Start(context.WithoutCancel(t.Context())))
	return &raw{far, t}, func() {
		far.Close()
		require.NoError(t, conn.Wait())
	}
}
