package client_test

import (
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// TestMain discards the log of the tests, and plays the agent for the test with real processes.
func TestMain(m *testing.M) {
	if os.Getenv(playAgent) != "" {
		serveStdio()
		return
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// dial returns a started connection to an agent that the test plays.
func dial(t *testing.T, c acp.Client, opts *client.Options) (*client.Conn, *rawpeer.Peer) {
	t.Helper()
	s, peer := rawpeer.Pipe(t)
	return rawpeer.Start(t, client.New(s, func(*client.Conn) acp.Client { return c }, opts)), peer
}

// open is like dial, and initializes the connection. caps is the object that the agent advertises.
func open(t *testing.T, c acp.Client, caps string, opts *client.Options) (*client.Conn, *rawpeer.Peer) {
	t.Helper()
	conn, peer := dial(t, c, opts)
	var agent sync.WaitGroup
	agent.Go(func() { peer.Initialize(caps) }) // ends with the response
	_, err := conn.Initialize(t.Context(), nil)
	require.NoError(t, err)
	agent.Wait()
	return conn, peer
}

// session is like open, and creates a session s1.
func session(t *testing.T, c acp.Client, opts *client.Options) (*client.Session, *rawpeer.Peer) {
	t.Helper()
	conn, peer := open(t, c, `{"loadSession":true,"sessionCapabilities":{"close":{},"delete":{},"resume":{}}}`, opts)
	var agent sync.WaitGroup
	agent.Go(func() { peer.Answer(peer.Expect("session/new"), `{"sessionId":"s1"}`) }) // ends with the response
	s, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
	require.NoError(t, err)
	agent.Wait()
	return s, peer
}

// text returns the text of a message chunk, or the type of another update.
func text(u acp.SessionUpdate) string {
	if m, ok := u.(*acp.AgentMessageChunk); ok {
		return acp.PlainText(m.Content)
	}
	return fmt.Sprintf("%T", u)
}

const endTurn = `{"stopReason":"end_turn"}`

func good(*client.Conn) acp.Client { return &peertest.Client{} }
