package client_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest/v2"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/wire"
)

var reckless = &client.Options{Unstable: true, IgnoreCapabilities: true, CancelGrace: -1}

// connect returns a started connection of any client, and the agent that the test plays.
func connect(t *testing.T, c acp.Client) (*client.Conn, *rawpeer.Peer) {
	t.Helper()
	s, peer := rawpeer.Pipe(t)
	return rawpeer.Start(t, client.New(s, func(*client.Conn) acp.Client { return c }, reckless)), peer
}

// Every method of the protocol is handled if the client implements it, and only then.
func TestEveryMethodIsHandled(t *testing.T) {
	_, full := connect(t, &peertest.FullClient{})
	_, bare := connect(t, &viewer{})
	for _, method := range peertest.Requests(t, wire.Client) {
		full.Call(`"x"`, method, peertest.Params[method])
		res := full.Next()
		assert.Nil(t, res.Error, "%s: %s", method, res.Raw)
		bare.Call(`"x"`, method, peertest.Params[method])
		res = bare.Next()
		missing := res.Error != nil && res.Error.Code == -32601
		assert.Equal(t, method != "session/request_permission", missing, "%s: %s", method, res.Raw)
	}
}

// A call ends with its ctx: before it is sent nothing is sent; while it waits the agent
// receives a notification, and the late response is dropped. After that the next call
// works.
func TestCtxOfEveryCall(t *testing.T) {
	for _, method := range peertest.Requests(t, wire.Agent) {
		t.Run(method, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				leak.Check(t)
				c, peer := connect(t, &viewer{})
				peer.CallEndsWithCtx(c, method, peertest.Params[method], peertest.RawResult(method), "$/cancel_request")
				synctest.Wait()
			})
		})
	}
}
