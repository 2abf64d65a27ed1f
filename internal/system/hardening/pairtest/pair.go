package pairtest

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
)

// Setup says what is connected. The zero value is a full agent and a full client of
// peertest that do nothing of their own, over a pipe.
type Setup struct {
	Agent         func(*agent.Conn) acp.Agent
	Client        func(*client.Conn) acp.Client
	AgentOptions  agent.Options
	ClientOptions client.Options
	// Streams are the agent's and the client's end.
	Streams func() (forAgent, forClient stream.Stream)
}

// Pair is an agent and a client that are connected.
type Pair struct {
	Agent  *agent.Conn
	Client *client.Conn
}

// Connect connects an agent and a client and goes through the handshake. Both are
// closed when the test ends, and must end cleanly within their graces.
func Connect(t testing.TB, s Setup) *Pair {
	t.Helper()
	p := Start(t, s)
	_, err := p.Client.Initialize(context.Background(), nil)
	require.NoError(t, err)
	return p
}

// Start is Connect without the handshake.
func Start(t testing.TB, s Setup) *Pair {
	t.Helper()
	if s.Streams == nil {
		s.Streams = stream.Pipe
	}
	forAgent, forClient := s.Streams()
	return &Pair{Agent: StartAgent(t, forAgent, s), Client: StartClient(t, forClient, s)}
}

// StartAgent starts the agent's end alone, for a client played by hand.
func StartAgent(t testing.TB, over stream.Stream, s Setup) *agent.Conn {
	t.Helper()
	if s.Agent == nil {
		s.Agent = func(*agent.Conn) acp.Agent { return &peertest.FullAgent{} }
	}
	o := s.AgentOptions
	o.Unstable, o.IgnoreCapabilities = true, true
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return rawpeer.Start(t, agent.New(over, s.Agent, &o))
}

// StartClient starts the client's end alone, for an agent played by hand.
func StartClient(t testing.TB, over stream.Stream, s Setup) *client.Conn {
	t.Helper()
	if s.Client == nil {
		s.Client = func(*client.Conn) acp.Client { return &peertest.FullClient{} }
	}
	o := s.ClientOptions
	o.Unstable, o.IgnoreCapabilities = true, true
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return rawpeer.Start(t, client.New(over, s.Client, &o))
}

// Proxy puts a proxy, with the options of s, before the agent that is reached over
// toAgent, and returns the stream for its client.
func Proxy(t testing.TB, toAgent stream.Stream, s Setup) (toProxy stream.Stream) {
	t.Helper()
	toProxy, upper := stream.Pipe()
	var below *client.Conn
	s.Agent = func(above *agent.Conn) acp.Agent {
		s.Client = func(*client.Conn) acp.Client { return above }
		below = StartClient(t, toAgent, s)
		return below
	}
	StartAgent(t, upper, s)
	return toProxy
}

// Proxied returns the ends of two connections with a proxy between them, which has
// the options of s.
func Proxied(t testing.TB, s Setup) func() (forAgent, forClient stream.Stream) {
	return func() (stream.Stream, stream.Stream) {
		t.Helper()
		forAgent, lower := stream.Pipe()
		return forAgent, Proxy(t, lower, s)
	}
}
