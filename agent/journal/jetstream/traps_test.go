package jetstream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/journal/jetstream"
	"github.com/acpkit/go-sdk/internal/natsserver"
)

// An answer that looks like that of the fence is not always the fence: the acknowledgement of the own message may be lost,
// and the leader may not have finished an earlier message.
func TestRefusalsThatAreNotTheFence(t *testing.T) {
	t.Parallel()
	c := natsserver.Start(t, natsserver.Options{})
	p := newProxy(t, c.URL())
	s := open(t, p.url(), name(), "a")
	l, err := s.Create(t.Context(), "s", journal.Meta{})
	require.NoError(t, err)
	p.next(loseAck)
	_, err = l.Append(number(1))
	require.NoError(t, err)
	assert.EqualValues(t, 1, s.Stats().Settled)
	long := `"` + strings.Repeat("x", 1<<20) + `"` // a batch
	p.next(loseAck)
	_, err = l.Append(journal.Record{Data: []byte(long)})
	require.NoError(t, err)
	assert.EqualValues(t, 2, s.Stats().Settled)
	p.next(busy, busy, busy)
	_, err = l.Append(number(2))
	require.NoError(t, err)
	assert.EqualValues(t, 3, s.Stats().Repeated)
	require.NoError(t, l.Close())
	p.next(loseAck)
	l, err = s.Open(t.Context(), "s")
	require.NoError(t, err)
	_, err = l.Append(number(3))
	require.NoError(t, err)
	assert.Equal(t, "1 "+long+" 2 3", numbers(t, l))
	assert.Zero(t, s.Stats().Fenced)
}

// The log of a process that was stopped while another one took its session is refused, and can be told apart from a log that
// can be used again.
func TestFence(t *testing.T) {
	t.Parallel()
	c := natsserver.Start(t, natsserver.Options{})
	n := name()
	zombie := open(t, c.URL(), n, "zombie")
	old, err := zombie.Create(t.Context(), "s", journal.Meta{Title: "T"})
	require.NoError(t, err)
	_, err = old.Append(number(1))
	require.NoError(t, err)
	twin := open(t, c.URL(), n, "zombie") // to which the sessions of an earlier process of the name are free
	l, err := twin.Open(t.Context(), "s")
	require.NoError(t, err)
	_, err = old.Append(number(2))
	require.ErrorIs(t, err, journal.ErrClosed)
	require.ErrorIs(t, old.SetMeta(func(m *journal.Meta) { m.Title = "Z" }), journal.ErrClosed)
	require.ErrorIs(t, old.Sync(t.Context()), journal.ErrClosed)
	_, err = l.Append(number(3))
	require.NoError(t, err)
	assert.Equal(t, "1 3", numbers(t, l))
	assert.Equal(t, "T", l.Meta().Title)
	assert.EqualValues(t, 1, zombie.Stats().Fenced)
	assert.EqualValues(t, 1, twin.Stats().Takeovers)
	require.Eventually(t, func() bool {
		_, err := zombie.Create(t.Context(), "other", journal.Meta{})
		return err != nil && bytes.Contains([]byte(err.Error()), []byte("give each a name of its own"))
	}, 15*time.Second, 100*time.Millisecond)
}

// A log whose session was deleted behind its back does not look like one without records.
func TestReadAfterDelete(t *testing.T) {
	t.Parallel()
	c := natsserver.Start(t, natsserver.Options{})
	n := name()
	old, err := open(t, c.URL(), n, "zombie").Create(t.Context(), "s", journal.Meta{})
	require.NoError(t, err)
	_, err = old.Append(number(1))
	require.NoError(t, err)
	twin := open(t, c.URL(), n, "zombie")
	require.NoError(t, twin.Delete(t.Context(), "s"))
	for _, err := range old.Read(t.Context(), 0) {
		damaged := new(journal.DamagedError)
		require.ErrorAs(t, err, &damaged)
		return
	}
	t.Fatal("the log looks empty")
}

