package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/journal"
)

func titles(t *testing.T, s journal.Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	for q := (journal.Query{}); ; {
		page, next, err := s.List(t.Context(), q)
		require.NoError(t, err)
		for _, m := range page {
			all[m.ID] = m.Title
		}
		if q.Cursor = next; next == "" {
			return all
		}
	}
}

// A list goes on in the index of a process that has listed before, and has learned of the sessions since.
func TestListGoesOnElsewhere(t *testing.T) {
	var here, there journal.Index
	_, _, err := there.Page(journal.Query{})
	require.NoError(t, err)
	for i := range 10 {
		m, err := journal.Meta{}.Begin(fmt.Sprint("s", i))
		require.NoError(t, err)
		here.Put(m.ID, m)
		there.Put(m.ID, m)
		if i == 2 {
			_, _, err = there.Page(journal.Query{})
			require.NoError(t, err)
		}
	}
	first, next, err := here.Page(journal.Query{Limit: 4})
	require.NoError(t, err)
	rest, end, err := there.Page(journal.Query{Cursor: next})
	require.NoError(t, err)
	assert.Empty(t, end)
	var ids []string
	for _, m := range append(first, rest...) {
		ids = append(ids, m.ID)
	}
	assert.Equal(t, []string{"s9", "s8", "s7", "s6", "s5", "s4", "s3", "s2", "s1", "s0"}, ids)
}

// A store lists what the others have changed, whether or not it has read their changes from the
// beginning.
func TestListOfSeveralProcesses(t *testing.T) {
	dir := t.TempDir()
	stores := []*journal.Files{files(t, dir), files(t, dir), files(t, dir)}
	want := map[string]string{}
	for i := range 60 {
		s, id := stores[i%2], fmt.Sprint("s", i%7)
		switch _, known := want[id]; {
		case !known:
			l, err := s.Create(t.Context(), id, journal.Meta{Title: fmt.Sprint(i)})
			require.NoError(t, err)
			require.NoError(t, l.Close())
			want[id] = fmt.Sprint(i)
		case i%3 == 0:
			require.NoError(t, s.Delete(t.Context(), id))
			delete(want, id)
		default:
			l, err := s.Open(t.Context(), id)
			require.NoError(t, err)
			require.NoError(t, l.SetMeta(func(m *journal.Meta) { m.Title = fmt.Sprint(i) }))
			require.NoError(t, l.Close())
			want[id] = fmt.Sprint(i)
		}
		for n, s := range stores {
			if (i+n)%3 > 0 {
				require.Equal(t, want, titles(t, s), "store %d, step %d", n, i)
			}
		}
		if i == 40 {
			require.NoError(t, os.Remove(filepath.Join(dir, "changes.log")), "as OpenFiles does when it is large")
		}
	}
}

// On a disk without room, or one that cannot be written, the sessions are listed nevertheless.
func TestListWithoutRoom(t *testing.T) {
	dir := t.TempDir()
	l, err := files(t, dir).Create(t.Context(), "a", journal.Meta{Title: "A"})
	require.NoError(t, err)
	require.NoError(t, l.Close())
	changes := filepath.Join(dir, "changes.log")
	require.NoError(t, os.Remove(changes))
	require.NoError(t, os.Mkdir(changes, 0o700), "it cannot be created")
	s := files(t, dir)
	assert.Equal(t, map[string]string{"a": "A"}, titles(t, s))
	require.NoError(t, os.Remove(changes))
	assert.Equal(t, map[string]string{"a": "A"}, titles(t, s))
}

// A session whose folder a person has removed is not listed any more.
func TestListOfARemovedFolder(t *testing.T) {
	dir := t.TempDir()
	s := files(t, dir)
	for _, id := range []string{"a", "b"} {
		l, err := s.Create(t.Context(), id, journal.Meta{Title: id})
		require.NoError(t, err)
		require.NoError(t, l.Close())
	}
	require.Len(t, titles(t, s), 2)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "b")))
	assert.Equal(t, map[string]string{"a": "a"}, titles(t, s))
}

// A session without a readable file is listed with the damage, under the id that can be known, and only
// to its owner.
func TestListOfALostSession(t *testing.T) {
	dir := t.TempDir()
	s := files(t, dir)
	for id, owner := range map[string]string{"s": "", "t": "o"} {
		l, err := s.Create(t.Context(), id, journal.Meta{Owner: owner})
		require.NoError(t, err)
		_, err = l.Append(number(1))
		require.NoError(t, err)
		require.NoError(t, l.Close())
		require.NoError(t, os.WriteFile(filepath.Join(dir, id, "meta.json"), []byte("{"), 0o600))
	}
	log := filepath.Join(dir, "s", "log.jsonl")
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	text[20] ^= 1
	require.NoError(t, os.WriteFile(log, text, 0o600))
	for _, q := range []journal.Query{{}, {Owner: "o"}} {
		page, _, err := files(t, dir).List(t.Context(), q)
		require.NoError(t, err)
		require.Len(t, page, 1)
		assert.Equal(t, map[string]string{"": "s", "o": "t"}[q.Owner], page[0].ID)
		assert.Contains(t, page[0].Damage, "meta.json")
	}
}

// The limits hold while sessions are created, also for what another process has used meanwhile.
func TestLimitsWhileSessionsAreCreated(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the clock of Windows is too coarse for the order")
	}
	dir := t.TempDir()
	create := func(s journal.Store, id string, size int) {
		l, err := s.Create(t.Context(), id, journal.Meta{})
		require.NoError(t, err)
		_, err = l.Append(journal.Record{Data: fmt.Appendf(nil, "%0*d", size, 1)[:1]})
		require.NoError(t, err)
		_, err = l.Append(journal.Record{Data: fmt.Appendf(nil, "%q", fmt.Sprintf("%0*d", size, 0))})
		require.NoError(t, err)
		require.NoError(t, l.Sync(t.Context()))
		require.NoError(t, l.Close())
	}
	first := files(t, dir)
	create(first, "a", 10_000)
	create(first, "b", 10_000)
	s, err := journal.OpenFiles(dir, &journal.FilesOptions{MaxBytes: 35_000})
	require.NoError(t, err)
	l, err := first.Open(t.Context(), "a")
	require.NoError(t, err)
	require.NoError(t, l.SetMeta(func(m *journal.Meta) { m.Title = "used" }))
	require.NoError(t, l.Close())
	for i := range 3 {
		create(s, fmt.Sprint("c", i), 10_000)
	}
	l, err = s.Create(t.Context(), "last", journal.Meta{})
	require.NoError(t, err)
	require.NoError(t, l.Close())
	all := titles(t, s)
	assert.NotContains(t, all, "b", "it was not used for longest")
	assert.Contains(t, all, "c2")
	assert.Contains(t, all, "last")
	assert.Len(t, all, 4, "of about 10 KB each, and an empty one: %v", all)
}
