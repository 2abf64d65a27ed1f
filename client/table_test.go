package client_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Every method of the protocol that a client handles has a row if the client implements its
// interface, and none otherwise.
func TestEveryMethodIsHandled(t *testing.T) {
	_, full := open(t, &peertest.FullClient{}, `{}`, &client.Options{Unstable: true})
	_, bare := open(t, &peertest.Client{}, `{}`, nil)
	for _, method := range peertest.Requests(t, wire.Client) {
		full.Call(`1`, method, peertest.Params[method])
		answer := full.Next()
		assert.Nil(t, answer.Error, "%s: %s", method, answer.Raw)
		bare.Call(`1`, method, peertest.Params[method])
		answer = bare.Next()
		if method != "session/request_permission" {
			require.NotNil(t, answer.Error, method)
			assert.Equal(t, -32601, answer.Error.Code, method)
		}
	}
}

// Every notification that an agent handles can be sent. TestCtxOfEveryCall covers the requests.
func TestEveryNotificationCanBeSent(t *testing.T) {
	c, peer := dial(t, &peertest.Client{}, reckless)
	require.NoError(t, c.Notify(t.Context(), "session/cancel", map[string]string{"sessionId": "s"}))
	peer.Expect("session/cancel")
	require.NoError(t, c.Notify(t.Context(), "mcp/message", map[string]string{"serverId": "s", "requestId": "r", "method": "m"}))
	peer.Expect("mcp/message")
	require.NoError(t, c.Notify(t.Context(), "_note", nil))
	peer.Expect("_note")
}
