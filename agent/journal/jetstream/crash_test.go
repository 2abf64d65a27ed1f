//go:build unix

package jetstream_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/natsserver"
)

// A machine crashes while another one is stopped, and the third has been away. With the default sync_interval the first has lost
// what it acknowledged, so two that know nothing of it elect a leader and go on without it. With sync_interval: always the record
// is there.
//
// The crash of a machine loses what its disk has not got, while kill -9 alone loses nothing. So the folder of the server is put
// back to a copy. With always, the servers flush the Raft log before they acknowledge; it is kept, and the rest is put back.
func TestCrashAndPause(t *testing.T) {
	for name, defaultSync := range map[string]bool{"default": true, "always": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crashAndPause(t, defaultSync)
		})
	}
}

func crashAndPause(t *testing.T, defaultSync bool) {
	c := natsserver.Start(t, natsserver.Options{Servers: 3, DefaultSync: defaultSync})
	n := name()
	conn := connect(t, c.URL())
	l, err := open(t, c.URL(), n, "node").Create(t.Context(), "s", journal.Meta{})
	require.NoError(t, err)
	_, err = l.Append(number(1))
	require.NoError(t, err)

	leads := -1
	require.Eventually(t, func() bool { leads = leader(conn, n+"_sessions"); return leads >= 0 }, 20*time.Second, 100*time.Millisecond)
	crashes, away := (leads+1)%3, (leads+2)%3
	c.Kill(crashes)
	disk := t.TempDir()
	require.NoError(t, os.CopyFS(disk, os.DirFS(c.Store(crashes))))
	c.Run(crashes)
	c.Await(crashes)
	c.Kill(away)
	_, err = l.Append(number(2))
	require.NoError(t, err, "two of three have it")

	c.Kill(crashes)
	lost := filepath.Join("jetstream", "A") // the streams of the account
	if defaultSync {
		lost = "."
	} else {
		require.DirExists(t, filepath.Join(c.Store(crashes), "jetstream", "S", "_js_"), "the Raft logs are elsewhere")
	}
	require.NoError(t, os.RemoveAll(filepath.Join(c.Store(crashes), lost)))
	require.NoError(t, os.CopyFS(filepath.Join(c.Store(crashes), lost), os.DirFS(filepath.Join(disk, lost))))
	require.NoError(t, c.Process(leads).Signal(syscall.SIGSTOP))
	c.Run(crashes)
	c.Run(away)
	c.Await(crashes)
	c.Await(away)
	l, err = open(t, c.Server(crashes)+","+c.Server(away), n, "node").Open(t.Context(), "s")
	require.NoError(t, err)
	_, err = l.Append(number(3))
	require.NoError(t, err)
	if defaultSync {
		assert.Equal(t, "1 3", numbers(t, l), "an acknowledged record is lost")
	} else {
		assert.Equal(t, "1 2 3", numbers(t, l))
	}
}
