package work

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// A Speaker is an Agent that can say a text of the task's own.
type Speaker interface {
	// Say sends an agent_message_chunk.
	Say(ctx context.Context, sessionID, text string) error
}

const (
	// busyStart lets the computing begin before anything is measured.
	busyStart = 30 * time.Millisecond
	// busyThink is how long the agent computes after each update.
	busyThink = 100 * time.Microsecond
	// busyText is the length of a text that says when it was sent.
	busyText = 19
)

// compute keeps every processor of Go's scheduler busy until stop is called.
func compute() (stop func()) {
	var over atomic.Bool
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for n := 1; !over.Load(); n = n*31 + 7 {
			}
		})
	}
	return func() { over.Store(true); wg.Wait() }
}

// sendBusy sends n updates with the time of sending, each followed by a short computation and a
// call of the client, while all processors compute.
func sendBusy(ctx context.Context, a Agent, sessionID string, n int) error {
	s, ok := a.(Speaker)
	if !ok {
		return fmt.Errorf("%T does not take part in busy", a)
	}
	defer compute()()
	time.Sleep(busyStart)
	took := time.Duration(0)
	for i := range n {
		sent := time.Now()
		if err := s.Say(ctx, sessionID, fmt.Sprintf("%0*d", busyText, sent.UnixNano())); err != nil {
			return fmt.Errorf("saying %d: %w", i, err)
		}
		for time.Since(sent) < busyThink {
		}
		called := time.Now()
		if err := a.Sync(ctx, SyncParams{Sent: i + 1, Took: int64(took)}); err != nil {
			return fmt.Errorf("call %d: %w", i, err)
		}
		took = time.Since(called)
	}
	return nil
}

// A Wait has percentiles of a time in seconds.
type Wait struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// Busy is the result of the work "busy".
type Busy struct {
	Update Wait `json:"update"` // from sending to the client's handler
	Call   Wait `json:"call"`   // of the client, from the agent and back
}

// A Clock collects the times of the work "busy".
type Clock struct {
	mu             sync.Mutex // guards both
	updates, calls []time.Duration
}

// Heard records the delay of an update, whose text is the time of sending.
func (c *Clock) Heard(text string) {
	if c == nil {
		return
	}
	sent, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return
	}
	took := time.Since(time.Unix(0, sent))
	c.mu.Lock()
	c.updates = append(c.updates, took)
	c.mu.Unlock()
}

func (c *Clock) called(took int64) {
	if c == nil || took == 0 {
		return
	}
	c.mu.Lock()
	c.calls = append(c.calls, time.Duration(took))
	c.mu.Unlock()
}

// reset forgets the warm-up.
func (c *Clock) reset() {
	if c != nil {
		c.mu.Lock()
		c.updates, c.calls = nil, nil
		c.mu.Unlock()
	}
}

func (c *Clock) result() *Busy {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return &Busy{Update: waitOf(c.updates), Call: waitOf(c.calls)}
}

func waitOf(all []time.Duration) Wait {
	if len(all) == 0 {
		return Wait{}
	}
	all = slices.Sorted(slices.Values(all))
	at := func(p float64) float64 { return all[int(p*float64(len(all)-1))].Seconds() }
	return Wait{P50: at(0.5), P99: at(0.99)}
}
