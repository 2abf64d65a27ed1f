package files_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/internal/wine"
	"github.com/acpkit/go-sdk/rpcerr"
)

const isLinux = runtime.GOOS == "linux"

func recordPaths(paths *[]string) files.Check {
	return func(_ context.Context, op *files.Operation) error {
		*paths = append(*paths, op.Path)
		return nil
	}
}

func TestLines(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	const bom = "\ufeff"
	none := new(uint32)
	tests := map[string]struct {
		text        string
		line, limit *uint32
		want        string
	}{
		"all":                     {"one\ntwo\nthree\n", nil, nil, "one\ntwo\nthree\n"},
		"line 0":                  {"one\ntwo\n", new(uint32(0)), nil, "one\ntwo\n"},
		"line 1":                  {"one\ntwo\n", new(uint32(1)), nil, "one\ntwo\n"},
		"line 2":                  {"one\ntwo\n", new(uint32(2)), nil, "two\n"},
		"some":                    {"one\ntwo\nthree\n", new(uint32(2)), new(uint32(1)), "two\n"},
		"limit 0":                 {"one\ntwo\n", nil, none, ""},
		"limit beyond the end":    {"one\ntwo\n", nil, new(uint32(9)), "one\ntwo\n"},
		"past the end":            {"one\ntwo\n", new(uint32(3)), nil, ""},
		"far past the end":        {"one\n", new(uint32(4_000_000_000)), new(uint32(4_000_000_000)), ""},
		"no final newline":        {"one\ntwo", new(uint32(2)), new(uint32(5)), "two"},
		"CRLF":                    {"one\r\ntwo\r\n", new(uint32(1)), new(uint32(1)), "one\r\n"},
		"CR alone is no line end": {"one\rtwo\n", nil, new(uint32(1)), "one\rtwo\n"},
		"BOM":                     {bom + "one\ntwo\n", nil, new(uint32(1)), bom + "one\n"},
		"empty lines":             {"\n\n\n", new(uint32(2)), new(uint32(1)), "\n"},
		"empty":                   {"", new(uint32(1)), new(uint32(1)), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h.put(h.at("a"), tt.text)
			res, err := h.ReadTextFile(t.Context(), &acp.ReadTextFileRequest{SessionID: "s", Path: h.at("a"), Line: tt.line, Limit: tt.limit})
			require.NoError(t, err)
			assert.Equal(t, tt.want, res.Content)
		})
	}
}

func TestTextStaysAsItIs(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	for _, text := range []string{"", "a", "a\r\nb", "\ufeffx\n", "héllo € 😀\n", strings.Repeat("ü\n", 100_000)} {
		require.NoError(t, h.write(h.at("a"), text))
		assert.Equal(t, text, h.text(h.at("a")))
		got, err := h.read(h.at("a"))
		require.NoError(t, err)
		assert.Equal(t, text, got)
	}
}

func TestNotText(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	for name, text := range map[string]string{
		"NUL": "a\x00b", "Latin-1": "caf\xe9", "UTF-16": "\xff\xfea\x00", "cut": "\xe2\x82", "surrogate": "\xed\xa0\x80",
		"late": strings.Repeat("a", 1<<20) + "\xff",
	} {
		h.put(h.at("a"), text)
		_, err := h.read(h.at("a"))
		assert.ErrorIs(t, err, files.ErrNotText, name)
		assert.ErrorIs(t, err, rpcerr.ErrInvalidParams, name)
		require.NoError(t, os.Remove(h.at("a")))
		assert.ErrorIs(t, h.write(h.at("a"), text), files.ErrNotText, name)
		assert.NoFileExists(t, h.at("a"))
	}
}

func TestTooLarge(t *testing.T) {
	for name, c := range map[string]struct {
		opts        files.Options
		read, write int
	}{
		"options": {files.Options{MaxRead: 100, MaxWrite: 50}, 100, 50},
		"default": {files.Options{}, 16 << 20, 16 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t, c.opts, nil)
			h.put(h.at("a"), strings.Repeat("x", c.read))
			_, err := h.read(h.at("a"))
			assert.NoError(t, err)
			h.put(h.at("a"), strings.Repeat("x", c.read+1))
			_, err = h.read(h.at("a"))
			assert.ErrorIs(t, err, files.ErrTooLarge)
			assert.NoError(t, h.write(h.at("a"), strings.Repeat("x", c.write)))
			assert.ErrorIs(t, h.write(h.at("a"), strings.Repeat("x", c.write+1)), files.ErrTooLarge)
		})
	}
}

