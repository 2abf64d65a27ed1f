package acptest

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acptest/internal/agents"
	"github.com/acpkit/go-sdk/acptest/internal/check"
	"github.com/acpkit/go-sdk/acptest/internal/clients"
	"github.com/acpkit/go-sdk/acptest/internal/defect"
	"github.com/acpkit/go-sdk/acptest/internal/reference"
)

// delayed returns the target with each message of the peer coming later.
func delayed(target check.Target, by time.Duration) check.Target {
	open := target.Open
	target.Open = func(ctx context.Context, cwd string) (check.Link, error) {
		link, err := open(ctx, cwd)
		if err != nil {
			return nil, err
		}
		l := &late{Link: link, lines: make(chan arrival, 1<<12), done: make(chan struct{}), by: by}
		go l.pump() // ends with the link
		return l, nil
	}
	return target
}

type arrival struct {
	line []byte
	err  error
	at   time.Time
}

// late is a link whose messages come later than they were sent.
type late struct {
	check.Link
	lines chan arrival
	by    time.Duration
	once  sync.Once
	done  chan struct{}
}

func (l *late) pump() {
	for {
		line, err := l.Link.Read()
		select {
		case l.lines <- arrival{append([]byte(nil), line...), err, time.Now().Add(l.by)}:
		case <-l.done:
			return
		}
		if err != nil {
			return
		}
	}
}

func (l *late) Read() ([]byte, error) {
	select {
	case a := <-l.lines:
		select {
		case <-time.After(time.Until(a.at)):
		case <-l.done:
		}
		return a.line, a.err
	case <-l.done:
		return nil, context.Canceled
	}
}

func (l *late) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Link.Close()
}

// Time is the checker's: no check fails because each message of a peer that is right comes late.
func TestSlowPeers(t *testing.T) {
	for _, by := range []time.Duration{2 * time.Second, 12 * time.Second} {
		for _, version := range []int{1, 2} {
			for name, suite := range map[string]check.Suite{"agent": agents.Suite(), "client": clients.Suite()} {
				t.Run(fmt.Sprintf("%s of version %d by %v", name, version, by), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						opts := &check.Options{Version: version, Cwd: t.TempDir(), Few: true}
						if name == "client" {
							opts.Skip = map[string]string{"AKC-OUTSIDE-006": "It changes a symlink without a pause: in a bubble no time passes."}
						}
						target := check.InMemory(reference.Client{Cwd: opts.Cwd}.Run)
						if name == "agent" {
							target, opts.Prompts, opts.Auth = check.InMemory(reference.NewAgent(streamed)), reference.Prompts, "key"
						}
						unfailing(t, suite.Run(t.Context(), delayed(target, by), opts))
					})
				})
			}
		}
	}
}

// prompt returns the target with the check going on only when the peer has done all that a message
// makes it do. It is for a bubble.
func prompt(target check.Target) check.Target {
	open := target.Open
	target.Open = func(ctx context.Context, cwd string) (check.Link, error) {
		link, err := open(ctx, cwd)
		return &settled{Link: link, done: make(chan struct{})}, err
	}
	return target
}

// settled is a link whose messages have had their effect when they are written.
type settled struct {
	check.Link
	once sync.Once
	done chan struct{}
}

func (l *settled) Write(b []byte) error {
	err := l.Link.Write(b)
	select {
	case <-time.After(time.Millisecond): // in a bubble: when everything waits
	case <-l.done:
	}
	return err
}

func (l *settled) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Link.Close()
}

// What a peer must not send is found also if it comes before the check does anything else.
func TestPromptPeer(t *testing.T) {
	suite := agents.Suite()
	i := slices.IndexFunc(defect.Agents, func(d defect.Defect) bool { return d.Name == "cancels_what_has_ended" })
	for _, version := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			opts := &check.Options{Version: version, Cwd: t.TempDir(), Prompts: reference.Prompts, Few: true, Only: []string{"AK-RPC-008"}}
			target := prompt(defect.Wrap(check.InMemory(reference.NewAgent(streamed)), &defect.Agents[i], reference.Prompts))
			compare(t, &defect.Agents[i], suite, check.Memory, func() *check.Report { return suite.Run(t.Context(), target, opts) })
		})
	}
}

// unfailing checks that no check fails, and that not many are inconclusive.
func unfailing(t *testing.T, report *check.Report) {
	inconclusive := 0
	for _, r := range report.Results {
		assert.NotEqual(t, check.Fail, r.Verdict, "%s: %s\n  sent %s\n  read %s", r.ID, r.Reason, r.Sent, r.Read)
		if r.Verdict == check.Inconclusive {
			inconclusive++
			t.Logf("%s: %s", r.ID, r.Reason)
		}
	}
	assert.Less(t, inconclusive, len(report.Results)/10)
}

var busy = flag.Int("busy", 0, "run the checks against their references beside so many loops that never rest")

// A machine that is busy makes no check fail. It is for -busy.
func TestBusyMachine(t *testing.T) {
	if *busy == 0 {
		t.Skip("-busy is not set: this test takes the processors of the machine for itself")
	}
	var over atomic.Bool
	defer over.Store(true)
	for range *busy {
		go func() { // ends with the test
			runtime.LockOSThread()
			for !over.Load() {
			}
		}()
	}
	for name, suite := range map[string]check.Suite{"agent": agents.Suite(), "client": clients.Suite()} {
		t.Run(name, func(t *testing.T) {
			opts := &check.Options{Version: 1, Cwd: t.TempDir()}
			target := check.InMemory(reference.Client{Cwd: opts.Cwd}.Run)
			if name == "agent" {
				target, opts.Prompts = check.InMemory(reference.NewAgent(streamed)), reference.Prompts
			}
			unfailing(t, suite.Run(t.Context(), target, opts))
		})
	}
}
