//go:build unix

package files_test

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/internal/reserve"
)

// reserver replaces the connection. It is called for each reservation.
type reserver func(size int64) error

func (r reserver) ReserveResult(_ context.Context, size int64) error { return r(size) }

func (r reserver) read(h *fixture, path string) (string, error) {
	ctx := context.WithValue(context.Background(), reserve.Key{}, reserve.Reserver(r))
	res, err := h.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: h.session, Path: path})
	if err != nil {
		return "", err
	}
	return res.Content, nil
}

// Room for a large file is reserved after the Check and before the file is loaded. Many requests
// may wait for room, so none of them keeps a file or folder open meanwhile.
func TestRoomIsReservedBeforeAFileIsLoaded(t *testing.T) {
	var events []string
	h := newFixture(t, files.Options{}, func(context.Context, *files.Operation) error {
		events = append(events, "check")
		return nil
	})
	h.mkdir("a/b")
	large, small := strings.Repeat("x", reserve.Small), strings.Repeat("x", reserve.Small-1)
	h.put(h.at("a/b/large"), large)
	h.put(h.at("a/b/small"), small)
	require.NoError(t, h.write(h.at("first"), "")) // opens the session's folder
	events = nil
	open := func() int {
		names, _ := os.ReadDir("/dev/fd") // empty on systems without that folder
		return len(names)
	}
	before := open()
	r := reserver(func(size int64) error {
		events = append(events, "reserve")
		assert.GreaterOrEqual(t, size, int64(len(large)))
		assert.Equal(t, before, open())
		h.put(h.at("a/b/large"), "y"+large[1:]) // the file is read later
		return nil
	})
	text, err := r.read(h, h.at("a/b/large"))
	require.NoError(t, err)
	assert.Equal(t, "y"+large[1:], text)
	assert.Equal(t, []string{"check", "reserve"}, events)

	events = nil
	text, err = r.read(h, h.at("a/b/small"))
	require.NoError(t, err)
	assert.Equal(t, small, text)
	assert.Equal(t, []string{"check"}, events)

	events = nil
	ctx := context.WithValue(t.Context(), reserve.Key{}, reserve.Reserver(r))
	h.put(h.at("a/b/large"), large+"\nline 2\n"+large)
	res, err := h.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: h.session, Path: h.at("a/b/large"), Line: new(uint32(2)), Limit: new(uint32(1))})
	require.NoError(t, err)
	assert.Equal(t, "line 2\n", res.Content)
	assert.Equal(t, []string{"check"}, events, "a few lines take no room")

	failing := reserver(func(int64) error { return context.Canceled })
	_, err = failing.read(h, h.at("a/b/large"))
	assert.Equal(t, context.Canceled, err)
}

// The file may grow while a request waits for room. No more is loaded than was reserved.
func TestFileGrowsWhileRoomIsReserved(t *testing.T) {
	h := newFixture(t, files.Options{MaxRead: 1 << 20}, nil)
	size, reserved := int64(reserve.Small), int64(0)
	h.put(h.at("log"), strings.Repeat("x", int(size)))
	r := reserver(func(room int64) error {
		reserved = room
		if size < 300_000 {
			size += 100_000
			h.put(h.at("log"), strings.Repeat("x", int(size)))
		}
		return nil
	})
	text, err := r.read(h, h.at("log"))
	require.NoError(t, err)
	assert.Len(t, text, int(size))
	assert.LessOrEqual(t, size, reserved)

	r = func(int64) error { h.put(h.at("log"), strings.Repeat("x", 1<<20+1)); return nil }
	_, err = r.read(h, h.at("log"))
	assert.ErrorIs(t, err, files.ErrTooLarge)
}

// While a request waits for room, its path may change, the file may be removed and the session may
// end. Only the file that was checked is read.
func TestPathChangesWhileRoomIsReserved(t *testing.T) {
	large := strings.Repeat("x", reserve.Small)
	for name, test := range map[string]struct {
		change func(h *fixture)
		want   error
	}{
		"other path": {func(h *fixture) {
			require.NoError(h.t, os.Remove(h.at("link")))
			h.link("other", "link")
		}, files.ErrChanged},
		"removed": {func(h *fixture) { require.NoError(h.t, os.Remove(h.at("file"))) }, fs.ErrNotExist},
		"session": {func(h *fixture) { h.conn.Close(h.session) }, files.ErrUnknownSession},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t, files.Options{}, nil)
			h.put(h.at("file"), large)
			h.put(h.at("other"), "z"+large)
			h.link("file", "link")
			r := reserver(func(int64) error { test.change(h); return nil })
			_, err := r.read(h, h.at("link"))
			assert.ErrorIs(t, err, test.want)
		})
	}
}
