package host_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
)

// resident returns the number of bytes that the program has obtained from the system.
func resident() int64 {
	all := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(all)
	return int64(all[0].Value.Uint64() - all[1].Value.Uint64())
}

// watch samples the memory.
type watch struct{ before, top int64 }

func newWatch() *watch {
	debug.FreeOSMemory()
	return &watch{before: resident()}
}

func (w *watch) look() { w.top = max(w.top, resident()-w.before) }

// settle samples until nothing changes for 300 ms.
func (w *watch) settle() {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	last, since := int64(0), time.Now()
	for time.Since(since) < 300*time.Millisecond {
		w.look()
		if now := resident() >> 20; now != last {
			last, since = now, time.Now()
		}
		<-tick.C
	}
}

func (w *watch) within(t *testing.T, mib int64) {
	t.Helper()
	t.Logf("at most %d MiB more than before", w.top>>20)
	assert.Less(t, w.top, mib<<20)
}

// silentAgent is an agent that sends requests and reads the responses when the test does.
type silentAgent struct {
	*rawpeer.Peer
	far stream.Stream
	t   *testing.T
}

// newSilentAgent connects a silent agent, with the session "s".
func newSilentAgent(t *testing.T, h *host.Host, dir string) *silentAgent {
	near, far := stream.Pipe()
	conn := rawpeer.Start(t, client.New(near, h.Client, &client.Options{Logger: slog.New(slog.DiscardHandler)}))
	a := &silentAgent{rawpeer.New(t, far), far, t}
	var played sync.WaitGroup
	played.Go(func() { // ends with the response to session/new
		a.Initialize(`{}`)
		a.Answer(a.Expect("session/new"), `{"sessionId":"s"}`)
	})
	_, err := conn.Initialize(t.Context(), nil)
	require.NoError(t, err)
	_, err = conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: dir})
	require.NoError(t, err)
	played.Wait()
	return a
}

// read reads the responses to this number of requests, each with a result of the given length.
func (a *silentAgent) read(w *watch, requests, length int) {
	for i := range requests {
		w.look()
		msg, err := a.far.Read()
		require.NoError(a.t, err)
		require.True(a.t, bytes.Contains(msg[:min(len(msg), 100)], []byte(`"result"`)), "%d: %.200s", i, msg)
		require.Greater(a.t, len(msg), length)
	}
}

// If an agent reads a large file very often and does not read the responses, the client holds only
// a bounded part of the results. When the agent reads, it gets all of them.
func TestAgentReadsAFileOftenAndNoResponse(t *testing.T) {
	const files, length = 72, 8 << 20 // more than the test allows to be held
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	path := filepath.Join(dir, "large.txt")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("sixteen letters\n", length/16)), 0o644))
	for name, connections := range map[string]int{"one connection": 1, "connections of one host": 4} {
		t.Run(name, func(t *testing.T) {
			h, err := host.Open(&host.Options{Roots: []string{dir}})
			require.NoError(t, err)
			t.Cleanup(func() { h.Close() })
			w := newWatch()
			var agents []*silentAgent
			for range connections {
				agents = append(agents, newSilentAgent(t, h, dir))
			}
			for i := range files {
				agents[i%connections].Send(`{"jsonrpc":"2.0","id":%d,"method":"fs/read_text_file","params":{"sessionId":"s","path":%q}}`, i, path)
			}
			w.settle()
			for _, a := range agents {
				a.read(w, files/connections, length)
			}
			w.within(t, 512)
		})
	}
}

// The same holds for the output of a terminal. Meanwhile the agent can end the command, because
// short responses do not wait for long ones.
func TestAgentReadsAnOutputOftenAndNoResponse(t *testing.T) {
	const outputs, length = 600, 1 << 20
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	printed, ended := make(chan struct{}), make(chan struct{})
	left := length
	h, err := host.Open(&host.Options{
		Roots: []string{dir}, Ask: func(_ context.Context, q *permission.Question) (string, error) {
			return q.Pick(permission.AllowOnce), nil
		},
		Terminals: &terminals.Options{OnOutput: func(o terminals.Output) {
			switch left -= len(o.Data); {
			case left == 0:
				close(printed)
			case left == -1:
				close(ended)
			}
		}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { h.Close() })
	a := newSilentAgent(t, h, dir)
	a.Call("1", "terminal/create", fmt.Sprintf(`{"sessionId":"s","command":"sh","args":["-c","trap 'echo; exit' TERM; head -c %d /dev/zero | tr '\\0' x; sleep 1000 & wait"],"outputByteLimit":%d}`, length, length))
	m := a.Next()
	terminal := fmt.Sprintf(`{"sessionId":"s",%s`, strings.TrimPrefix(string(m.Result), "{"))
	<-printed
	w := newWatch()
	for i := range outputs {
		a.Call(fmt.Sprint(i+2), "terminal/output", terminal)
	}
	w.settle()
	a.Call(`"kill"`, "terminal/kill", terminal)
	<-ended
	a.read(w, outputs+1, 0)
	w.within(t, 512)
}
