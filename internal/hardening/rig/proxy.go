package rig

import (
	"testing"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
)

// Proxied returns the ends of two connections with a proxy between them, which has
// the options of s.
func Proxied(t testing.TB, s Setup) func() (forAgent, forClient stream.Stream) {
	return func() (stream.Stream, stream.Stream) {
		t.Helper()
		forClient, upper := stream.Pipe()
		lower, forAgent := stream.Pipe()
		var below *client.Conn
		s.Agent = func(above *agent.Conn) acp.Agent {
			s.Client = func(*client.Conn) acp.Client { return above }
			below = StartClient(t, lower, s)
			return below
		}
		StartAgent(t, upper, s)
		return forAgent, forClient
	}
}
