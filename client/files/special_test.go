//go:build unix

package files_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/rpcerr"
)

func TestSpecialFiles(t *testing.T) {
	h := newFixture(t, files.Options{Roots: []string{"/"}}, nil)
	h.conn.Open("s", "/")
	require.NoError(t, syscall.Mkfifo(h.at("fifo"), 0o600))
	h.mkdir("folder")
	h.link("fifo", "link")
	t.Chdir(h.work) // the path of a socket must be short
	socket, err := net.Listen("unix", "socket")
	require.NoError(t, err)
	defer socket.Close()
	paths := []string{h.at("fifo"), h.at("folder"), h.at("link"), h.at("socket"), "/", "/dev/null", "/dev/zero", "/dev/fd/0", "/dev/stdin", "/dev/tty"}
	if isLinux {
		paths = append(paths, "/proc/self/environ", "/proc/version", "/proc/self/root/etc/passwd", "/proc/self/cwd/fifo",
			"/proc/self/fd/0", "/sys/kernel/uevent_seqnum", "/proc/nothing", "/dev/fd/99")
	}
	for _, path := range paths {
		_, err := h.read(path)
		assert.ErrorIs(t, err, files.ErrNotFile, path)
		assert.ErrorIs(t, err, rpcerr.ErrInvalidParams, path)
		assert.ErrorIs(t, h.write(path, "x"), files.ErrNotFile, path)
	}
}

func TestHardLinks(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	require.NoError(t, os.Link(h.secret, h.at("linked")))
	got, err := h.read(h.at("linked"))
	require.NoError(t, err)
	assert.Equal(t, secretText, got)
	require.NoError(t, h.write(h.at("linked"), "changed"))
	assert.Equal(t, "changed", h.text(h.at("linked")))
	assert.Equal(t, secretText, h.text(h.secret))
}

func TestInPlace(t *testing.T) {
	h := newFixture(t, files.Options{InPlace: true}, nil)
	h.put(h.at("a"), "a longer text")
	before, err := os.Stat(h.at("a"))
	require.NoError(t, err)
	require.NoError(t, h.write(h.at("a"), "short"))
	after, err := os.Stat(h.at("a"))
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after))
	assert.Equal(t, "short", h.text(h.at("a")))
	require.NoError(t, h.write(h.at("sub/new"), "new"))
	assert.Equal(t, "new", h.text(h.at("sub/new")))
	require.NoError(t, os.Link(h.secret, h.at("linked")))
	assert.ErrorIs(t, h.write(h.at("linked"), "changed"), files.ErrHardLink)
	assert.Equal(t, secretText, h.text(h.secret))
}

// While a person thinks about a file, only one folder is open for it, however deep the file is and
// however many links lead to it.
func TestFewDescriptorsDuringTheCheck(t *testing.T) {
	var h *fixture
	var open []int
	h = newFixture(t, files.Options{}, func(context.Context, *files.Operation) error {
		names, err := os.ReadDir("/dev/fd")
		require.NoError(t, err)
		open = append(open, len(names))
		return nil
	})
	deep := strings.Repeat("d/", 50)
	h.mkdir(deep)
	h.link(h.work, deep+"top")
	h.put(h.at("a"), "a")
	h.put(h.at(deep+"a"), "a")
	for _, path := range []string{
		"a", deep + "a", deep + "top/" + deep + "top/" + deep + "top/" + deep + "a", deep + strings.Repeat("../", 50) + deep + "a",
	} {
		_, err := h.read(h.at(path))
		require.NoError(t, err)
	}
	for _, n := range open[1:] {
		assert.LessOrEqual(t, n, open[0]+1)
	}
}

func TestMode(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	for _, mode := range []os.FileMode{0o600, 0o644, 0o755, 0o640 | os.ModeSetuid, 0o755 | os.ModeSetgid | os.ModeSticky} {
		h.put(h.at("a"), "a")
		require.NoError(t, os.Chmod(h.at("a"), mode))
		require.NoError(t, h.write(h.at("a"), "b"))
		info, err := os.Stat(h.at("a"))
		require.NoError(t, err)
		assert.Equal(t, mode.Perm(), info.Mode())
	}
	require.NoError(t, h.write(h.at("new"), "b"))
	require.NoError(t, os.WriteFile(h.at("usual"), nil, 0o644))
	made, err := os.Stat(h.at("new"))
	require.NoError(t, err)
	usual, err := os.Stat(h.at("usual"))
	require.NoError(t, err)
	assert.Equal(t, usual.Mode(), made.Mode())
}

