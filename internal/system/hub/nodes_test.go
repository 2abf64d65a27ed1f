//go:build unix

package hub_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/natsserver"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

var chaos = flag.Duration("chaos", 20*time.Second, "how long TestNodes kills nodes and servers; from 90 s on a node is also stopped for longer than its heartbeat")

// runTally is the agent of the nodes. It writes down each prompt that it gets.
func runTally(file string) error {
	write := writes(file)
	return agent.Serve(context.Background(), stream.Stdio(), peertest.Turns(func(ctx context.Context, s *agent.Session, req *acp.PromptRequest) error {
		if err := write(req); err != nil {
			return err
		}
		return s.Message(ctx, "answer to "+acp.PlainText(req.Prompt...))
	}), nil)
}

// nodes are processes of acp serve.
type nodes struct {
	t     *testing.T
	acp   string
	nats  string
	count string
	log   string // what all nodes log
	ports []int

	mu  sync.Mutex
	all []*exec.Cmd // nil if it does not run
}

const clientToken, nodeToken = "a-token-of-clients", "a-token-of-the-nodes"

func startNodes(t *testing.T, servers *natsserver.Cluster, n int) *nodes {
	x := &nodes{t: t, acp: natsserver.Tool(t, "acp"), nats: servers.URL(), count: filepath.Join(t.TempDir(), "prompts"), log: filepath.Join(t.TempDir(), "log"), ports: natsserver.FreePorts(t, n), all: make([]*exec.Cmd, n)}
	t.Cleanup(func() {
		for i := range x.all {
			x.signal(i, syscall.SIGKILL)
		}
	})
	for i := range n {
		x.run(i)
	}
	for i := range n {
		require.Eventually(t, func() bool {
			c, err := x.connect(t.Context(), i)
			if err == nil {
				c.close()
			}
			return err == nil
		}, time.Minute, 100*time.Millisecond)
	}
	return x
}

func (x *nodes) run(i int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	address := fmt.Sprintf("127.0.0.1:%d", x.ports[i])
	cmd := exec.Command(x.acp, "serve", "-listen", address, "-nats", x.nats, "-node", "http://"+address, "--", os.Args[0], x.count)
	cmd.Env = append(os.Environ(), "ACP_TOKEN="+clientToken, "ACP_NODE_TOKEN="+nodeToken, part+"=tally")
	log, err := os.OpenFile(x.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if !assert.NoError(x.t, err) {
		return
	}
	defer log.Close()
	cmd.Stderr = log
	if assert.NoError(x.t, cmd.Start()) {
		x.all[i] = cmd
	}
}

// signal sends a signal to a node. It waits for the end of one that ends by it.
func (x *nodes) signal(i int, s syscall.Signal) {
	x.mu.Lock()
	defer x.mu.Unlock()
	cmd := x.all[i]
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(s)
	if s == syscall.SIGKILL || s == syscall.SIGTERM {
		_ = cmd.Wait()
		x.all[i] = nil
	}
}

// connect connects a client to a node.
func (x *nodes) connect(ctx context.Context, i int) (*v1, error) { return x.dial(ctx, "ws", i) }

func (x *nodes) dial(ctx context.Context, scheme string, i int) (*v1, error) {
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	s, err := remote.Dial(ctx, fmt.Sprintf("%s://127.0.0.1:%d/acp", scheme, x.ports[i]), &remote.DialOptions{Header: func(context.Context) (http.Header, error) {
		return http.Header{"Authorization": {"Bearer " + clientToken}}, nil
	}})
	if err != nil {
		return nil, err
	}
	c := new(v1)
	c.conn, err = client.Connect(ctx, s, func(*client.Conn) acp.Client { return c.threads.Client(c) },
		&client.Options{Sending: []acp.Middleware{c.threads.Sending}, Logger: quiet})
	return c, err
}

// create makes a session at a node.
func (x *nodes) create(i int) string {
	x.t.Helper()
	c, err := x.connect(x.t.Context(), i)
	require.NoError(x.t, err)
	defer c.close()
	res, err := c.conn.NewSession(x.t.Context(), &acp.NewSessionRequest{Cwd: "/work"})
	require.NoError(x.t, err)
	return string(res.SessionID)
}

// load loads a session at a node, and tries again until it is there.
func (x *nodes) load(i int, id string) []string {
	x.t.Helper()
	var last error
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); {
		c, err := x.connect(x.t.Context(), i)
		if last = err; err != nil {
			continue
		}
		last = c.load(x.t.Context(), id)
		lines := shown(c.thread(id))
		c.close()
		if last == nil {
			return lines
		}
	}
	require.NoError(x.t, last)
	return nil
}

