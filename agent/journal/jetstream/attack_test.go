package jetstream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/journal/jetstream"
	"github.com/acpkit/go-sdk/internal/natsserver"
)

// written is what a logger has written.
type written struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.String()
}

// A process whose heartbeats have come to an end for the servers closes its logs, although it has renewed them by its own clock: that of the
// servers jumped, or the machine of the process was suspended and its clock with it. Others may have its sessions, so their clients
// must not wait here. It can open them again.
func TestHeartbeatIsOverForTheServers(t *testing.T) {
	t.Parallel()
	const lease = 3 * time.Second
	for name, end := range map[string]func(context.Context, natsjs.JetStream, natsjs.Stream) error{
		"the clock of the servers": func(ctx context.Context, _ natsjs.JetStream, s natsjs.Stream) error { return s.Purge(ctx) },
		"the stream is deleted": func(ctx context.Context, js natsjs.JetStream, s natsjs.Stream) error {
			return js.DeleteStream(ctx, s.CachedInfo().Config.Name)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := natsserver.Start(t, natsserver.Options{})
			said := new(written)
			s, err := jetstream.Open(t.Context(), connect(t, c.URL()), (&jetstream.Options{Name: "x", Node: "a", Logger: slog.New(slog.NewTextHandler(said, nil))}).WithLease(lease))
			require.NoError(t, err)
			t.Cleanup(func() { _ = s.Close(context.Background()) })
			l, err := s.Create(t.Context(), "s", journal.Meta{})
			require.NoError(t, err)
			_, err = l.Append(number(1))
			require.NoError(t, err)
			js, err := natsjs.New(connect(t, c.URL()))
			require.NoError(t, err)
			nodes, err := js.Stream(t.Context(), "x_nodes")
			require.NoError(t, err)
			require.NoError(t, end(t.Context(), js, nodes))
			require.Eventually(t, func() bool { return errors.Is(l.Sync(t.Context()), journal.ErrClosed) }, 5*lease, lease/10)
			assert.Contains(t, said.String(), "this process has no heartbeat")
			if name == "the stream is deleted" {
				other, err := jetstream.Open(t.Context(), connect(t, c.URL()), (&jetstream.Options{Name: "x", Node: "b"}).WithLease(lease)) // which makes it again
				require.NoError(t, err)
				t.Cleanup(func() { _ = other.Close(context.Background()) })
			}
			require.Eventually(t, func() bool { l, err = s.Open(t.Context(), "s"); return err == nil }, 5*lease, lease/10)
			assert.Equal(t, "1", numbers(t, l))
		})
	}
}

// Limits of the stream that are lowered while it is used lose nothing silently: what they remove is reported, and what has no room is refused.
func TestLimitsAreLowered(t *testing.T) {
	t.Parallel()
	c := natsserver.Start(t, natsserver.Options{})
	n := name()
	s := open(t, c.URL(), n, "a")
	l, err := s.Create(t.Context(), "s", journal.Meta{})
	require.NoError(t, err)
	for i := range 5 {
		_, err = l.Append(number(i))
		require.NoError(t, err)
	}
	change := func(with func(*natsjs.StreamConfig)) {
		change(t, c.URL(), n+"_sessions", func(context.Context) error { return nil }, with)
	}
	change(func(cfg *natsjs.StreamConfig) { cfg.MaxBytes = 10 })
	_, err = l.Append(number(5))
	require.ErrorContains(t, err, "nothing is stored")
	assert.Equal(t, "0 1 2 3 4", numbers(t, l))
	change(func(cfg *natsjs.StreamConfig) { cfg.MaxBytes, cfg.MaxMsgsPerSubject = -1, 3 })
	_, err = l.Append(number(5))
	require.NoError(t, err)
	require.NoError(t, l.Close())
	l, err = s.Open(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, l.Damage(), 1)
	assert.Contains(t, l.Damage()[0].Reason, "5 of 8 messages are missing")
}

// A stream of sessions that is deleted under a running process is not taken for one that never had any.
func TestSessionsAreDeleted(t *testing.T) {
	t.Parallel()
	c := natsserver.Start(t, natsserver.Options{})
	s, err := jetstream.Open(t.Context(), connect(t, c.URL()), (&jetstream.Options{Name: "x", Node: "a"}).WithLease(2*time.Second))
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	l, err := s.Create(t.Context(), "s", journal.Meta{})
	require.NoError(t, err)
	js, err := natsjs.New(connect(t, c.URL()))
	require.NoError(t, err)
	require.NoError(t, js.DeleteStream(t.Context(), "x_sessions"))
	_, err = l.Append(number(1))
	require.ErrorIs(t, err, journal.ErrClosed)
	_, err = s.Open(t.Context(), "s")
	require.ErrorContains(t, err, "stream not found")
	_, _, err = s.List(t.Context(), journal.Query{})
	require.ErrorContains(t, err, "stream not found")
}

// Ten thousand sessions are listed while they change, by a process that has just come too.
func TestManySessions(t *testing.T) {
	c := natsserver.Start(t, natsserver.Options{DefaultSync: true})
	n := name()
	s := open(t, c.URL(), n, "a")
	var work sync.WaitGroup
	for w := range 20 {
		work.Go(func() { // ends with its sessions
			for i := range 500 {
				l, err := s.Create(t.Context(), fmt.Sprintf("%d-%d", w, i), journal.Meta{Title: strings.Repeat("x", 50)})
				if assert.NoError(t, err) {
					_, err = l.Append(number(i))
					assert.NoError(t, err)
				}
			}
		})
	}
	work.Wait()
	begun := time.Now()
	other := open(t, c.URL(), n, "b")
	count := 0
	for q := (journal.Query{Limit: 1000}); ; {
		page, next, err := other.List(t.Context(), q)
		require.NoError(t, err)
		count += len(page)
		if q.Cursor = next; next == "" {
			break
		}
	}
	t.Logf("a new process has the list after %v", time.Since(begun))
	assert.Equal(t, 10_000, count)
}