// With reads from replicas, a read misses what was acknowledged before it. This is also the proof that the test would see it in a
// store without them.
func TestStaleReads(t *testing.T) {
	c := natsserver.Start(t, natsserver.Options{Servers: 3})
	stale := func(t *testing.T, open func(url, node string) *jetstream.Store, rounds int) bool {
		l, err := open(c.Server(0), "writer").Create(t.Context(), "s", journal.Meta{})
		require.NoError(t, err)
		var readers []*jetstream.Store
		for i := range 3 {
			readers = append(readers, open(c.Server(i), fmt.Sprint("reader", i)))
		}
		for round := range rounds {
			title := fmt.Sprint(round)
			require.NoError(t, l.SetMeta(func(m *journal.Meta) { m.Title = title }))
			for _, r := range readers {
				m, err := r.Meta(t.Context(), "s")
				require.NoError(t, err)
				if m.Title != title {
					return true
				}
			}
		}
		return false
	}
	t.Run("read from the leader", func(t *testing.T) {
		n := name()
		assert.False(t, stale(t, func(url, node string) *jetstream.Store { return open(t, url, n, node) }, 300))
	})
	t.Run("read from replicas", func(t *testing.T) {
		n := name()
		make := func(url, node string) *jetstream.Store {
			s, err := jetstream.Open(t.Context(), connect(t, url), (&jetstream.Options{Name: n, Node: node}).Unchecked())
			require.NoError(t, err)
			t.Cleanup(func() { _ = s.Close(context.Background()) })
			return s
		}
		change(t, c.URL(), n+"_sessions", open(t, c.URL(), n, "maker").Close, func(cfg *natsjs.StreamConfig) { cfg.AllowDirect = true })
		assert.True(t, stale(t, make, 5000))
		refused(t, c.URL(), n, "allow_direct")
	})
}

// change changes a stream after its store is closed.
func change(t *testing.T, url, stream string, closing func(context.Context) error, with func(*natsjs.StreamConfig)) {
	t.Helper()
	require.NoError(t, closing(t.Context()))
	js, err := natsjs.New(connect(t, url))
	require.NoError(t, err)
	s, err := js.Stream(t.Context(), stream)
	require.NoError(t, err)
	cfg := s.CachedInfo().Config
	with(&cfg)
	_, err = js.UpdateStream(t.Context(), cfg)
	require.NoError(t, err)
}

// refused opens a store, which fails with an error that has the text.
func refused(t *testing.T, url, name, text string, opts ...nats.Option) {
	t.Helper()
	_, err := jetstream.Open(t.Context(), connect(t, url, opts...), (&jetstream.Options{Name: name, Node: "x"}).WithLease(3*time.Second))
	assert.ErrorContains(t, err, text)
}

// A process that died holds its sessions until its heartbeat is over; if the servers do not end heartbeats, for ever.
func TestDeadHolder(t *testing.T) {
	t.Parallel()
	const lease = 2 * time.Second
	c := natsserver.Start(t, natsserver.Options{})
	for _, endless := range []bool{false, true} {
		n := name()
		make := func(node string, conn *nats.Conn) *jetstream.Store {
			s, err := jetstream.Open(t.Context(), conn, (&jetstream.Options{Name: n, Node: node}).WithLease(lease).Unchecked())
			require.NoError(t, err)
			return s
		}
		if endless {
			maker := make("maker", connect(t, c.URL()))
			change(t, c.URL(), n+"_nodes", maker.Close, func(cfg *natsjs.StreamConfig) { cfg.MaxAge = 0 })
		}
		conn := connect(t, c.URL())
		dead := make("dead", conn)
		l, err := dead.Create(t.Context(), "s", journal.Meta{})
		require.NoError(t, err)
		_, err = l.Append(number(1))
		require.NoError(t, err)
		other := make("other", connect(t, c.URL()))
		_, err = other.Open(t.Context(), "s")
		var held *journal.HeldError
		require.ErrorAs(t, err, &held)
		assert.Equal(t, "dead", held.Holder)
		conn.Close()
		opens := func() bool {
			l, err := other.Open(t.Context(), "s")
			return err == nil && assert.Equal(t, "1", numbers(t, l))
		}
		if endless {
			assert.Never(t, opens, 3*lease, lease/2)
			refused(t, c.URL(), n, "max_age")
		} else {
			assert.Eventually(t, opens, 3*lease, lease/10)
			assert.EqualValues(t, 1, other.Stats().Takeovers)
		}
		_, err = l.Append(number(2))
		require.ErrorIs(t, err, journal.ErrClosed)
		_ = dead.Close(t.Context())
		_ = other.Close(t.Context())
	}
}