// An agent can read lines of a file that is larger than the limit.
func TestLinesOfALargeFile(t *testing.T) {
	h := newFixture(t, files.Options{MaxRead: 1000}, nil)
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	h.put(h.at("log"), b.String()+strings.Repeat("x", 200_000)+"\nlast")
	read := func(line, limit *uint32) (string, error) {
		res, err := h.ReadTextFile(t.Context(), &acp.ReadTextFileRequest{SessionID: "s", Path: h.at("log"), Line: line, Limit: limit})
		if err != nil {
			return "", err
		}
		return res.Content, nil
	}
	for _, c := range []struct {
		line, limit *uint32
		want        string
	}{
		{nil, new(uint32(2)), "line 1\nline 2\n"},
		{new(uint32(0)), new(uint32(1)), "line 1\n"},
		{new(uint32(99_999)), new(uint32(2)), "line 99999\nline 100000\n"},
		{new(uint32(100_002)), nil, "last"},
		{new(uint32(100_002)), new(uint32(math.MaxUint32)), "last"},
		{new(uint32(100_003)), nil, ""},
		{new(uint32(5)), new(uint32(0)), ""},
	} {
		text, err := read(c.line, c.limit)
		assert.NoError(t, err)
		assert.Equal(t, c.want, text)
	}
	for _, tooMuch := range [][2]*uint32{{nil, nil}, {nil, new(uint32(1000))}, {new(uint32(100_001)), nil}} {
		_, err := read(tooMuch[0], tooMuch[1])
		assert.ErrorIs(t, err, files.ErrTooLarge)
	}
	h.put(h.at("log"), "text\n"+strings.Repeat("x\n", 500)+"\x00\n\xff\n")
	text, err := read(nil, new(uint32(1)))
	assert.NoError(t, err)
	assert.Equal(t, "text\n", text)
	for _, line := range []uint32{502, 503} {
		_, err = read(&line, nil)
		assert.ErrorIs(t, err, files.ErrNotText)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = h.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: "s", Path: h.at("log"), Limit: new(uint32(1))})
	assert.ErrorIs(t, err, context.Canceled)
}

// The error has the reason of the system, and no path that the agent did not name.
func TestReasonsOfTheSystem(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{syscall.ENOSPC: syscall.ENOSPC.Error(), syscall.EROFS: syscall.EROFS.Error()} {
		failed := &os.PathError{Op: "write", Path: "/home/secret/.acpkit.tmp", Err: errno}
		answer, err := json.Marshal((&files.Error{Path: "/work/a", Err: errors.Join(failed, nil)}).RequestError())
		require.NoError(t, err)
		assert.Contains(t, string(answer), "the file could not be used: "+want)
		assert.NotContains(t, string(answer), "secret")
	}
}

func TestNames(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	for name, path := range map[string]string{
		"relative":   "a",
		"empty":      "",
		"NUL":        h.at("a\x00b"),
		"long name":  h.at(strings.Repeat("n", 256)),
		"long path":  h.at(strings.Repeat("n/", 2500) + "a"),
		"deep":       h.at(strings.Repeat("n/", 300) + "a"),
		"long below": h.at("new/" + strings.Repeat("n", 256)),
	} {
		_, err := h.read(path)
		assert.ErrorIs(t, err, files.ErrName, name)
		assert.ErrorIs(t, h.write(path, ""), files.ErrName, name)
	}
	assert.NoDirExists(t, h.at("new"))
}

func TestCheck(t *testing.T) {
	needSymlinks(t)
	no := errors.New("not today")
	var seen []files.Operation
	h := newFixture(t, files.Options{}, func(_ context.Context, op *files.Operation) error {
		seen = append(seen, *op)
		if strings.HasSuffix(op.Path, "no") {
			return no
		}
		return nil
	})
	h.mkdir("sub")
	h.put(h.at("sub/a"), "a")
	require.NoError(t, os.Symlink("sub", h.at("alias")))
	_, err := h.read(h.at("alias/a"))
	require.NoError(t, err)
	require.NoError(t, h.write(h.at("alias/b"), "b"))
	assert.Equal(t, no, h.write(h.at("new/no"), "x"), "the error is passed on as it is")
	_, err = h.read(h.at("no"))
	assert.Equal(t, no, err)
	assert.Equal(t, []files.Operation{
		{Session: "s", Path: h.at("sub/a"), Requested: h.at("alias/a"), Exists: true},
		{Session: "s", Write: true, Path: h.at("sub/b"), Requested: h.at("alias/b"), Content: "b"},
		{Session: "s", Write: true, Path: h.at("new/no"), Requested: h.at("new/no"), Content: "x"},
		{Session: "s", Path: h.at("no"), Requested: h.at("no")},
	}, seen)
	assert.NoDirExists(t, h.at("new"), "nothing is done before the check")
}

