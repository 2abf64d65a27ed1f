package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
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

// What is wrong with the servers or the options is refused with a text that says what to do.
func TestOpenRefuses(t *testing.T) {
	c := natsserver.Start(t, natsserver.Options{})
	refused(t, c.URL(), name(), "give the account a jetstream block", nats.UserInfo("n", "n"))
	refused(t, withoutJetStream(t), name(), "start nats-server with -js")
	refused(t, c.URL(), "a.b", "use letters, digits")
	_, err := jetstream.Open(t.Context(), connect(t, c.URL()), nil)
	require.ErrorContains(t, err, "Options.Node is empty")
	refused(t, natsserver.Start(t, natsserver.Options{Servers: 2}).URL(), name(), "with 3 replicas in a cluster: are all servers there")
	for text, with := range map[string]func(*natsjs.StreamConfig){
		`it is of version "2"`: func(cfg *natsjs.StreamConfig) { cfg.Metadata["acp-journal"] = "2" },
		"max_age":              func(cfg *natsjs.StreamConfig) { cfg.MaxAge = time.Hour },
		"make them storage=File persist_mode=Default retention=Limits discard=DiscardNew": func(cfg *natsjs.StreamConfig) { cfg.Discard = natsjs.DiscardOld },
		"allow_rollup_hdrs": func(cfg *natsjs.StreamConfig) { cfg.AllowAtomicPublish = false },
	} {
		n := name()
		change(t, c.URL(), n+"_sessions", open(t, c.URL(), n, "a").Close, with)
		refused(t, c.URL(), n, text)
	}
}

// withoutJetStream starts a server without JetStream and returns its address.
func withoutJetStream(t *testing.T) string {
	port := fmt.Sprint(natsserver.FreePorts(t, 1)[0])
	cmd := exec.Command(natsserver.Tool(t, "nats-server"), "-a", "127.0.0.1", "-p", port)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		return err == nil && conn.Close() == nil
	}, 20*time.Second, 20*time.Millisecond)
	return "nats://127.0.0.1:" + port
}

// A cluster without a leader, in which nothing can be stored, is said to be so.
func TestNoLeader(t *testing.T) {
	t.Parallel()
	c := natsserver.Start(t, natsserver.Options{Servers: 3})
	conn := connect(t, c.Server(0))
	c.Kill(1)
	c.Kill(2)
	_, err := jetstream.Open(t.Context(), conn, (&jetstream.Options{Name: name(), Node: "a"}).WithLease(3*time.Second))
	require.ErrorContains(t, err, "have a full disk or have no leader")
}

// Servers without room refuse records, of which nothing is stored, and accept them when there is room again.
func TestFull(t *testing.T) {
	const stream, servers = "stream", "servers"
	for _, full := range []string{stream, servers} {
		t.Run(full, func(t *testing.T) {
			o := natsserver.Options{}
			if full == servers {
				o.JetStream = "max_file_store: 1MB"
			}
			c := natsserver.Start(t, o)
			n := name()
			s := open(t, c.URL(), n, "a")
			limit := func(bytes int64) {
				nothing := func(context.Context) error { return nil }
				change(t, c.URL(), n+"_sessions", nothing, func(cfg *natsjs.StreamConfig) { cfg.MaxBytes = bytes })
			}
			js, err := natsjs.New(connect(t, c.URL()))
			require.NoError(t, err)
			_, err = js.CreateStream(t.Context(), natsjs.StreamConfig{Name: "ballast"})
			require.NoError(t, err)
			_, err = js.Publish(t.Context(), "ballast", make([]byte, 200_000))
			require.NoError(t, err)
			if full == stream {
				limit(1 << 20)
			}
			l, err := s.Create(t.Context(), "s", journal.Meta{})
			require.NoError(t, err)
			want := 0
			for ; err == nil; want++ {
				_, err = l.Append(journal.Record{Data: []byte(`"` + strings.Repeat("x", 100_000) + `"`)})
			}
			require.ErrorContains(t, err, "nothing is stored: give the stream, the account or the disks more")
			if full == stream {
				limit(2 << 20)
			} else {
				require.NoError(t, js.DeleteStream(t.Context(), "ballast"))
			}
			_, err = l.Append(number(2))
			require.NoError(t, err)
			all := strings.Fields(numbers(t, l))
			assert.Len(t, all, want)
			assert.Equal(t, "2", all[len(all)-1])
		})
	}
}

