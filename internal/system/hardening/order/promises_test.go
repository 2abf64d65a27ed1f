// Package order checks the promises of order and of responses with random conversations
// between an agent and a client, with and without proxies between them.
// It has no code of its own.
//
// The flag -scripts sets how many conversations are played:
//
//	go test -race ./internal/system/hardening/order -scripts 100000
package order_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/stream"
)

var (
	scripts = flag.Int("scripts", 2000, "how many conversations TestPromises plays")
	seed    = flag.Uint64("seed", 0, "seed of TestPromises; 0: another one each time")
)

func TestMain(m *testing.M) { pairtest.Main(m) }

// Random conversations, with everything that two programs and their proxies can say to
// each other, nested to any depth, given up and cancelled at any time, with queues that
// are nearly always full. The clock of a bubble moves only when all goroutines wait, so
// time that passes reveals a deadlock, also one that a timeout ends.
func TestPromises(t *testing.T) {
	playAll(t, *scripts, pipe, version1)
}

// The same in version 2.
func TestPromisesOfVersion2(t *testing.T) {
	playAll(t, *scripts, pipe, version2)
}

// The promises hold over a network too.
func TestPromisesOverNetworks(t *testing.T) {
	for name, v := range map[string]version{"version 1": version1, "version 2": version2} {
		for _, p := range []profile{overWebSocket, overHTTP, overHTTPResume} {
			t.Run(name+" over "+string(p), func(t *testing.T) {
				playAll(t, *scripts/10, p.connect, v)
			})
		}
	}
}

// playAll plays n conversations, each in a bubble of its own.
func playAll(t *testing.T, n int, link func(*testing.T) (forAgent, forClient stream.Stream), v version) {
	t.Helper()
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("seed %d", *seed)
	for i := range n {
		r := rand.New(rand.NewPCG(*seed, uint64(i)))
		pairtest.Bubble(t, func(t *testing.T) {
			if err := play(t, r, link, v); err != nil {
				t.Fatalf("script %d: %v", i, err)
			}
		})
	}
}

func pipe(*testing.T) (forAgent, forClient stream.Stream) { return stream.Pipe() }

// conn is one of our ends, of any version.
type conn interface {
	Shutdown(context.Context) error
	Close() error
	Wait() error
}

// ends are those of one conversation, and load makes a session known.
type ends struct {
	agent, client conn
	load          func(n int) error
}

// version is what a conversation needs of one version of the protocol.
type version struct {
	// ownTurns: each turn has a session of its own, because a turn of another prompt would
	// end it too.
	ownTurns bool
	connect  func(w *world, t *testing.T, r *rand.Rand, proxies int, link func(*testing.T) (forAgent, forClient stream.Stream)) (*ends, *side)
}

var version1 = version{connect: (*world).connect}

// play plays one conversation.
func play(t *testing.T, r *rand.Rand, link func(*testing.T) (forAgent, forClient stream.Stream), v version) error {
	w := newWorld()
	proxies := max(0, r.IntN(4)-1)
	w.proxied = proxies > 0
	p, top := v.connect(w, t, r, proxies, link)
	script := &writer{Rand: r, ownTurns: v.ownTurns, sessions: 1 + r.IntN(3), calm: r.IntN(3) == 0}
	for n := range script.sessions { // over HTTP nothing arrives of a session that the client does not know
		require.NoError(t, p.load(n))
	}
	begun := time.Now()
	var wg sync.WaitGroup
	depth := 1 + r.IntN(4)
	for range 1 + r.IntN(3) {
		do := script.acts(clientTop, false, r.IntN(script.sessions), depth, 4)
		wg.Go(func() { top.run(context.Background(), do, true) })
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }() // ends with the conversation, or with the connections
	select {
	case <-done:
	case <-time.After(time.Minute):
		return fmt.Errorf("with %d proxies: everybody waits for somebody", proxies)
	}
	took := time.Since(begun)
	time.Sleep(time.Minute) // for work that the script does not wait for
	if err := p.client.Shutdown(context.Background()); err != nil {
		return err
	}
	if proxies > 0 { // they end with their program
		_ = p.agent.Close()
	}
	if err := errors.Join(p.client.Wait(), p.agent.Wait()); err != nil {
		return err
	}
	if err := w.check(); err != nil {
		return fmt.Errorf("with %d proxies: %w", proxies, err)
	}
	if took > 3*time.Second {
		return fmt.Errorf("with %d proxies: it took %s", proxies, took)
	}
	return nil
}

// connect builds the two ends and what lies between them, with small limits.
func (w *world) connect(
	t *testing.T, r *rand.Rand, proxies int, link func(*testing.T) (forAgent, forClient stream.Stream),
) (*ends, *side) {
	limits := func() pairtest.Setup {
		return pairtest.Setup{
			AgentOptions: agent.Options{Limits: acp.Limits{
				MaxHandlers: 1 + r.IntN(8), SendQueue: 1 + r.Int64N(4000), Backlog: 1 + r.Int64N(4000),
			}},
			ClientOptions: client.Options{Limits: acp.Limits{
				MaxHandlers: 1 + r.IntN(8), SendQueue: 1 + r.Int64N(4000), Backlog: 1 + r.Int64N(4000),
			}},
		}
	}
	forAgent, rest := link(t)
	for range proxies {
		rest = pairtest.Proxy(t, rest, limits())
	}
	s := limits()
	s.AgentOptions.Receiving = []acp.Middleware{w.noteCall}
	s.Streams = func() (stream.Stream, stream.Stream) {
		return &wire{forAgent, w, w.agent}, &wire{rest, w, w.other}
	}
	var top *side
	s.Agent = w.agentSide
	s.Client = func(c *client.Conn) acp.Client {
		cl, s := w.clientSide(c)
		top = s
		return cl
	}
	p := pairtest.Connect(t, s)
	require.NotNil(t, top)
	return &ends{p.Agent, p.Client, func(n int) error {
		return pairtest.Err(p.Client.LoadSession(context.Background(), &acp.LoadSessionRequest{SessionID: sessionID(n), Cwd: "/"}))
	}}, top
}
