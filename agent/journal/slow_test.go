//go:build unix

package journal_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/journal"
)

// A list that waits for the disk holds up no other session.
func TestListOnASlowDisk(t *testing.T) {
	dir := t.TempDir()
	first := files(t, dir)
	for _, id := range []string{"slow", "other"} {
		l, err := first.Create(t.Context(), id, journal.Meta{Title: id})
		require.NoError(t, err)
		require.NoError(t, l.Close())
	}
	slow := filepath.Join(dir, "slow", "meta.json")
	text, err := os.ReadFile(slow)
	require.NoError(t, err)
	require.NoError(t, os.Remove(slow))
	require.NoError(t, syscall.Mkfifo(slow, 0o600)) // whose reader waits for a writer
	s := files(t, dir)
	listed := make(chan map[string]string)
	go func() { listed <- titles(t, s) }()           // ends with the writer below
	writer, err := os.OpenFile(slow, os.O_WRONLY, 0) // the list waits now
	require.NoError(t, err)

	l, err := s.Open(t.Context(), "other")
	require.NoError(t, err)
	_, err = l.Append(journal.Record{Kind: journal.KindEvent, Data: []byte("1")})
	require.NoError(t, err)
	require.NoError(t, l.Close())
	l, err = s.Create(t.Context(), "new", journal.Meta{})
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.NoError(t, s.Delete(t.Context(), "new"))
	select {
	case <-listed:
		t.Error("the list has not waited")
	default:
	}

	_, err = writer.Write(text)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	assert.Equal(t, map[string]string{"slow": "slow", "other": "other"}, <-listed)
}
