package journal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/journal/journaltest"
)

func TestMemory(t *testing.T) {
	journaltest.Test(t, journaltest.Maker{New: func(testing.TB) journal.Store { return new(journal.Memory) }})
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
