// Package sessions_test kills agents of package agent/kit, and plays many random and recorded
// conversations with them.
package sessions_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/internal/system/randturns"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

var (
	seeds = flag.Uint64("seeds", 500, "how many random conversations TestLoadEqualsLive plays in each version")
	kills = flag.Uint64("kills", 100, "how often TestKill kills an agent")
)

// What a client shows after session/load is what it showed before; see package randturns.
func TestLoadEqualsLive(t *testing.T) {
	for version := 1; version <= 2; version++ {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			for seed := range *seeds {
				store := new(journal.Memory)
				dir := ""
				if seed%20 == 0 {
					dir = t.TempDir()
				}
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
					randturns.Check(t, 1000+seed, version, func(t *testing.T) journal.Store {
						if dir == "" {
							return store
						}
						return files(t, dir)
					})
				})
			}
		})
	}
}

func FuzzLoadEqualsLive(f *testing.F) {
	f.Add(uint64(1), true)
	f.Fuzz(func(t *testing.T, seed uint64, second bool) {
		version := 1
		if second {
			version = 2
		}
		store := new(journal.Memory)
		randturns.Check(t, seed, version, func(*testing.T) journal.Store { return store })
	})
}

func files(t *testing.T, dir string) journal.Store {
	store, err := journal.OpenFiles(dir, nil)
	require.NoError(t, err)
	return store
}

// The variables that make this program an agent.
const (
	dirVar  = "SESSIONS_TEST_DIR"
	seedVar = "SESSIONS_TEST_SEED"
)

func TestMain(m *testing.M) {
	dir := os.Getenv(dirVar)
	if dir == "" {
		os.Exit(m.Run())
	}
	s := stream.Stdio()
	seed, err := strconv.ParseUint(os.Getenv(seedVar), 10, 64)
	if err == nil {
		err = play(s, dir, seed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// script returns what the agent of a seed does. The messages of every fourth one take seconds.
func script(seed uint64) *randturns.Script {
	o := randturns.Options{Turns: 5, Slow: 10 * time.Millisecond, Simple: true}
	if seed%4 == 0 {
		o.Slow = 500 * time.Millisecond
	}
	return randturns.New(seed, o)
}

// play is the agent. It writes down which tools it has run.
func play(s stream.Stream, dir string, seed uint64) error {
	store, err := journal.OpenFiles(dir, nil)
	if err != nil {
		return err
	}
	runs, err := os.OpenFile(dir+".runs", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	o := script(seed).Kit(func(id acp.ToolCallID) { fmt.Fprintln(runs, id) })
	o.Store, o.Logger = store, slog.New(slog.DiscardHandler)
	return serve.Serve(context.Background(), s, kit.New(o).Agent, &serve.Options{Logger: o.Logger})
}

// start starts an agent and connects to it.
func start(t *testing.T, version int, dir string, seed uint64, onUpdate func()) (*randturns.Client, *stream.Process, *exec.Cmd) {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), dirVar+"="+dir, fmt.Sprint(seedVar, "=", seed))
	process, err := stream.Command(cmd, nil)
	require.NoError(t, err)
	c := randturns.NewClient(t, version, process, onUpdate)
	t.Cleanup(c.Close)
	return c, process, cmd
}

// An agent that is killed at any moment loses at most the last second of the message that it was
// writing, and nothing that it has reported as done.
func TestKill(t *testing.T) {
	slots := make(chan struct{}, 16) // more than -parallel, because most agents are in a pause of their script
	var all sync.WaitGroup
	for seed := range *kills {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { killed(t, seed) })
		})
	}
	all.Wait()
}

// moment is what the person saw at a time.
type moment struct {
	at   time.Time
	seen randturns.Seen
}

