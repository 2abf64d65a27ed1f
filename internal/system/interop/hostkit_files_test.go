//go:build unix

package interop_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
)

// An agent on the TypeScript SDK reads and writes through client/host.
func TestHostKitFiles(t *testing.T) {
	t.Parallel()
	k := newHostKit(t, host.Options{Ask: yes})
	secret := filepath.Join(k.base, "secret.txt")
	for path, text := range map[string]string{
		secret: "secret", k.base + "/work-twin/a": "secret", k.at("a"): "one\ntwo\nthree", k.at("crlf"): "\ufeffone\r\ntwo\r\n", k.at("sub/b"): "b", k.at("b"): "wrong",
		k.at("latin"): "\xe9", k.at("nul"): "a\x00b", k.at("empty"): "",
	} {
		k.put(path, text)
	}
	k.link(filepath.Join(k.base, "nothing"), k.at("dangling out"))
	k.link("made", k.at("dangling in"))
	k.link(k.base, k.at("up"))
	require.NoError(t, os.MkdirAll(k.at("sub/deep"), 0o755))
	k.link("sub/deep", k.at("alias"))
	require.NoError(t, os.Link(secret, k.at("hard")))
	require.NoError(t, syscall.Mkfifo(k.at("fifo"), 0o600))
	socket, err := net.Listen("unix", k.at("socket"))
	require.NoError(t, err)
	defer socket.Close()
	k.put(k.at("large"), strings.Repeat("x", 16<<20+1))
	require.NoError(t, os.Chmod(k.at("sub/b"), 0o4750))

	const refused, missing = "-32602", "-32002"
	text := func(s string) string { return `{"content":"` + s + `"}` }
	lines := func(label string, line, limit any) step {
		s := readStep(label, k.at("a"))
		s.Params["line"], s.Params["limit"] = line, limit
		return s
	}
	foreign := readStep("unknown session", k.at("a"))
	foreign.Params["sessionId"] = "session-99"
	var steps []step
	want := map[string]string{}
	expect := func(s step, answer string) {
		steps = append(steps, s)
		want[s.Label] = answer
	}
	for path, answer := range map[string]string{
		secret: refused, k.base + "/nothing": refused, k.base + "/work-twin/a": refused, k.at("../secret.txt"): refused, k.at("up/secret.txt"): refused,
		k.at("up/nothing"): refused, k.at("dangling out"): refused, "/": refused, "/etc/passwd": refused, "/dev/null": refused, "/proc/self/environ": refused,
		k.at("fifo"): refused, k.at("socket"): refused, k.at("sub"): refused, k.at("latin"): refused, k.at("nul"): refused, k.at("large"): refused,
		k.at(strings.Repeat("n", 300)): refused, k.at("n\x00ul"): refused, "a": refused,
		k.at("missing"): missing, k.at("dangling in"): missing, k.at("no/such/folder"): missing,
		k.at("a"): text(`one\ntwo\nthree`), k.at("crlf"): text("\ufeff" + `one\r\ntwo\r\n`), k.at("alias/../b"): text("b"), k.at("empty"): text(""), k.at("hard"): text("secret"),
	} {
		expect(readStep("read "+path, path), answer)
	}
	expect(lines("line 0", 0, nil), text(`one\ntwo\nthree`))
	expect(lines("line 1", 1, 1), text(`one\n`))
	expect(lines("line 3", 3, 5), text(`three`))
	expect(lines("limit 0", 2, 0), text(``))
	expect(lines("line past the end", 9, nil), text(``))
	expect(foreign, refused)
	for path, answer := range map[string]string{
		secret: refused, k.at("up/secret.txt"): refused, k.at("up/new/file"): refused, k.at("dangling out"): refused, k.base + "/work-twin/b": refused,
		k.at("fifo"): refused, k.at("sub"): refused, "/dev/null": refused,
		k.at("dangling in"): "{}", k.at("new/deep/file"): "{}", k.at("hard"): "{}", k.at("sub/b"): "{}",
	} {
		expect(writeStep("write "+path, path, "new"), answer)
	}
	expect(writeStep("too large", k.at("big"), map[string]any{"$fill": 16<<20 + 1}), refused)
	expect(writeStep("a NUL", k.at("big"), "a\x00b"), refused)

	got := k.run(steps...)
	for label, answer := range want {
		assert.Equal(t, answer, got.get(label), label)
	}
	assert.Equal(t, "secret", k.text(secret), "neither outside nor by another hard link")
	assert.NoDirExists(t, filepath.Join(k.base, "new"))
	assert.NoFileExists(t, filepath.Join(k.base, "nothing"))
	assert.NoFileExists(t, k.at("big"))
	for _, path := range []string{"made", "new/deep/file", "hard", "sub/b"} {
		assert.Equal(t, "new", k.text(k.at(path)), path)
	}
	info, err := os.Stat(k.at("sub/b"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o750), info.Mode(), "the mode without setuid")

	// What the folder of the session is called later does not matter.
	require.NoError(t, os.Rename(k.work, k.work+".moved"))
	k.link(k.base, k.work)
	got = k.run(readStep("read", k.at("secret.txt")), writeStep("write", k.at("secret.txt"), "mine"), readStep("again", k.at("secret.txt")))
	assert.Equal(t, []string{missing, "{}", text("mine")}, []string{got.get("read"), got.get("write"), got.get("again")})
	assert.Equal(t, "secret", k.text(secret))
	assert.Equal(t, "mine", k.text(k.work+".moved/secret.txt"))
}

