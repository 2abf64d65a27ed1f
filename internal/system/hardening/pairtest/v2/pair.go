// Package pairtest connects an agent and a client of version 2 for the hardening tests, over
// any stream, directly or through a proxy. Its names mean what they mean for version 1.
package pairtest

import (
	"cmp"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/stream"
)

// Setup says what is connected. The zero value is a full agent and a full client over a pipe.
type Setup struct {
	Agent         func(*agent.Conn) acp.Agent
	Client        func(*client.Conn) acp.Client
	AgentOptions  agent.Options
	ClientOptions client.Options
	Streams       func() (forAgent, forClient stream.Stream)
}

// Pair is an agent and a client that are connected.
type Pair struct {
	Agent  *agent.Conn
	Client *client.Conn
}

var discard = slog.New(slog.DiscardHandler)

// Connect connects an agent and a client and goes through the handshake.
func Connect(t testing.TB, s Setup) *Pair {
	t.Helper()
	p := Start(t, s)
	_, err := p.Client.Initialize(t.Context(), nil)
	require.NoError(t, err)
	return p
}

// Start is Connect without the handshake.
func Start(t testing.TB, s Setup) *Pair {
	t.Helper()
	connect := s.Streams
	if connect == nil {
		connect = stream.Pipe
	}
	forAgent, forClient := connect()
	return &Pair{StartAgent(t, forAgent, s), StartClient(t, forClient, s)}
}

// StartAgent starts the agent's end alone, for a client played by hand.
func StartAgent(t testing.TB, over stream.Stream, s Setup) *agent.Conn {
	t.Helper()
	newAgent, o := s.Agent, s.AgentOptions
	if newAgent == nil {
		newAgent = func(*agent.Conn) acp.Agent { return &peertest.FullAgent{} }
	}
	o.Unstable, o.IgnoreCapabilities, o.Logger = true, true, cmp.Or(o.Logger, discard)
	return rawpeer.Start(t, agent.New(over, newAgent, &o))
}

// StartClient starts the client's end alone, for an agent played by hand.
func StartClient(t testing.TB, over stream.Stream, s Setup) *client.Conn {
	t.Helper()
	newClient, o := s.Client, s.ClientOptions
	if newClient == nil {
		newClient = func(*client.Conn) acp.Client { return &peertest.FullClient{} }
	}
	o.Unstable, o.IgnoreCapabilities, o.Logger = true, true, cmp.Or(o.Logger, discard)
	return rawpeer.Start(t, client.New(over, newClient, &o))
}

// Proxy puts a proxy before the agent that is reached over toAgent, and returns the stream for its
// client.
func Proxy(t testing.TB, toAgent stream.Stream, s Setup) stream.Stream {
	t.Helper()
	toProxy, upper := stream.Pipe()
	s.Agent = func(above *agent.Conn) acp.Agent {
		s.Client = func(*client.Conn) acp.Client { return above }
		return StartClient(t, toAgent, s)
	}
	StartAgent(t, upper, s)
	return toProxy
}

// Proxied returns the ends of two connections with a proxy between them.
func Proxied(t testing.TB, s Setup) func() (forAgent, forClient stream.Stream) {
	return func() (stream.Stream, stream.Stream) {
		t.Helper()
		forAgent, lower := stream.Pipe()
		return forAgent, Proxy(t, lower, s)
	}
}
