package work

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A Spec says what to measure.
type Spec struct {
	Work     string `json:"work"` // rtt, rtt64, updates, mixed, spread, read or load
	N        int    `json:"n"`    // messages, calls or reads
	Kind     string `json:"kind,omitempty"`
	Size     int    `json:"size,omitempty"`     // of a read
	Sync     int    `json:"sync,omitempty"`     // the agent calls the client after that many updates
	Sessions int    `json:"sessions,omitempty"` // so many sessions share the updates, each with a prompt unless they are spread
}

// A Result is what one run of a contender prints.
type Result struct {
	Spec
	Contender string   `json:"contender"`
	Wall      float64  `json:"wall"` // seconds
	Client    Counters `json:"client"`
	Agent     Counters `json:"agent"` // zero when both ends share a process
	Text      int64    `json:"text"`  // bytes of text that the client counted
	Failure   string   `json:"failure,omitempty"`

	// Idle connections: bytes and goroutines of one end.
	Heap       float64 `json:"heap,omitempty"`
	Goroutines float64 `json:"goroutines,omitempty"`
}

// warm is the part of a work that runs before the clock starts.
func (s Spec) warm() Spec {
	s.N = max(1, min(s.N/20, 2000))
	s.Sessions = min(s.Sessions, s.N)
	return s
}

// updates is the number of updates that the work makes.
func (s Spec) updates() int {
	switch s.Work {
	case "updates", "mixed":
		return s.N / max(s.Sessions, 1) * max(s.Sessions, 1)
	case "load", "spread":
		return s.N
	}
	return 0
}

// text is the sum of the text lengths of those updates.
func (s Spec) text() int64 {
	n := s.updates()
	if n == 0 {
		return 0
	}
	kind := s.Work
	sessions := max(s.Sessions, 1)
	if kind == "load" || kind == "spread" {
		kind, sessions = "updates", 1
	}
	var sum int64
	lengths := Lengths(kind)
	for i := range n / sessions {
		sum += lengths[i%len(lengths)]
	}
	return sum * int64(sessions)
}

// Measure runs the work once as a warm-up and once against the clock. The clock
// stops when the work's calls have returned and all its updates were counted.
func Measure(ctx context.Context, c Client, env *Env, s Spec, twoProcesses bool) (Result, error) {
	res := Result{Spec: s}
	if err := c.Initialize(ctx); err != nil {
		return res, fmt.Errorf("initialize: %w", err)
	}
	if _, err := run(ctx, c, env, s.warm()); err != nil {
		return res, fmt.Errorf("warming up: %w", err)
	}
	var agent Counters
	var err error
	if twoProcesses {
		if agent, err = c.Mark(ctx); err != nil {
			return res, fmt.Errorf("asking the agent for its counters: %w", err)
		}
	}
	before := Mark(true)
	wall, err := run(ctx, c, env, s)
	if err != nil {
		return res, err
	}
	res.Client = Mark(false).Sub(before)
	res.Wall = wall.Seconds()
	if twoProcesses {
		after, err := c.Mark(ctx)
		if err != nil {
			return res, fmt.Errorf("asking the agent for its counters: %w", err)
		}
		res.Agent = after.Sub(agent)
	}
	res.Text = env.Tally.Length()
	if want := s.text(); res.Text != want || env.Tally.Count() != int64(s.updates()) {
		return res, fmt.Errorf("counted %d updates with %d bytes of text, want %d with %d",
			env.Tally.Count(), res.Text, s.updates(), want)
	}
	return res, nil
}

func run(ctx context.Context, c Client, env *Env, s Spec) (time.Duration, error) {
	env.Tally.Reset(s.updates())
	start := time.Now()
	if err := work(ctx, c, s); err != nil {
		return 0, err
	}
	if err := env.Tally.Wait(ctx); err != nil {
		return 0, err
	}
	return time.Since(start), nil
}

func work(ctx context.Context, c Client, s Spec) error {
	switch s.Work {
	case "rtt":
		return setModes(ctx, c, s.N, 1)
	case "rtt64":
		return setModes(ctx, c, s.N, 64)
	case "updates", "mixed":
		return prompts(ctx, c, s)
	case "spread":
		return c.Prompt(ctx, SessionID, fmt.Sprintf("spread %d %d", s.N, max(s.Sessions, 1)))
	case "read":
		return c.Prompt(ctx, SessionID, fmt.Sprintf("read %s %d %d", s.Kind, s.Size, s.N))
	case "load":
		return c.Load(ctx, fmt.Sprintf("load-%d", s.N))
	}
	return fmt.Errorf("unknown work %q", s.Work)
}

// setModes makes n calls with that many of them under way at any time.
func setModes(ctx context.Context, c Client, n, inFlight int) error {
	return side(inFlight, func(worker int) error {
		for range share(n, inFlight, worker) {
			if err := c.SetMode(ctx, SessionID, ModeID); err != nil {
				return err
			}
		}
		return nil
	})
}

// prompts runs one prompt in each session; together they send N updates.
func prompts(ctx context.Context, c Client, s Spec) error {
	sessions := max(s.Sessions, 1)
	task := fmt.Sprintf("%s %d %d", s.Work, s.N/sessions, s.Sync)
	return side(sessions, func(worker int) error {
		return c.Prompt(ctx, sessionID(worker), task)
	})
}

// sessionID names one of several sessions; all names have the same length.
func sessionID(i int) string {
	if i == 0 {
		return SessionID
	}
	return fmt.Sprintf("sess_%016x", i)
}

// side runs f(0) to f(n-1) side by side and returns one of their errors.
func side(n int, f func(worker int) error) error {
	if n == 1 {
		return f(0)
	}
	errs := make(chan error, n)
	var wg sync.WaitGroup
	for worker := range n {
		wg.Go(func() { // ends with f
			if err := f(worker); err != nil {
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}

func share(n, workers, worker int) int {
	k := n / workers
	if worker < n%workers {
		k++
	}
	return k
}