// Servers that have no room for long do not store heartbeats either, so others could have the sessions: they are closed. They can be opened
// when there is room again.
func TestFullForLong(t *testing.T) {
	t.Parallel()
	const lease = 2 * time.Second
	c := natsserver.Start(t, natsserver.Options{JetStream: "max_file_store: 1MB"})
	conn := connect(t, c.URL())
	s, err := jetstream.Open(t.Context(), conn, (&jetstream.Options{Name: name(), Node: "a"}).WithLease(lease))
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	l, err := s.Create(t.Context(), "s", journal.Meta{})
	require.NoError(t, err)
	_, err = l.Append(number(1))
	require.NoError(t, err)
	js, err := natsjs.New(conn)
	require.NoError(t, err)
	ballast, err := js.CreateStream(t.Context(), natsjs.StreamConfig{Name: "ballast"})
	require.NoError(t, err)
	for size := 100_000; size > 10; {
		if _, err := js.Publish(t.Context(), "ballast", make([]byte, size)); err != nil {
			size /= 2
		}
	}
	require.Eventually(t, func() bool { return errors.Is(l.Sync(t.Context()), journal.ErrClosed) }, 5*lease, lease/10)
	require.NoError(t, ballast.Purge(t.Context()))
	require.Eventually(t, func() bool { l, err = s.Open(t.Context(), "s"); return err == nil }, 5*lease, lease/10)
	assert.Equal(t, "1", numbers(t, l))
}

// Records that are longer than a message of the servers are stored whole, or refused if they are 500 times longer; metadata that are longer are
// refused.
func TestLongerThanAMessage(t *testing.T) {
	c := natsserver.Start(t, natsserver.Options{Config: "max_payload: 16KB\n"})
	n := name()
	s := open(t, c.URL(), n, "a")
	l, err := s.Create(t.Context(), "s", journal.Meta{})
	require.NoError(t, err)
	long := `"` + strings.Repeat("0123456789", 20_000) + `"`
	_, err = l.Append(journal.Record{Data: []byte(long)}, number(2))
	require.NoError(t, err)
	require.ErrorContains(t, l.SetMeta(func(m *journal.Meta) { m.Title = long }), "metadata above 32 KiB must be shortened")
	_, err = l.Append(journal.Record{Data: []byte(`"` + strings.Repeat("x", 9<<20) + `"`)}) // more than a batch has room for
	require.ErrorContains(t, err, "max_payload raised for records")
	_, err = l.Append(number(3))
	require.NoError(t, err)
	require.NoError(t, l.Close())
	again, err := open(t, c.URL(), n, "b").Open(t.Context(), "s")
	require.NoError(t, err)
	assert.Empty(t, again.Damage())
	assert.Equal(t, long+" 2 3", numbers(t, again))
}

// A message that somebody has removed from the stream is reported.
func TestDamage(t *testing.T) {
	c := natsserver.Start(t, natsserver.Options{})
	n := name()
	s := open(t, c.URL(), n, "a")
	l, err := s.Create(t.Context(), "s", journal.Meta{})
	require.NoError(t, err)
	for i := range 3 {
		_, err = l.Append(number(i))
		require.NoError(t, err)
	}
	require.NoError(t, l.Close())
	js, err := natsjs.New(connect(t, c.URL()))
	require.NoError(t, err)
	stream, err := js.Stream(t.Context(), n+"_sessions")
	require.NoError(t, err)
	require.NoError(t, stream.DeleteMsg(t.Context(), 3))
	l, err = s.Open(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, l.Damage(), 1)
	assert.Equal(t, "1 of 5 messages are missing in the stream "+n+"_sessions", l.Damage()[0].Reason)
	assert.Equal(t, "0 2", numbers(t, l))
}
