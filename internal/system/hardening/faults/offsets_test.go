package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/stream"
)

var stride = flag.Int("stride", 0, "distance between the offsets at which the peer dies; 0: 1 for the first way to die, and more for the others and under the race detector")

// death is a way in which a peer ends.
type death struct {
	name string
	// read is what reading its output gives at the end, nil for the end of input.
	read error
	// deaf reports whether it has stopped reading too, so that writing to it fails.
	deaf bool
}

var errReset = errors.New("connection reset by peer")

var deaths = []death{
	{"killed", nil, true},
	{"reset", errReset, true},
	{"closed its output", nil, false},
}

// actor plays one end of the recording until it has written so many bytes. It writes a frame
// after it has read all that came before it.
type actor struct {
	rec   recording
	agent bool // which side it plays
	bytes int
	end   death

	in  *io.PipeReader // what the side under test says
	out *io.PipeWriter
}

func (a *actor) play() {
	heard := stream.Lines(a.in, nil, nil)
	left := a.bytes
	for _, f := range a.rec {
		if f.fromAgent != a.agent {
			if _, err := heard.Read(); err != nil {
				break
			}
			continue
		}
		n := min(left, len(f.line))
		if _, err := a.out.Write(f.line[:n]); err != nil {
			break
		}
		if left -= n; n < len(f.line) {
			break
		}
	}
	if a.end.deaf {
		a.in.CloseWithError(io.ErrClosedPipe)
	}
	_ = a.out.CloseWithError(a.end.read) // nil is the end of input
	for {
		if _, err := heard.Read(); err != nil {
			return
		}
	}
}

// start returns the stream for the side under test.
func (a *actor) start() stream.Stream {
	r1, w1 := io.Pipe()
	r2, w2 := io.Pipe()
	a.in, a.out = r2, w1
	go a.play() // ends when the side under test closes its stream
	return stream.Lines(r1, w2, &stream.LinesOptions{Tolerant: !a.agent})
}

// arrived counts what of the side's output the other one could read: the answers to
// its calls, and notifications. At the end of input a last line may lack its line
// feed.
func (a *actor) arrived() (answers, notes int) {
	left, feed := a.bytes, 0
	if a.end.read == nil {
		feed = 1
	}
	for _, f := range a.rec {
		if f.fromAgent != a.agent {
			continue
		}
		if left < len(f.line)-feed {
			break
		}
		left -= len(f.line)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(f.line, &m)
		switch {
		case m.Method == "":
			answers++
		case m.ID == nil:
			notes++
		}
	}
	return answers, notes
}

// check compares the outcome at the end under test with what could arrive there.
func (a *actor) check(how *course, run error) error {
	answers, notes := a.arrived()
	if !a.end.deaf && a.end.read == nil && run != nil {
		return fmt.Errorf("Run returned %w at the end of input", run)
	}
	if run != nil && !errors.Is(run, acp.ErrClosed) {
		return fmt.Errorf("Run returned %w", run)
	}
	if how.notes != notes {
		return fmt.Errorf("%d notifications arrived, %d were handled", notes, how.notes)
	}
	for i, err := range how.calls {
		switch {
		case i < answers && err != nil:
			return fmt.Errorf("the answer of call %d arrived, but it returned: %w", i+1, err)
		case i >= answers && !errors.Is(err, acp.ErrClosed):
			return fmt.Errorf("call %d returned %w", i+1, err)
		}
	}
	if len(how.calls) < answers {
		return fmt.Errorf("%d calls were answered, %d returned", answers, len(how.calls))
	}
	return nil
}

// The agent ends after each byte that it writes.
func TestAgentDies(t *testing.T) {
	died := func(t *testing.T, c conn) error {
		err := c.Wait()
		if c.Err() == nil || !errors.Is(c.Err(), acp.ErrClosed) {
			t.Errorf("Err returned %v", c.Err())
		}
		return err
	}
	t.Run("version 1", func(t *testing.T) {
		rec, _, _ := record(t)
		eachOffset(t, rec, true, func(t *testing.T, s stream.Stream, how *course) error {
			c := client.New(s, newClient(how), &client.Options{Unstable: true, IgnoreCapabilities: true})
			require.NoError(t, c.Start(context.Background()))
			_ = talk(context.Background(), c, how)
			return died(t, c)
		})
	})
	t.Run("version 2", func(t *testing.T) {
		eachOffset(t, record2(t), true, func(t *testing.T, s stream.Stream, how *course) error {
			c := client2.New(s, newClient2(how), &client2.Options{Unstable: true, IgnoreCapabilities: true})
			require.NoError(t, c.Start(context.Background()))
			_ = talk2(context.Background(), c, how)
			return died(t, c)
		})
	})
}

// The client ends after each byte that it writes.
func TestClientDies(t *testing.T) {
	t.Run("version 1", func(t *testing.T) {
		rec, _, _ := record(t)
		eachOffset(t, rec, false, func(t *testing.T, s stream.Stream, how *course) error {
			c := agent.New(s, newAgent(how), &agent.Options{Unstable: true, IgnoreCapabilities: true})
			return c.Run(context.Background())
		})
	})
	t.Run("version 2", func(t *testing.T) {
		eachOffset(t, record2(t), false, func(t *testing.T, s stream.Stream, how *course) error {
			c := agent2.New(s, newAgent2(how), &agent2.Options{Unstable: true, IgnoreCapabilities: true})
			return c.Run(context.Background())
		})
	})
}

func eachOffset(t *testing.T, rec recording, agentDies bool, run func(*testing.T, stream.Stream, *course) error) {
	t.Helper()
	total, both := 0, 0
	for _, f := range rec {
		both += len(f.line)
		if f.fromAgent == agentDies {
			total += len(f.line)
		}
	}
	t.Logf("%d bytes of %d", total, both)
	require.Greater(t, both, 12_000)
	require.Greater(t, total, 2500)
	for i, end := range deaths {
		step := *stride
		switch {
		case step == 0 && pairtest.Race:
			step = 29
		case step == 0:
			step = 1 + 6*i
		}
		first := rand.IntN(step) // so that every offset has its turn
		t.Run(end.name, func(t *testing.T) {
			t.Parallel()
			t.Logf("from offset %d in steps of %d", first, step)
			// Many in one bubble, because the look for goroutines takes its time.
			const many = 50
			for from := first; from < total; from += many * step {
				synctest.Test(t, func(t *testing.T) {
					leak.Check(t)
					for n := from; n < min(total, from+many*step); n += step {
						how := &course{}
						a := &actor{rec: rec, agent: agentDies, bytes: n, end: end}
						err := run(t, a.start(), how)
						if err := a.check(how, err); err != nil {
							t.Errorf("died after %d bytes, in %s: %v", n, a.frame(), err)
						}
					}
				})
			}
		})
	}
}

// frame returns the frame in which the actor ended.
func (a *actor) frame() string {
	left := a.bytes
	for _, f := range a.rec {
		if f.fromAgent != a.agent {
			continue
		}
		if left < len(f.line) {
			return fmt.Sprintf("%.80s", bytes.TrimSpace(f.line))
		}
		left -= len(f.line)
	}
	return strings.Repeat("-", 3)
}