func killed(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 21))
	version, sc, dir := 1+r.IntN(2), script(seed), filepath.Join(t.TempDir(), "sessions")
	var (
		mu      sync.Mutex
		moments []moment
		dead    atomic.Bool
		id      atomic.Pointer[string]
		client  *randturns.Client
		process *stream.Process
		cmd     *exec.Cmd
	)
	left := 1 + r.IntN(120)
	client, process, cmd = start(t, version, dir, seed, func() {
		mu.Lock()
		defer mu.Unlock()
		if id.Load() == nil || dead.Load() {
			return
		}
		moments = append(moments, moment{time.Now(), client.Seen(*id.Load())})
		if left--; left == 0 {
			dead.Store(true)
			assert.NoError(t, cmd.Process.Kill())
		}
	})
	id.Store(new(client.Open()))
	played := sc.Turns[:len(sc.Turns)-1] // the last one is played after the crash
	completed := 0
	for _, turn := range played {
		_ = client.Play(*id.Load(), turn)
		if dead.Load() {
			break
		}
		completed++
	}
	if !dead.Swap(true) {
		require.NoError(t, cmd.Process.Kill())
	}
	end := time.Now()
	_ = process.Wait() // it was killed
	mu.Lock()
	defer mu.Unlock()

	again, _, _ := start(t, version, dir, seed, nil)
	require.NoError(t, again.Load(*id.Load()))
	got := again.Seen(*id.Load())
	running := sc.Turns[min(completed, len(played)-1)]
	require.NoError(t, randturns.Prefix(got.Lines, running.After.Lines), "turn %d", completed)
	before := randturns.Seen{Mode: "ask", Model: "small"}
	if completed > 0 {
		before = sc.Turns[completed-1].After
	}
	require.GreaterOrEqual(t, len(got.Lines), len(before.Lines))
	assert.True(t, slices.Equal(before.Lines, got.Lines[:len(before.Lines)]), "a response has reported %q, %q is loaded", before.Lines, got.Lines)
	if completed == len(played) {
		assert.Equal(t, before, got)
	}
	if len(moments) > 0 {
		kept(t, got, moments, end)
	}
	assert.Contains(t, append(running.Modes, before.Mode), got.Mode)
	for _, line := range got.Lines {
		assert.False(t, strings.HasPrefix(line, "call: ") && !strings.Contains(line, " completed") && !strings.Contains(line, " failed"), "%s is open", line)
	}

	all := again.All(*id.Load())
	require.NoError(t, again.Load(*id.Load()))
	assert.Equal(t, all, again.All(*id.Load()), "loaded twice")
	_ = again.Play(*id.Load(), sc.Turns[len(played)]) // its error is part of the script
	live := again.All(*id.Load())
	assert.Greater(t, len(live), len(all))
	require.NoError(t, again.Load(*id.Load()))
	assert.Equal(t, live, again.All(*id.Load()), "loaded after the next turn")

	text, err := os.ReadFile(dir + ".runs")
	require.NoError(t, err)
	runs := strings.Fields(string(text))
	slices.Sort(runs)
	assert.Len(t, slices.Compact(slices.Clone(runs)), len(runs), "a call has run twice")
}

// kept checks that all is there that the person saw a second before the end, and all but the last
// message that they saw at the end. The clocks of the processes may differ by what the machine is late.
func kept(t *testing.T, got randturns.Seen, moments []moment, end time.Time) {
	const late = time.Second
	saw := moments[len(moments)-1].seen.Lines
	for i, line := range saw {
		message := !strings.HasPrefix(line, "call: ")
		if message && i == len(saw)-1 {
			continue
		}
		require.Greater(t, len(got.Lines), i, "the person saw %q", line)
		if message || strings.Contains(line, " completed") || strings.Contains(line, " failed") {
			assert.True(t, strings.HasPrefix(got.Lines[i], line), "%q was seen, %q is loaded", line, got.Lines[i])
		}
	}
	for _, m := range slices.Backward(moments) {
		if last := len(m.seen.Lines) - 1; end.Sub(m.at) > time.Second+late && last >= 0 && !strings.HasPrefix(m.seen.Lines[last], "call: ") {
			require.Greater(t, len(got.Lines), last)
			assert.True(t, strings.HasPrefix(got.Lines[last], m.seen.Lines[last]), "%q was seen %v before the end, %q is loaded", m.seen.Lines[last], end.Sub(m.at), got.Lines[last])
			return
		}
	}
}

// nobody is a client that looks at nothing.
type nobody struct{}

func (nobody) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

func (nobody) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return &acp.RequestPermissionResponse{Outcome: &acp.CancelledPermissionOutcome{}}, nil
}

func used() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// openFiles returns how many files the process has open; 0 if the system does not say.
func openFiles() int {
	all, _ := os.ReadDir("/proc/self/fd")
	return len(all)
}

// A thousand idle sessions of one connection, each of which has said a long text, hold little
// memory, both ends counted, and one open file each.
func TestIdleSessions(t *testing.T) {
	if pairtest.Race {
		t.Skip("the race detector needs memory of its own: the test needs a build without it, which CI makes as well")
	}
	const sessions = 1000
	store, err := journal.OpenFiles(t.TempDir(), nil)
	require.NoError(t, err)
	text := strings.Repeat("a word ", 30_000)
	a := kit.New(&kit.Options{Store: store, Logger: slog.New(slog.DiscardHandler), Turn: func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
		return "", s.Text(ctx, text)
	}})
	server := httptest.NewServer(remote.NewHandler(a.Serve, nil))
	t.Cleanup(server.Close)
	s, err := remote.Dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), nil)
	require.NoError(t, err)
	c, err := client.Connect(t.Context(), s, func(*client.Conn) acp.Client { return nobody{} }, nil)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	session := func() {
		s, err := c.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/w"})
		require.NoError(t, err)
		_, err = c.Prompt(t.Context(), &acp.PromptRequest{SessionID: s.SessionID, Prompt: []acp.ContentBlock{acp.Text("go")}})
		require.NoError(t, err)
	}
	session() // what is allocated once
	before, files := used(), openFiles()
	for range sessions {
		session()
	}
	each := (int64(used()) - int64(before)) / sessions
	t.Logf("%d bytes each, %d more files", each, openFiles()-files)
	assert.Less(t, each, int64(64<<10))
	assert.LessOrEqual(t, openFiles()-files, sessions+4)
}
