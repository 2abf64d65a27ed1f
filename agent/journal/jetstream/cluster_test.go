package jetstream_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/journal/jetstream"
	"github.com/acpkit/go-sdk/agent/journal/journaltest"
	"github.com/acpkit/go-sdk/internal/natsserver"
)

// leader returns the number of the server that leads a stream, and -1 if none does.
func leader(conn *nats.Conn, stream string) int {
	js, err := natsjs.New(conn)
	if err != nil {
		return -1
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s, err := js.Stream(ctx, stream)
	if err != nil || s.CachedInfo().Cluster == nil {
		return -1
	}
	n := -1
	_, _ = fmt.Sscanf(s.CachedInfo().Cluster.Leader, "n%d", &n)
	return n
}

// killLeaders kills the leader of the streams that are in use every few seconds, and starts it again. It returns a
// function that ends that and returns the number of kills.
func killLeaders(t *testing.T, c *natsserver.Cluster) func() int {
	conn := connect(t, c.URL())
	stop, kills := make(chan struct{}), 0
	var work sync.WaitGroup
	work.Go(func() { // ends with stop
		pause := time.NewTicker(3 * time.Second)
		defer pause.Stop()
		for down := -1; ; {
			select {
			case <-stop:
				return
			case <-pause.C:
			}
			if down >= 0 { // two of three are needed
				c.Run(down)
				c.Await(down)
				down = -1
			} else if down = leader(conn, fmt.Sprintf("t%d_sessions", names.Load())); down >= 0 {
				c.Kill(down)
				kills++
			}
		}
	})
	return func() int { close(stop); work.Wait(); return kills }
}

var kills = flag.Duration("kills", 6*time.Second, "how long leaders are killed; from 20 s on the tests of all stores run meanwhile, too")

func TestThreeServersWhoseLeaderIsKilled(t *testing.T) {
	if *kills < 20*time.Second {
		t.Skip("takes more than a minute: run with -kills 20s")
	}
	c := natsserver.Start(t, natsserver.Options{Servers: 3})
	stop := killLeaders(t, c)
	journaltest.Test(t, maker(c.URL()))
	assert.Positive(t, stop())
}

// While leaders are killed, each record that was acknowledged is there, once and in order, and none that was not.
func TestAppendsWhileLeadersAreKilled(t *testing.T) {
	c := natsserver.Start(t, natsserver.Options{Servers: 3})
	s := open(t, c.URL(), name(), "a")
	stop := killLeaders(t, c)
	var work sync.WaitGroup
	end := time.Now().Add(*kills)
	for w := range 4 {
		work.Go(func() { // ends after *kills
			l, err := s.Create(t.Context(), fmt.Sprint("s", w), journal.Meta{})
			if !assert.NoError(t, err) {
				return
			}
			var want []string
			for i := 0; time.Now().Before(end); i++ {
				if _, err := l.Append(number(i)); !assert.NoError(t, err) {
					return
				}
				want = append(want, fmt.Sprint(i))
			}
			assert.Equal(t, strings.Join(want, " "), numbers(t, l))
			assert.NoError(t, l.Close())
		})
	}
	work.Wait()
	killed := stop()
	t.Logf("%d kills, %+v", killed, s.Stats())
	assert.Positive(t, killed)
}

// A store waits for the servers of a cluster that are not there yet, as after a start of all machines.
func TestOpenWaitsForServers(t *testing.T) {
	t.Parallel()
	c := natsserver.Start(t, natsserver.Options{Servers: 3})
	conn := connect(t, c.Server(0))
	for i := range 3 {
		c.Kill(i)
	}
	for i := range 2 {
		c.Run(i)
	}
	c.Await(0)
	js, err := natsjs.New(conn)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := js.CreateStream(t.Context(), natsjs.StreamConfig{Name: "three", Replicas: 3})
		return err != nil && strings.Contains(err.Error(), "no suitable peers")
	}, 20*time.Second, 100*time.Millisecond)
	opened := make(chan error, 1)
	n := name()
	go func() { // ends with the lease
		s, err := jetstream.Open(t.Context(), conn, &jetstream.Options{Name: n, Node: "a"})
		if err == nil {
			err = s.Close(t.Context())
		}
		opened <- err
	}()
	c.Run(2)
	require.NoError(t, <-opened)
}

// Many open one session at once. One of them has it, and a log of an older holder is refused.
func TestOneOpens(t *testing.T) {
	c := natsserver.Start(t, natsserver.Options{Servers: 3})
	n := name()
	var stores []*jetstream.Store
	for i := range 4 {
		stores = append(stores, open(t, c.URL(), n, fmt.Sprint("node", i)))
	}
	l, err := stores[0].Create(t.Context(), "s", journal.Meta{})
	require.NoError(t, err)
	for round := range 30 {
		_, err = l.Append(number(round))
		require.NoError(t, err)
		require.NoError(t, l.Close())
		var mu sync.Mutex
		var work sync.WaitGroup
		l = nil
		for _, s := range stores {
			work.Go(func() { // ends with the servers' answer
				got, err := s.Open(t.Context(), "s")
				mu.Lock()
				defer mu.Unlock()
				if _, held := err.(*journal.HeldError); !held && assert.NoError(t, err) {
					assert.Nil(t, l, "two have it")
					l = got
				}
			})
		}
		work.Wait()
		require.NotNil(t, l)
	}
}
