package randturns

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/stream"
)

// Check plays the script of a seed to a client of a version. What the client shows must be what
// the script says, and what it shows when the session has been loaded: on the same connection, on
// another one, and by an agent that has opened the store again. Time is that of package synctest.
func Check(t *testing.T, seed uint64, version int, open func(t *testing.T) journal.Store) {
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(seed, 20))
		sc := New(seed, Options{Turns: 1 + r.IntN(5), Slow: []time.Duration{0, 40 * time.Millisecond, 2 * time.Second}[r.IntN(3)]})
		a := sc.agent(open(t))
		c := connected(t, version, a)
		defer func() { stop(t, a, c) }()
		id := c.Open()
		for n, turn := range sc.Turns {
			_ = c.Play(id, turn) // its error is part of the script
			synctest.Wait()      // what follows the end of the turn
			live := c.All(id)
			equal(t, "what was seen live", c.Seen(id), turn.After)
			how := r.IntN(5)
			switch how {
			case 0:
				continue
			case 1:
			case 2:
				c.CloseSession(id)
				old := c
				c = connected(t, version, a)
				old.Close()
			case 3:
				c.Close()
				c = connected(t, version, a)
				synctest.Wait() // the session has left the old connection
			case 4:
				stop(t, a, c)
				a = sc.agent(open(t))
				c = connected(t, version, a)
			}
			if err := c.Load(id); err != nil {
				t.Fatalf("seed %d, turn %d, load %d: %v", seed, n, how, err)
			}
			synctest.Wait()
			equal(t, "what was loaded", c.Seen(id), turn.After)
			same(t, fmt.Sprintf("turn %d, load %d", n, how), c.All(id), live)
		}
	})
}

func (sc *Script) agent(store journal.Store) *kit.Agent {
	o := sc.Kit(nil)
	o.Store, o.Logger = store, quiet
	return kit.New(o)
}

var quiet = slog.New(slog.DiscardHandler)

func connected(t *testing.T, version int, a *kit.Agent) *Client {
	ours, theirs := stream.Pipe()
	go serve.Serve(context.Background(), theirs, a.Agent, &serve.Options{Logger: quiet}) // ends with the connection
	return NewClient(t, version, ours, nil)
}

func stop(t *testing.T, a *kit.Agent, c *Client) {
	if err := a.Close(t.Context()); err != nil {
		t.Error(err)
	}
	c.Close()
}

// equal compares what is seen with what the script says.
func equal(t *testing.T, what string, got, want Seen) {
	t.Helper()
	same(t, what, got.Lines, want.Lines)
	if !slices.Equal(got.Plan, want.Plan) || got.Title != want.Title || got.Mode != want.Mode || got.Model != want.Model || got.Used != want.Used {
		got.Lines, want.Lines = nil, nil
		t.Fatalf("%s: %+v, the script says %+v", what, got, want)
	}
}

// same compares two lists and shows where they begin to differ.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%s differs in line %d:\n%q\nwant\n%q", what, i, got[i:min(i+1, len(got))], want[i:min(i+1, len(want))])
		}
	}
}

// Prefix returns how the lines of a session that a crash has ended differ from a beginning of what the
// script says. The last one may be a message that lacks its end, and calls may be interrupted.
func Prefix(got, want []string) error {
	for i, line := range got {
		call := strings.HasPrefix(line, "call: ")
		switch {
		case i >= len(want):
			return fmt.Errorf("there are more lines than the script has: %q", got[len(want):])
		case line == want[i]:
		case !call && i == len(got)-1 && strings.HasPrefix(want[i], line):
		case call && strings.HasPrefix(want[i], "call: ") && strings.Contains(line, " failed") && strings.Contains(line, "interrupted"):
		default:
			return fmt.Errorf("line %d is %q, and %q in the script", i, line, want[i])
		}
	}
	return nil
}
