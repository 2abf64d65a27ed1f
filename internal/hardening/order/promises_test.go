package order_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/hardening/rig"
	"github.com/acpkit/go-sdk/stream"
)

var (
	scripts = flag.Int("scripts", 2000, "how many conversations TestPromises plays")
	seed    = flag.Uint64("seed", 0, "seed of TestPromises; 0: another one each time")
)

// TestMain keeps what the tests provoke out of their output.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// Random conversations, with everything that two programs and their proxies can say to
// each other, nested to any depth, given up and cancelled at any time, with queues that
// are nearly always full. The clock of a bubble moves only when all goroutines wait, so
// a circle of waiting shows in the time that passes, also one that a timeout breaks.
func TestPromises(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("seed %d", *seed)
	for i := range *scripts {
		r := rand.New(rand.NewPCG(*seed, uint64(i)))
		rig.Bubble(t, func(t *testing.T) {
			if err := play(t, r); err != nil {
				t.Fatalf("script %d: %v", i, err)
			}
		})
	}
}

// play plays one conversation.
func play(t *testing.T, r *rand.Rand) error {
	w := newWorld()
	proxies := max(0, r.IntN(4)-1)
	p, top := w.connect(t, r, proxies)
	script := &writer{Rand: r, sessions: 1 + r.IntN(3), calm: r.IntN(3) == 0}
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
	time.Sleep(time.Minute) // what nobody waits for
	if err := p.Client.Shutdown(context.Background()); err != nil {
		return err
	}
	if proxies > 0 { // they end with their program
		_ = p.Agent.Close()
	}
	if err := errors.Join(p.Client.Wait(), p.Agent.Wait()); err != nil {
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
func (w *world) connect(t *testing.T, r *rand.Rand, proxies int) (*rig.Pair, *side) {
	limits := func() rig.Setup {
		return rig.Setup{
			AgentOptions: agent.Options{Limits: agent.Limits{
				MaxHandlers: 1 + r.IntN(8), SendQueue: 1 + r.Int64N(4000), Backlog: 1 + r.Int64N(4000),
			}},
			ClientOptions: client.Options{Limits: client.Limits{
				MaxHandlers: 1 + r.IntN(8), SendQueue: 1 + r.Int64N(4000), Backlog: 1 + r.Int64N(4000),
			}},
		}
	}
	forAgent, rest := stream.Pipe()
	for range proxies {
		rest = rig.Proxy(t, rest, limits())
	}
	s := limits()
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
	p := rig.Connect(t, s)
	require.NotNil(t, top)
	return p, top
}
