package journal_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/journal/journaltest"
)

func TestMemory(t *testing.T) {
	journaltest.Test(t, journaltest.Maker{New: func(testing.TB) journal.Store { return new(journal.Memory) }})
}

func TestTable(t *testing.T) {
	journaltest.Test(t, journaltest.Maker{
		New: func(testing.TB) journal.Store {
			return &tableStore{database: &database{sessions: map[string]*session{}}}
		},
		Reopen: func(_ testing.TB, s journal.Store) journal.Store {
			return &tableStore{database: s.(*tableStore).database}
		},
	})
}

func TestFiles(t *testing.T) {
	dirs := map[journal.Store]string{}
	open := func(t testing.TB, dir string) journal.Store {
		s, err := journal.OpenFiles(dir, nil)
		require.NoError(t, err)
		dirs[s] = dir
		return s
	}
	journaltest.Test(t, journaltest.Maker{
		New:    func(t testing.TB) journal.Store { return open(t, t.TempDir()) },
		Reopen: func(t testing.TB, s journal.Store) journal.Store { return open(t, dirs[s]) },
	})
}

func contextWithCause(t *testing.T, cause error) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(t.Context())
	return ctx, func() { cancel(cause) }
}

// The format of a log does not change: sessions of earlier versions can be read.
func TestFormat(t *testing.T) {
	want, err := os.ReadFile(filepath.Join("testdata", "log.jsonl"))
	require.NoError(t, err)
	got := written(t, t.TempDir())
	_, records, _ := bytes.Cut(got, []byte("\n")) // the head has the time of its creation
	_, golden, _ := bytes.Cut(want, []byte("\n"))
	assert.Equal(t, string(golden), string(records))

	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "s"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s", "log.jsonl"), want, 0o600))
	meta, err := os.ReadFile(filepath.Join("testdata", "meta.json"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s", "meta.json"), meta, 0o600))
	l, err := files(t, dir).Open(t.Context(), "s")
	require.NoError(t, err)
	defer l.Close()
	assert.Equal(t, []string{"1", "2", "3"}, numbers(t, l))
	assert.Equal(t, "/w", l.Meta().Cwd)
	assert.Empty(t, l.Damage())
}

// Records of a later version are kept, and nothing is appended after them.
func TestLaterVersion(t *testing.T) {
	dir := t.TempDir()
	text := written(t, dir)
	later := []byte(`{"sum":"da4e47e7","v":2,"new":"layout"}` + "\n")
	name := filepath.Join(dir, "s", "log.jsonl")
	require.NoError(t, os.WriteFile(name, append(text, later...), 0o600))
	l, err := files(t, dir).Open(t.Context(), "s")
	require.NoError(t, err)
	defer l.Close()
	assert.Equal(t, []string{"1", "2", "3"}, numbers(t, l))
	assert.Empty(t, l.Damage())
	_, err = l.Append(number(4))
	require.ErrorIs(t, err, journal.ErrNewer)
	require.ErrorIs(t, l.SetMeta(func(*journal.Meta) {}), journal.ErrNewer)
	after, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, string(text)+string(later), string(after))
}

// Only the user of the process can read the files.
func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	dir := filepath.Join(t.TempDir(), "new", "store")
	written(t, dir)
	for name, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "s"): 0o700, filepath.Join(dir, "s", "log.jsonl"): 0o600, filepath.Join(dir, "s", "meta.json"): 0o600} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode().Perm(), name)
	}
}