// Everything may be read with the root /, except what is no file.
func TestHostKitRootOfTheSystem(t *testing.T) {
	t.Parallel()
	k := newHostKit(t, host.Options{Roots: []string{"/"}, ReadOnly: true})
	k.put(k.at("a"), "a")
	got := k.run(readStep("file", k.at("a")), readStep("environ", "/proc/self/environ"), readStep("through proc", "/proc/self/root"+k.at("a")),
		readStep("fd", "/dev/fd/0"), readStep("stdin", "/dev/stdin"), readStep("sys", "/sys/kernel/uevent_seqnum"), writeStep("write", k.at("a"), "b"))
	assert.Equal(t, `{"content":"a"}`, got.get("file"))
	for _, label := range []string{"environ", "through proc", "fd", "stdin", "sys"} {
		assert.Equal(t, "-32602", got.get(label), label)
	}
	assert.Equal(t, "-32601", got.get("write"), "read only")
	assert.Equal(t, "a", k.text(k.at("a")))
}

// While the user thinks, the folder of the file becomes a link that leads outside. The
// file that the user was asked about is written.
func TestHostKitPathIsExchanged(t *testing.T) {
	t.Parallel()
	var k *hostKit
	k = newHostKit(t, host.Options{Ask: func(ctx context.Context, q *permission.Question) (string, error) {
		if err := os.Rename(k.at("sub"), k.at("was")); err != nil {
			return "", err
		}
		return q.Pick(permission.AllowOnce), os.Symlink(k.base, k.at("sub"))
	}})
	k.put(k.at("sub/a"), "a")
	k.put(k.base+"/a", "secret")
	assert.Equal(t, "{}", k.run(writeStep("write", k.at("sub/a"), "changed")).get("write"))
	assert.Equal(t, "secret", k.text(k.base+"/a"))
	assert.Equal(t, "changed", k.text(k.at("was/a")))
	assert.Equal(t, "-32602", k.run(readStep("read", k.at("sub/a"))).get("read"))
}

// A root may be named through a link, and open texts of an editor win.
func TestHostKitBuffers(t *testing.T) {
	t.Parallel()
	base := scratch(t)
	require.NoError(t, os.MkdirAll(base+"/real/work", 0o755))
	require.NoError(t, os.Symlink("real", base+"/alias"))
	root := base + "/alias/work"
	editor := buffers{base + "/real/work/open": "unsaved"}
	k := newHostKit(t, host.Options{Roots: []string{root}, Ask: yes, Files: &files.Options{Buffers: editor}})
	k.put(root+"/open", "saved")
	k.put(root+"/other", "saved")
	got := k.run(readStep("open", root+"/open"), readStep("real name", base+"/real/work/open"), readStep("other", root+"/other"),
		writeStep("write", root+"/open", "typed"), readStep("again", root+"/open"))
	assert.Equal(t, []string{`{"content":"unsaved"}`, `{"content":"unsaved"}`, `{"content":"saved"}`, `{}`, `{"content":"typed"}`},
		[]string{got.get("open"), got.get("real name"), got.get("other"), got.get("write"), got.get("again")})
	assert.Equal(t, "saved", k.text(root+"/open"), "the editor saves")
}

// buffers are the texts that are open in an editor, by path.
type buffers map[string]string

func (b buffers) ReadBuffer(_ context.Context, op *files.Operation) (string, bool, error) {
	text, ok := b[op.Path]
	return text, ok, nil
}

func (b buffers) WriteBuffer(_ context.Context, op *files.Operation) (bool, error) {
	_, ok := b[op.Path]
	if ok {
		b[op.Path] = op.Content
	}
	return ok, nil
}