// One node with one server serves clients over WebSocket and over HTTP, ends when it is told to, and has their sessions again when it is
// started again.
func TestOneNode(t *testing.T) {
	x := startNodes(t, natsserver.Start(t, natsserver.Options{}), 1)
	id := x.create(0)
	var want []string
	for n, scheme := range []string{"ws", "http"} {
		if n > 0 {
			want = append(want, "agent: The agent was started again and does not remember this conversation.")
		}
		c, err := x.dial(t.Context(), scheme, 0)
		require.NoError(t, err)
		require.NoError(t, c.load(t.Context(), id))
		require.NoError(t, c.prompt(t.Context(), id, scheme))
		c.close()
		want = append(want, "user: "+scheme, "agent: answer to "+scheme)
		x.signal(0, syscall.SIGTERM)
		assert.Len(t, x.stats(), n+1, "it has not ended in order")
		x.run(0)
		assert.Equal(t, want, x.load(0, id))
	}
	text, err := os.ReadFile(x.log)
	require.NoError(t, err)
	assert.Contains(t, string(text), "with sync_interval: always in their jetstream block", "what is assumed is said")
}

// A node that may read the settings of the servers does not start with those that do not flush, and assumes nothing about others.
func TestNodeReadsDurability(t *testing.T) {
	system := func(c *natsserver.Cluster) string { return strings.ReplaceAll(c.URL(), "nats://", "nats://s:s@") }
	unsafe := natsserver.Start(t, natsserver.Options{DefaultSync: true})
	cmd := exec.Command(natsserver.Tool(t, "acp"), "serve", "-listen", "127.0.0.1:0", "-nats", unsafe.URL(), "-node", "http://127.0.0.1:1", "--", os.Args[0])
	cmd.Env = append(os.Environ(), "NATS_SYSTEM_URL="+system(unsafe), "ACP_NODE_TOKEN="+nodeToken)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "does not flush what it acknowledges: set sync_interval: always in its jetstream block")
	safe := natsserver.Start(t, natsserver.Options{})
	t.Setenv("NATS_SYSTEM_URL", system(safe))
	x := startNodes(t, safe, 1)
	text, err := os.ReadFile(x.log)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "sync_interval")
}

// Another node has the sessions of one that was killed when its heartbeat is over, and those of one that was shut down at once.
func TestTakeover(t *testing.T) {
	x := startNodes(t, natsserver.Start(t, natsserver.Options{Servers: 3}), 2)
	id := x.create(0)
	x.signal(0, syscall.SIGTERM)
	begun := time.Now()
	x.load(1, id)
	t.Logf("after a shutdown: %v", time.Since(begun))
	assert.Less(t, time.Since(begun), 10*time.Second)
	id = x.create(1)
	x.run(0)
	x.load(0, id)
	x.signal(1, syscall.SIGKILL)
	begun = time.Now()
	x.load(0, id)
	t.Logf("after kill -9: %v", time.Since(begun))
	assert.Less(t, time.Since(begun), 45*time.Second)
}