// The checked file is the one that is written, even if the path leads elsewhere by then.
func TestPathIsExchangedDuringTheCheck(t *testing.T) {
	needSymlinks(t)
	var h *fixture
	h = newFixture(t, files.Options{}, func(_ context.Context, op *files.Operation) error {
		require.Equal(t, h.at("sub/a"), op.Path)
		require.NoError(t, os.Rename(h.at("sub"), h.at("moved")))
		require.NoError(t, os.Symlink("private", h.at("sub")))
		return nil
	})
	h.mkdir("sub")
	h.mkdir("private")
	h.put(h.at("private/a"), "private")
	require.NoError(t, h.write(h.at("sub/a"), "new"))
	assert.Equal(t, "private", h.text(h.at("private/a")))
	assert.Equal(t, "new", h.text(h.at("moved/a")))
}

func TestFileIsExchangedDuringTheCheck(t *testing.T) {
	needSymlinks(t)
	for _, inPlace := range []bool{false, true} {
		var h *fixture
		h = newFixture(t, files.Options{InPlace: inPlace}, func(context.Context, *files.Operation) error {
			require.NoError(t, os.Remove(h.at("a")))
			require.NoError(t, os.Symlink("private", h.at("a")))
			return nil
		})
		h.put(h.at("private"), "private")
		h.put(h.at("a"), "a")
		_, err := h.read(h.at("a"))
		assert.ErrorIs(t, err, files.ErrNotFile)
		require.NoError(t, os.Remove(h.at("a")))
		h.put(h.at("a"), "a")
		assert.ErrorIs(t, h.write(h.at("a"), "new"), files.ErrNotFile)
		assert.Equal(t, "private", h.text(h.at("private")))
	}
}

func TestCtxEndsDuringTheCheck(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	h := newFixture(t, files.Options{}, func(context.Context, *files.Operation) error { cancel(); return nil })
	_, err := h.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: "s", Path: h.at("a"), Content: "a"})
	assert.ErrorIs(t, err, context.Canceled)
	assert.NoFileExists(t, h.at("a"))
}

func TestTheSessionEndsDuringTheCheck(t *testing.T) {
	for _, name := range []string{"a", "sub/a"} { // in its own folder and in one below
		var h *fixture
		h = newFixture(t, files.Options{}, func(context.Context, *files.Operation) error { h.conn.Close("s"); return nil })
		h.mkdir("sub")
		h.put(h.at(name), "a")
		_, err := h.read(h.at(name))
		assert.ErrorIs(t, err, files.ErrUnknownSession)
		h.conn.Open("s", h.work)
		assert.ErrorIs(t, h.write(h.at(name), "changed"), files.ErrUnknownSession)
		assert.Equal(t, "a", h.text(h.at(name)))
	}
}

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

// editor holds the texts that are open, by path.
type editor map[string]string

func (e editor) ReadBuffer(_ context.Context, op *files.Operation) (string, bool, error) {
	text, ok := e[op.Path]
	return text, ok, nil
}

func (e editor) WriteBuffer(_ context.Context, op *files.Operation) (bool, error) {
	_, ok := e[op.Path]
	if ok {
		e[op.Path] = op.Content
	}
	return ok, nil
}

func TestBuffers(t *testing.T) {
	e := editor{}
	h := newFixture(t, files.Options{Buffers: e}, func(_ context.Context, op *files.Operation) error {
		if strings.HasSuffix(op.Path, "denied") {
			return errors.New("denied")
		}
		return nil
	})
	h.put(h.at("a"), "saved")
	h.put(h.at("b"), "b")
	e[h.at("a")] = "one\ntwo\n"
	e[h.at("new")] = "not saved"
	e[h.at("denied")] = "x"
	e[h.secret] = "x"
	res, err := h.ReadTextFile(t.Context(), &acp.ReadTextFileRequest{SessionID: "s", Path: h.at("a"), Line: new(uint32(2))})
	require.NoError(t, err)
	assert.Equal(t, "two\n", res.Content)
	got, err := h.read(h.at("new"))
	require.NoError(t, err)
	assert.Equal(t, "not saved", got)
	require.NoError(t, h.write(h.at("a"), "changed"))
	assert.Equal(t, "changed", e[h.at("a")])
	assert.Equal(t, "saved", h.text(h.at("a")))
	require.NoError(t, h.write(h.at("b"), "changed"))
	assert.Equal(t, "changed", h.text(h.at("b")))
	assert.Error(t, h.write(h.at("denied"), "changed"))
	assert.ErrorIs(t, h.write(h.secret, "changed"), files.ErrOutside)
	assert.Equal(t, "x", e[h.at("denied")])
	assert.Equal(t, "x", e[h.secret])
}

// needSymlinks skips the test under wine, and for users of Windows without permission to create
// symlinks.
func needSymlinks(t *testing.T) {
	t.Helper()
	wine.Lacks(t, "symlinks that Go finds")
	const notHeld = syscall.Errno(1314) // ERROR_PRIVILEGE_NOT_HELD
	err := os.Symlink(t.TempDir(), filepath.Join(t.TempDir(), "link"))
	if runtime.GOOS == "windows" && errors.Is(err, notHeld) {
		t.Skip("this user may not create symlinks: ", err)
	}
	require.NoError(t, err)
}
