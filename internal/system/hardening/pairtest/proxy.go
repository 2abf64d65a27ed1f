// Copied to internal/system/hardening/pairtest/v2 by go generate.

package pairtest

import (
	"testing"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
)

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
