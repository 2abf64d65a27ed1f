package jetstream_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/journal/jetstream"
)

// connect returns a connection that ends with the test.
func connect(t testing.TB, url string, opts ...nats.Option) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect(url, append(opts, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))...)
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	return conn
}

var names atomic.Int64

// name returns a name for streams that no other test uses.
func name() string { return fmt.Sprint("t", names.Add(1)) }

// open returns a store that ends with the test.
func open(t testing.TB, url, name, node string) *jetstream.Store {
	t.Helper()
	s, err := jetstream.Open(t.Context(), connect(t, url), &jetstream.Options{Name: name, Node: node})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// number returns a record with the number n as its data.
func number(n int) journal.Record {
	return journal.Record{Kind: journal.KindEvent, Data: fmt.Append(nil, n)}
}

// numbers returns the data of all records of a log.
func numbers(t testing.TB, l journal.Log) string {
	t.Helper()
	var all []string
	for r, err := range l.Read(t.Context(), 0) {
		require.NoError(t, err)
		all = append(all, string(r.Data))
	}
	return strings.Join(all, " ")
}