// A time to live of one key is lost when the key is renewed, so heartbeats that end in this way would never end. That of
// the whole bucket, as the stream of the heartbeats has it, is not lost.
func TestTimeToLiveOfAKey(t *testing.T) {
	t.Parallel()
	const lease = 2 * time.Second
	js, err := natsjs.New(connect(t, natsserver.Start(t, natsserver.Options{}).URL()))
	require.NoError(t, err)
	for bucket, c := range map[string]struct {
		ttl     time.Duration // of the bucket
		renewed bool
		ends    bool
	}{
		"a key":                           {0, false, true},
		"a key that was renewed":          {0, true, false},
		"a key of a bucket":               {lease, false, true},
		"a key of a bucket, when renewed": {lease, true, true},
	} {
		t.Run(bucket, func(t *testing.T) {
			t.Parallel()
			kv, err := js.CreateKeyValue(t.Context(), natsjs.KeyValueConfig{Bucket: strings.NewReplacer(" ", "_", ",", "").Replace(bucket), TTL: c.ttl, LimitMarkerTTL: time.Hour})
			require.NoError(t, err)
			var opts []natsjs.KVCreateOpt
			if c.ttl == 0 {
				opts = append(opts, natsjs.KeyTTL(lease))
			}
			revision, err := kv.Create(t.Context(), "node", []byte("epoch"), opts...)
			require.NoError(t, err)
			if c.renewed {
				_, err = kv.Update(t.Context(), "node", []byte("epoch"), revision)
				require.NoError(t, err)
				_, err = kv.Put(t.Context(), "node", []byte("epoch"))
				require.NoError(t, err)
			}
			ended := func() bool { _, err := kv.Get(t.Context(), "node"); return errors.Is(err, natsjs.ErrKeyNotFound) }
			if c.ends {
				assert.Eventually(t, ended, 5*lease, lease/10)
			} else {
				assert.Never(t, ended, 3*lease, lease/2)
			}
		})
	}
}

// A store that is closed lets others open its sessions at once.
func TestClose(t *testing.T) {
	c := natsserver.Start(t, natsserver.Options{})
	n := name()
	a, b := open(t, c.URL(), n, "a"), open(t, c.URL(), n, "b")
	l, err := a.Create(t.Context(), "s", journal.Meta{})
	require.NoError(t, err)
	require.NoError(t, a.Close(t.Context()))
	_, err = l.Append(number(1))
	require.ErrorIs(t, err, journal.ErrClosed)
	_, err = b.Open(t.Context(), "s")
	require.NoError(t, err)
	assert.Zero(t, b.Stats().Takeovers)
}

// Whether the servers flush what they acknowledge is read where it can be, and said where it cannot.
func TestDurability(t *testing.T) {
	system := nats.UserInfo("s", "s")
	for _, unsafe := range []bool{false, true} {
		c := natsserver.Start(t, natsserver.Options{DefaultSync: unsafe})
		s, err := jetstream.Open(t.Context(), connect(t, c.URL()), &jetstream.Options{Node: "a", System: connect(t, c.URL(), system)})
		if unsafe {
			require.ErrorContains(t, err, "sync_interval: always")
		} else {
			require.NoError(t, err)
			require.NoError(t, s.Close(t.Context()))
		}
		_, err = jetstream.Open(t.Context(), connect(t, c.URL()), &jetstream.Options{Node: "a", System: connect(t, c.URL())})
		require.ErrorContains(t, err, "is Options.System of the system account?")
		var out bytes.Buffer
		s, err = jetstream.Open(t.Context(), connect(t, c.URL()), &jetstream.Options{Node: "a", Logger: slog.New(slog.NewTextHandler(&out, nil))})
		require.NoError(t, err)
		require.NoError(t, s.Close(t.Context()))
		assert.Contains(t, out.String(), "sync_interval: always")
	}
}
