package faults_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// protocol is one version of the protocol, as far as tests of single handlers need it. All
// methods of its roles call do.
type protocol struct {
	version     int
	params      map[string]string // of every request
	requests    func(t testing.TB, side wire.Side) []string
	notes       map[wire.Side]map[string]string
	startAgent  func(t testing.TB, s stream.Stream, do peertest.Do, o endOptions) conn
	startClient func(t testing.TB, s stream.Stream, do peertest.Do, o endOptions) conn
	// converse starts both ends for the conversation of record. talk holds it.
	converse func(t testing.TB, forAgent, forClient stream.Stream, agentSide, clientSide *course) (a, c conn, talk func() error)
}

// notes are params of the notifications that each end receives.
func notes(update string) map[wire.Side]map[string]string {
	return map[wire.Side]map[string]string{
		wire.Agent: {
			"session/cancel": `{"sessionId":"s"}`,
			"mcp/message":    `{"serverId":"s","requestId":"r","method":"notifications/progress"}`,
			"_note":          `{"n":1}`,
		},
		wire.Client: {
			"session/update":       `{"sessionId":"s","update":` + update + `}`,
			"elicitation/complete": `{"elicitationId":"e"}`,
			"auth/status_update":   `{"state":"authenticated"}`,
			"_note":                `{"n":1}`,
		},
	}
}

// goesOn checks that the end whose peer the test plays still handles requests.
func goesOn(t *testing.T, peer *rawpeer.Peer, after string) {
	t.Helper()
	peer.Call("1", "_extension", "[1]")
	answer, ok := peer.Recv()
	require.True(t, ok)
	assert.JSONEq(t, "[1]", string(answer.Result), after)
}

// endOptions are the options of either end.
type endOptions struct {
	log       *slog.Logger
	receiving []acp.Middleware
}

var protocols = []*protocol{
	{
		version: 1, params: peertest.Params, requests: peertest.Requests,
		notes: notes(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}`),
		startAgent: func(t testing.TB, s stream.Stream, do peertest.Do, o endOptions) conn {
			own := agent.Options{Receiving: o.receiving, Logger: o.log}
			return pairtest.StartAgent(t, s, pairtest.Setup{Agent: func(*agent.Conn) acp.Agent { return &peertest.FullAgent{Do: do} }, AgentOptions: own})
		},
		startClient: func(t testing.TB, s stream.Stream, do peertest.Do, o endOptions) conn {
			own := client.Options{Receiving: o.receiving, Logger: o.log}
			return pairtest.StartClient(t, s, pairtest.Setup{Client: func(*client.Conn) acp.Client { return &peertest.FullClient{Do: do} }, ClientOptions: own})
		},
		converse: func(t testing.TB, forAgent, forClient stream.Stream, agentSide, clientSide *course) (conn, conn, func() error) {
			p := pairtest.Start(t, pairtest.Setup{
				Agent: newAgent(agentSide), Client: newClient(clientSide),
				Streams: func() (stream.Stream, stream.Stream) { return forAgent, forClient },
			})
			return p.Agent, p.Client, func() error { return talk(context.Background(), p.Client, clientSide) }
		},
	},
	{
		version: 2, params: peertest2.Params,
		requests: func(t testing.TB, side wire.Side) []string {
			// It must not be repeated after another request.
			return slices.DeleteFunc(peertest2.Requests(t, side), func(name string) bool { return name == acp2.MethodInitialize })
		},
		notes: notes(`{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"x"}}`),
		startAgent: func(t testing.TB, s stream.Stream, do peertest.Do, o endOptions) conn {
			own := agent2.Options{Receiving: o.receiving, Logger: o.log}
			return pairtest2.StartAgent(t, s, pairtest2.Setup{Agent: func(*agent2.Conn) acp2.Agent { return &peertest2.FullAgent{Do: do} }, AgentOptions: own})
		},
		startClient: func(t testing.TB, s stream.Stream, do peertest.Do, o endOptions) conn {
			own := client2.Options{Receiving: o.receiving, Logger: o.log}
			return pairtest2.StartClient(t, s, pairtest2.Setup{Client: func(*client2.Conn) acp2.Client { return &peertest2.FullClient{Do: do} }, ClientOptions: own})
		},
		converse: func(t testing.TB, forAgent, forClient stream.Stream, agentSide, clientSide *course) (conn, conn, func() error) {
			p := pairtest2.Start(t, pairtest2.Setup{
				Agent: newAgent2(agentSide), Client: newClient2(clientSide),
				Streams: func() (stream.Stream, stream.Stream) { return forAgent, forClient },
			})
			return p.Agent, p.Client, func() error { return talk2(context.Background(), p.Client, clientSide) }
		},
	},
}

// start starts one side, initialized, and returns its peer.
func (v *protocol) start(t testing.TB, side wire.Side, do peertest.Do, o endOptions) (conn, *rawpeer.Peer) {
	t.Helper()
	s, peer := rawpeer.Pipe(t)
	if side == wire.Client {
		c := v.startClient(t, s, do, o)
		if c, ok := c.(*client2.Conn); ok { // it waits for the version
			initialize2(t, c, peer)
		}
		return c, peer
	}
	c := v.startAgent(t, s, do, o)
	peer.Call("0", "initialize", v.params["initialize"])
	_, ok := peer.Recv()
	require.True(t, ok)
	return c, peer
}

// initialize2 initializes a client of version 2 whose agent is played by hand.
func initialize2(t testing.TB, c *client2.Conn, peer *rawpeer.Peer) {
	t.Helper()
	initialized := make(chan error, 1)
	go func() { _, err := c.Initialize(t.Context(), nil); initialized <- err }() // ends with the response
	peer.Answer(peer.Expect("initialize"), `{"protocolVersion":2,"info":{"name":"a","version":"1"}}`)
	require.NoError(t, <-initialized)
}

// startClient2 starts a client of version 2 and initializes it.
func startClient2(t testing.TB, s pairtest2.Setup) (*client2.Conn, *rawpeer.Peer) {
	t.Helper()
	over, peer := rawpeer.Pipe(t)
	c := pairtest2.StartClient(t, over, s)
	initialize2(t, c, peer)
	return c, peer
}

var sideNames = map[wire.Side]string{wire.Agent: "agent", wire.Client: "client"}

// eachVersion runs a test for each version.
func eachVersion(t *testing.T, test func(t *testing.T, v *protocol)) {
	for _, v := range protocols {
		t.Run(fmt.Sprint("version ", v.version), func(t *testing.T) { test(t, v) })
	}
}

// eachSide runs a test in a bubble for each side of each version.
func eachSide(t *testing.T, name string, test func(t *testing.T, v *protocol, side wire.Side)) {
	for _, v := range protocols {
		for _, side := range []wire.Side{wire.Agent, wire.Client} {
			t.Run(fmt.Sprintf("%s, %s of version %d", name, sideNames[side], v.version), func(t *testing.T) {
				pairtest.Bubble(t, func(t *testing.T) { test(t, v, side) })
			})
		}
	}
}