// A crash may happen between any two operations of Create and Delete.
func TestUnfinished(t *testing.T) {
	for name, c := range map[string]struct {
		remain map[string]string // "" is the text of a complete file, "empty" an empty one
		err    error             // of Open; nil if the session is there
		listed bool
	}{
		"a folder":                {map[string]string{}, journal.ErrNotFound, false},
		"an empty log":            {map[string]string{"log.jsonl": "empty"}, journal.ErrNotFound, false},
		"an unfinished meta":      {map[string]string{"log.jsonl": "empty", "meta.json.new": "{"}, journal.ErrNotFound, false},
		"a delete that has begun": {map[string]string{"log.jsonl": "", "deleted": "empty"}, journal.ErrNotFound, false},
		"a delete without meta":   {map[string]string{"log.jsonl": "", "meta.json.new": "{", "deleted": "empty"}, journal.ErrNotFound, false},
		"a delete at its end":     {map[string]string{"deleted": "empty"}, journal.ErrNotFound, false},
		"a meta that was lost":    {map[string]string{"log.jsonl": ""}, nil, true},
		"a damaged meta":          {map[string]string{"log.jsonl": "", "meta.json": "{"}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			written(t, dir)
			folder := filepath.Join(dir, "s")
			complete := map[string][]byte{}
			for _, name := range []string{"log.jsonl", "meta.json"} {
				complete[name], _ = os.ReadFile(filepath.Join(folder, name))
			}
			require.NoError(t, os.RemoveAll(folder))
			require.NoError(t, os.Mkdir(folder, 0o700))
			for name, text := range c.remain {
				b := []byte(text)
				if text == "" {
					b = complete[name]
				} else if text == "empty" {
					b = nil
				}
				require.NoError(t, os.WriteFile(filepath.Join(folder, name), b, 0o600))
			}
			var logged bytes.Buffer
			s, err := journal.OpenFiles(dir, &journal.FilesOptions{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
			require.NoError(t, err)
			page, _, err := s.List(t.Context(), journal.Query{})
			require.NoError(t, err)
			assert.Equal(t, c.listed, len(page) == 1)
			for _, m := range page {
				assert.Equal(t, "/w", m.Cwd)
				assert.Contains(t, m.Damage, "meta.json")
			}
			assert.Empty(t, logged.String())
			l, err := s.Open(t.Context(), "s")
			if c.err == nil {
				require.NoError(t, err)
				assert.Equal(t, []string{"1", "2", "3"}, numbers(t, l))
				assert.Equal(t, "/w", l.Meta().Cwd)
				require.Len(t, l.Damage(), 1)
				assert.Contains(t, l.Damage()[0].String(), "meta.json")
				require.NoError(t, l.Close())
				return
			}
			require.ErrorIs(t, err, c.err)
			l, err = s.Create(t.Context(), "s", journal.Meta{})
			require.NoError(t, err)
			assert.Empty(t, numbers(t, l))
			require.NoError(t, l.Close())
		})
	}
}

// A missing or empty log is an error, not an empty session.
func TestLostLog(t *testing.T) {
	for name, lose := range map[string]func(name string) error{
		"removed": os.Remove,
		"empty":   func(name string) error { return os.Truncate(name, 0) },
		"zeros":   func(name string) error { return os.WriteFile(name, make([]byte, 500), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			written(t, dir)
			require.NoError(t, lose(filepath.Join(dir, "s", "log.jsonl")))
			_, err := files(t, dir).Open(t.Context(), "s")
			var damaged *journal.DamagedError
			require.ErrorAs(t, err, &damaged)
			assert.Contains(t, err.Error(), filepath.Join(dir, "s", "log.jsonl"))
		})
	}
}

// A session that cannot be read does not hide other sessions.
func TestListWithDamage(t *testing.T) {
	dir := t.TempDir()
	written(t, dir)
	for name, text := range map[string]string{"bad": "{", "other": `{"id":"s"}`, "null": "null"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "meta.json"), []byte(text), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a file"), nil, 0o600))
	page, next, err := files(t, dir).List(t.Context(), journal.Query{})
	require.NoError(t, err)
	require.Len(t, page, 1)
	assert.Equal(t, "s", page[0].ID)
	assert.Empty(t, next)
}

// The list shows what another process has changed, even if the new meta file has the time of the
// old one. The times of some file systems are that coarse.
func TestListOfAReplacedFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the times of Windows are exact, and the identity of a file is read only when it is compared")
	}
	dir := t.TempDir()
	l, err := files(t, dir).Create(t.Context(), "s", journal.Meta{Title: "old"})
	require.NoError(t, err)
	defer l.Close()
	other := files(t, dir)
	name := filepath.Join(dir, "s", "meta.json")
	before, err := os.Stat(name)
	require.NoError(t, err)
	for _, title := range []string{"old", "new"} {
		require.NoError(t, l.SetMeta(func(m *journal.Meta) { m.Title = title }))
		require.NoError(t, os.Chtimes(name, before.ModTime(), before.ModTime()))
		page, _, err := other.List(t.Context(), journal.Query{})
		require.NoError(t, err)
		require.Len(t, page, 1)
		assert.Equal(t, title, page[0].Title)
	}
}