// A write in place removes setuid and setgid, for root too.
func TestModeInPlace(t *testing.T) {
	h := newFixture(t, files.Options{InPlace: true}, nil)
	for _, mode := range []os.FileMode{0o600, 0o755, 0o755 | os.ModeSetuid, 0o755 | os.ModeSetgid, 0o740 | os.ModeSetuid | os.ModeSetgid} {
		h.put(h.at("a"), "a")
		require.NoError(t, os.Chmod(h.at("a"), mode))
		require.NoError(t, h.write(h.at("a"), "b"))
		info, err := os.Stat(h.at("a"))
		require.NoError(t, err)
		assert.Equal(t, mode.Perm(), info.Mode())
	}
}

// A file outside that is linked into a folder of the session and out of it again, again and again, is not written in
// place.
func TestRacedHardLinks(t *testing.T) {
	if !isLinux {
		t.Skip("this system lacks what the promise needs: the name by which an open file was opened")
	}
	h := newFixture(t, files.Options{InPlace: true}, nil)
	var stop atomic.Bool
	var linkers sync.WaitGroup
	for range 2 {
		linkers.Go(func() { // ends with stop
			for !stop.Load() {
				os.Link(h.secret, h.at("a"))
				os.Remove(h.at("a"))
			}
		})
	}
	written := 0
	for range 8_000 {
		err := h.write(h.at("a"), "overwritten")
		if refusal(t, err); err == nil {
			written++
		}
	}
	stop.Store(true)
	linkers.Wait()
	assert.Equal(t, secretText, h.text(h.secret))
	assert.Positive(t, written, "a file of its own")
}

func TestNothingIsLeftBehind(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	h.put(h.at("a"), "a")
	require.NoError(t, h.write(h.at("a"), "b"))
	h.mkdir("folder")
	require.Error(t, h.write(h.at("folder"), "b"))
	names, err := os.ReadDir(h.work)
	require.NoError(t, err)
	assert.Len(t, names, 2)
}

// A reader sees one of the written texts as a whole.
func TestWritesAreAtomic(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	texts := make([]string, 8)
	for i := range texts {
		texts[i] = strings.Repeat(string(rune('a'+i)), 64<<10+i)
	}
	require.NoError(t, h.write(h.at("a"), texts[0]))
	var writers sync.WaitGroup
	var done atomic.Bool
	for _, text := range texts {
		writers.Go(func() { // ends after its writes
			for range 50 {
				assert.NoError(t, h.write(h.at("a"), text))
			}
		})
	}
	go func() { writers.Wait(); done.Store(true) }() // ends with the writers
	for !done.Load() {
		assert.Contains(t, texts, h.text(h.at("a")))
		if got, err := h.read(h.at("a")); err == nil {
			assert.Contains(t, texts, got)
		} else {
			assert.ErrorIs(t, err, files.ErrChanged)
		}
	}
}

// The hook of a write takes a second in synctest time, which does not pass while a writer can run.
// Without turns all writers would be in the hook at once.
func TestWritersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var writing, most, writes atomic.Int32
		h := newFixture(t, files.Options{Buffers: buffers(func() {
			writes.Add(1)
			most.Store(max(most.Load(), writing.Add(1)))
			time.Sleep(time.Second)
			writing.Add(-1)
		})}, nil)
		h.link("a", "alias")
		other := h.folders.ReadWriter(h.conn, nil)
		var all sync.WaitGroup
		write := func(w *files.ReadWriter, name string) {
			all.Go(func() { // ends with its write
				_, err := w.WriteTextFile(h.conn.Handling(t.Context()), &acp.WriteTextFileRequest{SessionID: "s", Path: h.at(name), Content: "x"})
				assert.NoError(t, err)
			})
		}
		for range 5 { // with both connections and both names
			write(h.ReadWriter, "a")
			write(h.ReadWriter, "alias")
			write(other, "a")
			write(other, "alias")
		}
		begun := time.Now()
		all.Wait()
		assert.EqualValues(t, 1, most.Load())
		assert.Equal(t, 20*time.Second, time.Since(begun))

		begun = time.Now()
		write(h.ReadWriter, "a")
		write(h.ReadWriter, "b")
		all.Wait()
		assert.Equal(t, time.Second, time.Since(begun), "other paths do not wait")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		write(h.ReadWriter, "a")
		synctest.Wait()
		_, err := other.WriteTextFile(h.conn.Handling(ctx), &acp.WriteTextFileRequest{SessionID: "s", Path: h.at("a"), Content: "x"})
		assert.ErrorIs(t, err, context.DeadlineExceeded, "who waits may leave")
		all.Wait()
		assert.EqualValues(t, 23, writes.Load())
	})
}

