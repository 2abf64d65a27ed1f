package agent_test

import (
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

// Every method of the protocol that an agent handles has a row if the agent implements its
// interface, and none otherwise.
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
	for _, method := range peertest.Requests(t, wire.Agent) {
		full.Call(`1`, method, peertest.Params[method])
		answer := full.Next()
		assert.Nil(t, answer.Error, "%s: %s", method, answer.Raw)
		bare.Call(`1`, method, peertest.Params[method])
		answer = bare.Next()
		if !baseline[method] {
			require.NotNil(t, answer.Error, method)
			assert.Equal(t, -32601, answer.Error.Code, method)
		}
	}
}

// A call ends with its ctx. If ctx ends before the call is sent, nothing is sent. If the call is in
// flight, the client receives a cancel, and its late response is dropped.
func TestCtxOfEveryCall(t *testing.T) {
	for _, method := range peertest.Requests(t, wire.Client) {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				s, peer := rawpeer.Pipe(t)
				c := rawpeer.Start(t, agent.New(s, good, &agent.Options{Unstable: true, IgnoreCapabilities: true}))
				peer.CallEndsWithCtx(c, method, peertest.Params[method], peertest.RawResult(method), "$/cancel_request")
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