// The limits delete the sessions that were not changed for longest, never one that is open, and
// each deletion is logged.
func TestLimits(t *testing.T) {
	dir := t.TempDir()
	all := files(t, dir)
	for i := range 5 {
		l, err := all.Create(t.Context(), fmt.Sprint("s", i), journal.Meta{})
		require.NoError(t, err)
		_, err = l.Append(journal.Record{Data: bytes.Repeat([]byte("1"), 10_000)})
		require.NoError(t, err)
		require.NoError(t, l.Close())
	}
	used, err := all.Open(t.Context(), "s0")
	require.NoError(t, err)
	defer used.Close()
	listed := func(opts *journal.FilesOptions) (ids []string) {
		s, err := journal.OpenFiles(dir, opts)
		require.NoError(t, err)
		page, _, err := s.List(t.Context(), journal.Query{})
		require.NoError(t, err)
		for _, m := range page {
			ids = append(ids, m.ID)
		}
		return ids
	}
	var logged bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&logged, nil))
	assert.Equal(t, []string{"s4", "s3", "s2", "s1", "s0"}, listed(&journal.FilesOptions{MaxAge: time.Hour, MaxBytes: 60_000, Logger: logger}))
	assert.Empty(t, logged.String())
	assert.Equal(t, []string{"s4", "s3", "s0"}, listed(&journal.FilesOptions{MaxBytes: 35_000, Logger: logger}))
	assert.Contains(t, logged.String(), "session=s1")
	assert.Contains(t, logged.String(), "session=s2")
	assert.Equal(t, []string{"s0"}, listed(&journal.FilesOptions{MaxAge: 1, Logger: logger}))
	_, err = journal.OpenFiles(dir, &journal.FilesOptions{MaxAge: -1})
	require.Error(t, err)
	_, err = journal.OpenFiles("", nil)
	require.EqualError(t, err, "journal: the path of the folder is empty")
}

func BenchmarkAppend(b *testing.B) {
	l, err := files(b, b.TempDir()).Create(b.Context(), "s", journal.Meta{})
	require.NoError(b, err)
	defer l.Close()
	r := journal.Record{Kind: journal.KindEvent, Data: fmt.Appendf(nil, `{"text":%q}`, bytes.Repeat([]byte("x"), 200))}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Append(r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoad opens a session of 10 000 records and reads them.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	l, err := files(b, dir).Create(b.Context(), "s", journal.Meta{})
	require.NoError(b, err)
	for range 10_000 {
		_, err := l.Append(journal.Record{Kind: journal.KindEvent, Data: fmt.Appendf(nil, `{"text":%q}`, bytes.Repeat([]byte("x"), 200))})
		require.NoError(b, err)
	}
	require.NoError(b, l.Close())
	s := files(b, dir)
	for b.Loop() {
		l, err := s.Open(b.Context(), "s")
		require.NoError(b, err)
		require.Len(b, numbers(b, l), 10_000)
		require.NoError(b, l.Close())
	}
}

// BenchmarkList lists the first page of 10 000 sessions in a new process, and the second.
func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	for i := range 10_000 {
		folder := filepath.Join(dir, fmt.Sprint("s", i))
		require.NoError(b, os.Mkdir(folder, 0o700))
		meta := fmt.Appendf(nil, `{"id":"s%d","created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:05.%09dZ","cwd":"/w","title":"A title","synced":3}`, i, i)
		require.NoError(b, os.WriteFile(filepath.Join(folder, "meta.json"), meta, 0o600))
	}
	page := func(b *testing.B, s *journal.Files, q journal.Query) string {
		page, next, err := s.List(b.Context(), q)
		require.NoError(b, err)
		require.Len(b, page, 100)
		return next
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			page(b, files(b, dir), journal.Query{})
		}
	})
	b.Run("again", func(b *testing.B) {
		s := files(b, dir)
		page(b, s, journal.Query{})
		for b.Loop() {
			page(b, s, journal.Query{})
		}
	})
	b.Run("next", func(b *testing.B) {
		s := files(b, dir)
		next := page(b, s, journal.Query{})
		for b.Loop() {
			page(b, s, journal.Query{Cursor: next})
		}
	})
}

// Other users of the machine read no session, wherever the store is.
func TestOnlyTheUserReadsSessions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	written(t, dir)
	n := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		if n++; runtime.GOOS != "windows" {
			assert.Zero(t, info.Mode().Perm()&0o077, "%s has %v", path, info.Mode())
		}
		return nil
	}))
	assert.Greater(t, n, 3)
}
