package jetstream_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/journal/jetstream"
	"github.com/acpkit/go-sdk/internal/natsserver"
)

// A server whose disk is full ends the logs with an error that says so. When it has room again and is started again, what was
// acknowledged is there, and no part of another record.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	const small = `dir=$(dirname "$3")/js; mkdir -p "$dir" && mount -t tmpfs -o size=6m none "$dir" && exec "$@"`
	if out, err := exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", t.TempDir()).CombinedOutput(); err != nil {
		t.Skipf("a small disk cannot be made: %s", out)
	}
	c := natsserver.Start(t, natsserver.Options{JetStream: "max_file_store: 100MB", Prefix: []string{"unshare", "-rm", "sh", "-c", small, "sh"}})
	n := name()
	start := func(url string) *jetstream.Store {
		s, err := jetstream.Open(t.Context(), connect(t, url), (&jetstream.Options{Name: n, Node: "a"}).WithLease(4*time.Second))
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close(context.Background()) })
		return s
	}
	l, err := start(c.URL()).Create(t.Context(), "s", journal.Meta{})
	require.NoError(t, err)
	long := strings.Repeat("x", 100_000)
	stored := -1
	for ; err == nil; stored++ {
		require.Less(t, stored, 100, "the disk is never full")
		_, err = l.Append(journal.Record{Data: fmt.Appendf(nil, `"%d %s"`, stored+1, long)})
	}
	require.ErrorIs(t, err, journal.ErrClosed)
	require.ErrorContains(t, err, "have a full disk")

	disk := t.TempDir() // the small one ends with the server
	require.NoError(t, os.CopyFS(disk, os.DirFS(fmt.Sprintf("/proc/%d/root%s", c.Process(0).Pid, c.Store(0)))))
	c.Kill(0)
	again := natsserver.Start(t, natsserver.Options{Store: disk})
	l, err = start(again.URL()).Open(t.Context(), "s")
	require.NoError(t, err)
	i := 0
	for r, err := range l.Read(t.Context(), 0) {
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintf(`"%d %s"`, i, long), string(r.Data))
		i++
	}
	assert.GreaterOrEqual(t, i, stored)
	assert.LessOrEqual(t, i, stored+1, "that whose outcome was not known may be stored")
	_, err = l.Append(number(1))
	require.NoError(t, err)
}