// While nodes and servers are killed and stopped, no prompt reaches the agent twice, no answered prompt is lost, and what a
// client saw is what a later one loads.
func TestNodes(t *testing.T) {
	const clients, sessions = 30, 10
	servers := natsserver.Start(t, natsserver.Options{Servers: 3})
	x := startNodes(t, servers, 3)
	var ids []string
	for i := range sessions {
		ids = append(ids, x.create(i%3))
	}
	type view struct {
		id, prompt string
		lines      []string
	}
	var mu sync.Mutex
	var answered []view // what a client saw when its prompt was answered
	var failed atomic.Int64
	end := time.Now().Add(*chaos)
	var work sync.WaitGroup
	for n := range clients {
		random := rand.New(rand.NewPCG(uint64(n), 11))
		work.Go(func() { // ends with the chaos
			for i := 0; time.Now().Before(end); i++ {
				id, text := ids[random.IntN(sessions)], fmt.Sprintf("%d-%d", n, i)
				c, err := x.connect(t.Context(), random.IntN(3))
				if err == nil {
					ctx, stop := context.WithTimeout(t.Context(), time.Minute)
					if err = c.load(ctx, id); err == nil {
						err = c.prompt(ctx, id, text)
					}
					stop()
					if err == nil {
						mu.Lock()
						answered = append(answered, view{id, text, shown(c.thread(id))})
						mu.Unlock()
					}
					c.close()
				}
				if err != nil {
					failed.Add(1)
				}
			}
		})
	}
	kills := x.disturb(servers, end)
	work.Wait()
	final := map[string][]string{}
	for i, id := range ids {
		final[id] = x.load(i%3, id)
		assert.Equal(t, final[id], x.load((i+1)%3, id))
	}
	assert.Positive(t, oneWriter(t, servers.URL()), "no other process has ever opened a session")
	t.Logf("%d prompts were answered, %d attempts failed, %d kills", len(answered), failed.Load(), kills)
	assert.NotEmpty(t, answered)
	for _, v := range answered {
		own := func(line string) bool { return line == "user: "+v.prompt } // which its client shows when it sends it, and it may wait for a turn
		require.Contains(t, final[v.id], "user: "+v.prompt)
		saw, have := slices.DeleteFunc(v.lines, own), slices.DeleteFunc(slices.Clone(final[v.id]), own)
		require.GreaterOrEqual(t, len(have), len(saw))
		require.Equal(t, saw, have[:len(saw)], "a later load shows something else")
	}
	text, err := os.ReadFile(x.count)
	require.NoError(t, err)
	seen := map[string]bool{}
	for p := range strings.Lines(string(text)) {
		assert.False(t, seen[p], "prompt %q was sent twice", p)
		seen[p] = true
	}
	assert.GreaterOrEqual(t, len(seen), len(answered))
	for i := range x.all {
		x.signal(i, syscall.SIGTERM)
	}
	assert.Len(t, x.stats(), 3) // of those that were not killed
	t.Logf("stats: %s", x.stats())
}

// oneWriter reads all that nodes have written, and fails if one has written to a session that another had opened. It returns how
// often a session went to another process.
func oneWriter(t *testing.T, url string) (handovers int) {
	t.Helper()
	conn, err := nats.Connect(url)
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	consumer, err := js.OrderedConsumer(t.Context(), "acp_sessions", jetstream.OrderedConsumerConfig{HeadersOnly: true})
	require.NoError(t, err)
	all, err := consumer.Messages()
	require.NoError(t, err)
	defer all.Stop()
	type entry struct {
		State, Epoch string
		Records      int64
	}
	last := map[string]entry{}
	for {
		m, err := all.Next(jetstream.NextContext(t.Context()))
		require.NoError(t, err)
		meta, err := m.Metadata()
		require.NoError(t, err)
		if head := m.Headers().Get("Acp-Entry"); head != "" { // others are parts of the next
			var e entry
			require.NoError(t, json.Unmarshal([]byte(head), &e))
			before := last[m.Subject()]
			if before.Epoch != "" && before.Epoch != e.Epoch {
				handovers++
				require.Equal(t, entry{"open", e.Epoch, before.Records}, e, "a process wrote to a session that another had opened")
			}
			require.GreaterOrEqual(t, e.Records, before.Records)
			last[m.Subject()] = e
		}
		if meta.NumPending == 0 {
			return handovers
		}
	}
}

// stats returns what nodes that were shut down have counted.
func (x *nodes) stats() []string {
	text, err := os.ReadFile(x.log)
	require.NoError(x.t, err)
	return regexp.MustCompile(`\{Held:0 [^}]*\}`).FindAllString(string(text), -1)
}

// disturb kills a node or a server every few seconds and starts it again, until end. In a long test it also stops a node for
// longer than its heartbeat.
func (x *nodes) disturb(servers *natsserver.Cluster, end time.Time) (kills int) {
	pause := time.NewTicker(3 * time.Second)
	defer pause.Stop()
	begun, stopped, frozen := time.Now(), -1, time.Time{}
	for n := 0; time.Now().Before(end); n++ {
		<-pause.C
		switch i := n / 2 % 3; {
		case stopped >= 0 && time.Since(frozen) > 40*time.Second:
			x.signal(stopped, syscall.SIGCONT)
			stopped = -1
		case *chaos >= 90*time.Second && frozen.IsZero() && time.Since(begun) > 20*time.Second:
			stopped, frozen = i, time.Now()
			x.signal(i, syscall.SIGSTOP)
		case i == stopped:
		case n%2 == 0:
			x.signal(i, syscall.SIGKILL)
			x.run(i)
			kills++
		default:
			servers.Kill(i)
			servers.Run(i)
			kills++
		}
	}
	if stopped >= 0 {
		x.signal(stopped, syscall.SIGCONT)
	}
	return kills
}