// buffers belong to an editor that has no file open.
type buffers func()

func (buffers) ReadBuffer(context.Context, *files.Operation) (string, bool, error) {
	return "", false, nil
}

func (b buffers) WriteBuffer(context.Context, *files.Operation) (bool, error) {
	b()
	return false, nil
}

// If a file grows while it is read, its content at some moment is read, and no more than the limit,
// even if the writer is faster than the reader.
func TestGrowingFile(t *testing.T) {
	const limit = 1 << 20
	h := newFixture(t, files.Options{MaxRead: limit}, nil)
	f, err := os.Create(h.at("log"))
	require.NoError(t, err)
	defer f.Close()
	line := []byte(strings.Repeat("x", 4095) + "\n")
	var stop atomic.Bool
	var writer sync.WaitGroup
	writer.Go(func() { // ends with stop
		for n := 0; !stop.Load(); n += len(line) {
			if n >= 4*limit { // start again, so that some reads pass the limit
				assert.NoError(t, f.Truncate(0))
				_, err := f.Seek(0, io.SeekStart)
				assert.NoError(t, err)
				n = 0
			}
			_, err := f.Write(line)
			assert.NoError(t, err)
		}
	})
	read, refused := 0, 0
	for end := time.Now().Add(time.Minute); (read < 50 || refused < 50) && time.Now().Before(end); {
		text, err := h.read(h.at("log"))
		if err != nil {
			require.ErrorIs(t, err, files.ErrTooLarge)
			refused++
			continue
		}
		require.LessOrEqual(t, len(text), limit)
		require.Empty(t, strings.Trim(text, "x\n"))
		if text != "" {
			read++
		}
	}
	stop.Store(true)
	writer.Wait()
	assert.Positive(t, read)
	assert.Positive(t, refused)
}

// The last element and its folder are exchanged repeatedly between inside and outside. Nothing
// outside is read or written.
func TestRaces(t *testing.T) {
	for _, inPlace := range []bool{false, true} {
		h := newFixture(t, files.Options{InPlace: inPlace}, nil)
		vault := filepath.Join(h.base, "vault")
		require.NoError(t, os.Mkdir(vault, 0o755))
		h.put(filepath.Join(vault, "file"), secretText)
		h.mkdir("folder")
		h.put(h.at("folder/file"), "mine")
		var stop atomic.Bool
		var swapper sync.WaitGroup
		swap := func(name, target string, isFolder bool) {
			swapper.Go(func() { // ends with stop
				for !stop.Load() {
					os.RemoveAll(h.at(name))
					os.Symlink(target, h.at(name))
					os.Remove(h.at(name))
					if isFolder {
						os.Mkdir(h.at(name), 0o755)
						os.WriteFile(h.at(name+"/file"), []byte("mine"), 0o644)
					} else {
						os.WriteFile(h.at(name), []byte("mine"), 0o644)
					}
				}
			})
		}
		swap("last", h.secret, false)
		swap("dir", vault, true)
		swap("chain", h.at("dir"), true)
		read := 0
		for i := range 1200 {
			path := h.at([]string{"last", "dir/file", "chain/file"}[i%3])
			text, err := h.read(path)
			if refusal(t, err); err == nil {
				read++
				require.NotContains(t, text, "secret")
			}
			refusal(t, h.write(path, "overwritten"))
			if i%3 == 1 {
				refusal(t, h.write(h.at("dir/new/file"), "overwritten"))
			}
		}
		stop.Store(true)
		swapper.Wait()
		assert.Positive(t, read)
		assert.Equal(t, secretText, h.text(h.secret))
		assert.Equal(t, secretText, h.text(filepath.Join(vault, "file")))
		names, err := os.ReadDir(vault)
		require.NoError(t, err)
		assert.Len(t, names, 1, "nothing was created outside")
	}
}

// refusal requires an error that the agent can act on, not an internal error.
func refusal(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, rpcerr.ErrInvalidParams) {
		require.ErrorIs(t, err, rpcerr.ErrResourceNotFound)
	}
}
