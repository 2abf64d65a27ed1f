package client_test

import (
	"context"
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

func TestConnect(t *testing.T) {
	leak.Check(t)
	newClient := func(*client.Conn) acp.Client { return &peertest.Client{} }
	t.Run("ready for sessions", func(t *testing.T) {
		s, peer := rawpeer.Pipe(t)
		go func() { // ends with the response
			peer.Initialize(`{}`)
			peer.Answer(peer.Expect("session/new"), `{"sessionId":"s1"}`)
		}()
		c, err := client.Connect(t.Context(), s, newClient, nil)
		require.NoError(t, err)
		session, err := c.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
		require.NoError(t, err)
		assert.Equal(t, acp.SessionID("s1"), session.ID())
		require.NoError(t, c.Close())
		require.NoError(t, c.Wait())
	})
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

func TestZeroConnIsRefused(t *testing.T) {
	var c client.Conn
	_, err := c.ListSessions(t.Context(), nil)
	assert.ErrorContains(t, err, "made by New")
	assert.ErrorContains(t, c.Cancel(t.Context(), nil), "made by New")
	assert.ErrorContains(t, c.AuthenticateAndRetry(t.Context(), nil, nil), "nil call")
	assert.Error(t, c.Run(context.Background()))
}
