package files_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/files"
)

// A program that exits after Close leaves no file half written.
func TestCloseWaitsForWrites(t *testing.T) {
	for range 20 {
		h := newFixture(t, files.Options{}, nil)
		var writers sync.WaitGroup
		begun := make(chan struct{})
		for i := range 4 {
			writers.Go(func() { // ends when a write is refused
				for n := 0; h.write(h.at(fmt.Sprint(i)), strings.Repeat("x", 1<<20)) == nil; n++ {
					if i == 0 && n == 0 {
						close(begun)
					}
				}
			})
		}
		<-begun
		require.NoError(t, h.folders.Close())
		names, err := os.ReadDir(h.work)
		require.NoError(t, err)
		for _, name := range names {
			assert.NotContains(t, name.Name(), ".tmp")
		}
		writers.Wait()
		after, err := os.ReadDir(h.work)
		require.NoError(t, err)
		assert.Len(t, after, len(names))
	}
}

// A write that was allowed is still refused after Close.
func TestCloseDuringTheCheck(t *testing.T) {
	for _, name := range []string{"a", "sub/a"} {
		var h *fixture
		h = newFixture(t, files.Options{}, func(context.Context, *files.Operation) error { return h.folders.Close() })
		h.mkdir("sub")
		assert.ErrorIs(t, h.write(h.at(name), "a"), files.ErrUnknownSession)
		assert.NoFileExists(t, h.at(name))
	}
}
