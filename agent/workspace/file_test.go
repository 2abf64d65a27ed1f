//go:build unix

package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"encoding/json"
	"fmt"
	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The client and this machine read and write texts unchanged.
func TestBytesAreKept(t *testing.T) {
	for _, letters := range []string{"", "rw", "r"} {
		f := open(t, letters, nil)
		for name, want := range map[string]string{
			"empty": "", "space": " \n\t\n ", "no end": "a\nb", "crlf": "a\r\nb\r\n", "cr": "a\rb", "bom": "\ufeffa\n", "mixed": "a\r\nb\nc\r", "$1": "$1 ${0} \\1",
		} {
			written, err := f.Write(t.Context(), "dir/"+name, want, workspace.NoFile)
			require.NoError(t, err, name)
			assert.Equal(t, workspace.VersionOf(want), written.Version)
			if letters == "r" {
				f.setBuffer("dir/"+name, want) // the editor has opened it
			}
			file, err := f.Read(t.Context(), "dir/"+name)
			require.NoError(t, err, name)
			assert.Equal(t, want, file.Text)
			assert.Equal(t, f.at("dir/"+name), file.Path)
			assert.Equal(t, written.Version, file.Version)
			kept := f.disk
			if letters == "rw" {
				kept = f.buffer
			}
			assert.Equal(t, want, kept("dir/"+name))
		}
	}
}

// A write expects a version, any version, or no file.
func TestWriteIfUnchanged(t *testing.T) {
	for _, letters := range []string{"", "rw", "w"} {
		f := open(t, letters, nil)
		put := f.put
		if letters == "rw" {
			put = f.setBuffer
		}
		put("a", "one")
		write := func(name string, old workspace.Version) error {
			_, err := f.Write(t.Context(), name, "two", old)
			return err
		}
		assert.ErrorIs(t, write("a", workspace.NoFile), workspace.ErrStale)
		assert.ErrorIs(t, write("a", workspace.VersionOf("other")), workspace.ErrStale)
		assert.ErrorIs(t, write("b", workspace.VersionOf("")), workspace.ErrStale)
		assert.Equal(t, "no file", f.disk("b"))
		assert.Equal(t, "no file", f.buffer("b"))
		require.NoError(t, write("b", workspace.NoFile))
		require.NoError(t, write("a", workspace.VersionOf("one")))
		require.NoError(t, write("c", workspace.AnyText))
		require.NoError(t, write("c", workspace.AnyText))
	}
}

// If several writes expect the same version, one of them succeeds.
func TestConcurrentEdits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, "rw", nil)
		f.setBuffer("a", "0")
		other, err := workspace.Open(f.conn, "s1", []string{f.root}, nil)
		require.NoError(t, err)
		writing := make(chan struct{})
		f.editor.before = func(method string) {
			if method == acp.MethodFSWriteTextFile {
				<-writing
			}
		}
		errs := make(chan error, 2)
		for _, w := range []*workspace.Workspace{f.Workspace, other} {
			go func() { // ends with its edit
				_, err := w.Edit(t.Context(), "a", []workspace.Replacement{{Old: "0", New: "1"}}, workspace.AnyText)
				errs <- err
			}()
		}
		synctest.Wait() // one writes, and both have read the file
		close(writing)
		all := []error{<-errs, <-errs}
		assert.Contains(t, all, error(nil))
		assert.ErrorIs(t, errors.Join(all...), workspace.ErrStale)
	})
	f := open(t, "", nil)
	f.put("a", "0")
	require.NoError(t, os.Symlink("a", f.at("b")))
	var group sync.WaitGroup
	var done atomic.Int32
	for i := range 20 {
		group.Go(func() {
			_, err := f.Edit(t.Context(), []string{"a", "b"}[i%2], []workspace.Replacement{{Old: "0", New: "1"}}, workspace.AnyText)
			_, edit := errors.AsType[*workspace.EditError](err)
			assert.True(t, err == nil || edit || errors.Is(err, workspace.ErrStale), err)
			if err == nil {
				done.Add(1)
			}
		})
	}
	group.Wait()
	assert.Equal(t, int32(1), done.Load())
}

// If an editor formats a text when it saves, the result has the formatted text.
func TestFormatOnSave(t *testing.T) {
	f := open(t, "rw", nil)
	f.editor.saved = func(text string) string { return text + "// formatted\n" }
	file, err := f.Write(t.Context(), "a", "x\n", workspace.NoFile)
	assert.Equal(t, "x\n// formatted\n", text(file, err))
	assert.Equal(t, workspace.VersionOf("x\n// formatted\n"), file.Version)
	_, err = f.Write(t.Context(), "a", "y\n", file.Version)
	require.NoError(t, err)
}

// Clients report in many ways that a file does not exist.
func TestFileThatDoesNotExist(t *testing.T) {
	for _, answer := range []*rpcerr.RequestError{
		rpcerr.ResourceNotFound("/a"),
		rpcerr.InternalError(map[string]any{"details": "ENOENT: no such file or directory, open '/a'"}),
		rpcerr.New(rpcerr.CodeInternalError, "File not found", nil),
	} {
		f := open(t, "r", nil)
		f.editor.refuse = answer
		_, err := f.Read(t.Context(), "a")
		assert.ErrorIs(t, err, fs.ErrNotExist)
		assert.ErrorIs(t, err, answer)
	}
	_, err := open(t, "", nil).Read(t.Context(), "a")
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

// If the answer of a client leaves open whether a file exists or was written, what this machine can see
// decides. A read that fails does not mean that the file is new, and the reason is that of the client.
func TestClientThatDoesNotSayWhy(t *testing.T) {
	for name, answer := range map[string]func(p *rawpeer.Peer, m rawpeer.Message, text string){
		"an error without a reason": func(p *rawpeer.Peer, m rawpeer.Message, _ string) { p.Fail(m, -32603, "Internal error") },
		"a list":                    func(p *rawpeer.Peer, m rawpeer.Message, _ string) { p.Answer(m, "[]") },
		"a text":                    func(p *rawpeer.Peer, m rawpeer.Message, text string) { p.Answer(m, text) },
	} {
		for _, saves := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", saves: ", saves), func(t *testing.T) {
				root, err := filepath.EvalSymlinks(t.TempDir())
				require.NoError(t, err)
				there := filepath.Join(root, "there")
				require.NoError(t, os.WriteFile(there, []byte("old"), 0o600))
				s, peer := rawpeer.Pipe(t)
				conn := rawpeer.Start(t, agent.New(s, func(*agent.Conn) acp.Agent { return &peertest.Agent{} }, nil))
				peer.Call("1", "initialize", `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}}}`)
				peer.Next()
				go func() { // ends with the connection
					for {
						m, ok := peer.Recv()
						if !ok {
							return
						}
						var p struct{ Path, Content string }
						_ = json.Unmarshal(m.Params, &p)
						if m.Method == acp.MethodFSWriteTextFile && saves {
							assert.NoError(t, os.WriteFile(p.Path, []byte(p.Content), 0o600))
						}
						answer(peer, m, `"Cannot touch the file"`)
					}
				}()
				here, err := workspace.Open(conn, "s1", []string{root}, nil)
				require.NoError(t, err)
				far, err := workspace.Open(conn, "s1", []string{"/w"}, nil)
				require.NoError(t, err)
				for _, w := range []*workspace.Workspace{here, far} {
					write := workspace.Tools(w)[1]
					require.Equal(t, "write_file", write.Name)
					for _, file := range []string{"there", "new"} {
						d := write.Describe(t.Context(), []byte(`{"path":"`+file+`","text":"new"}`))
						if w == here && file == "new" {
							require.NoError(t, d.Err)
							assert.Nil(t, d.Preview[0].(*acp.Diff).OldText)
							continue
						}
						require.Error(t, d.Err, "the old text is not known")
						assert.NotContains(t, d.Err.Error(), "new file")
						_, err := w.Write(t.Context(), file, "new", workspace.NoFile)
						require.Error(t, err)
						reason := acp.FailToolCall("c", d.Err).Content[0].(*acp.Content).Content.(*acp.TextContent).Text
						assert.NotContains(t, reason, "object")
						if name == "a text" {
							assert.Contains(t, reason, "Cannot touch the file")
						}
					}
				}
				_, err = here.Write(t.Context(), "new", "text", workspace.NoFile)
				switch text, _ := os.ReadFile(filepath.Join(root, "new")); {
				case saves && name != "a text":
					require.NoError(t, err)
					assert.Equal(t, "text", string(text))
				case name == "a text":
					assert.ErrorContains(t, err, "Cannot touch the file")
				default:
					require.Error(t, err)
				}
				old, err := os.ReadFile(there)
				require.NoError(t, err)
				assert.Equal(t, "old", string(old))
			})
		}
	}
}

// Nothing outside of the roots can be read or written in any way, and no file that is not text.
func TestPaths(t *testing.T) {
	f := open(t, "", nil)
	more, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w, err := workspace.Open(f.conn, "s1", []string{f.root, more}, nil)
	require.NoError(t, err)
	f.put("dir/a", "text")
	require.NoError(t, os.WriteFile(filepath.Join(more, "b"), []byte("more"), 0o644))
	require.NoError(t, os.Symlink(f.secret, f.at("out")))
	require.NoError(t, os.Symlink("../secret", f.at("dots")))
	require.NoError(t, os.Symlink(filepath.Dir(f.secret), f.at("up")))
	require.NoError(t, os.Symlink("dir/a", f.at("in")))
	require.NoError(t, os.Symlink(more, f.at("other")))
	require.NoError(t, os.Symlink("loop", f.at("loop")))
	require.NoError(t, syscall.Mkfifo(f.at("fifo"), 0o644))
	f.put("nul", "a\x00b")
	f.put("latin", "caf\xe9")
	f.put("large", "")
	require.NoError(t, os.Truncate(f.at("large"), 1<<30))
	for path, want := range map[string]error{
		"dir/a": nil, "./dir/../dir/a": nil, f.at("dir/a"): nil, "in": nil, "other/b": nil, filepath.Join(more, "b"): nil,
		"../work/dir/a": nil, f.root + "//dir/./a": nil,
		f.secret: workspace.ErrOutside, "../secret": workspace.ErrOutside, "dir/../../secret": workspace.ErrOutside, "/etc/passwd": workspace.ErrOutside,
		f.root + "2/a": workspace.ErrOutside, "~/a": fs.ErrNotExist,
		"out": workspace.ErrOutside, "dots": workspace.ErrOutside, "up/secret": workspace.ErrOutside,
		"": workspace.ErrName, "a\x00": workspace.ErrName,
		"dir": workspace.ErrNotFile, ".": workspace.ErrNotFile, "fifo": workspace.ErrNotFile, "dir/a/b": workspace.ErrNotFile,
		"nul": workspace.ErrNotText, "latin": workspace.ErrNotText, "large": workspace.ErrTooLarge, "none": fs.ErrNotExist, "none/x": fs.ErrNotExist,
	} {
		_, err := w.Read(t.Context(), path)
		assert.ErrorIs(t, err, want, path)
		_, err = w.ReadLines(t.Context(), path, 1, 1)
		if path != "large" && path != "nul" { // ReadLines can read some of their lines
			assert.ErrorIs(t, err, want, path)
		}
		if want != nil && !errors.Is(want, fs.ErrNotExist) {
			_, err = w.Write(t.Context(), path, "x", workspace.VersionOf("secret\n"))
			assert.ErrorIs(t, err, want, path)
		}
	}
	_, err = w.Read(t.Context(), "loop")
	assert.Error(t, err)
	_, err = w.Write(t.Context(), "loop", "x", workspace.AnyText)
	assert.Error(t, err)
	for _, bad := range []string{"a\x00", "\xff"} {
		_, err = w.Write(t.Context(), "new", bad, workspace.AnyText)
		assert.ErrorIs(t, err, workspace.ErrNotText)
	}
	_, err = w.Write(t.Context(), "new", strings.Repeat("x", 4<<20+1), workspace.AnyText)
	assert.ErrorIs(t, err, workspace.ErrTooLarge)
	for _, path := range []string{"fifo", "dir", "out", "dots", "up/secret", "up/new"} {
		_, err = w.Write(t.Context(), path, "x", workspace.AnyText)
		assert.Error(t, err, path)
	}
	secret, err := os.ReadFile(f.secret)
	require.NoError(t, err)
	assert.Equal(t, "secret\n", string(secret))
}

// If a root is replaced by a symlink to another folder, that folder is not a root.
func TestRootIsReplaced(t *testing.T) {
	f := open(t, "", nil)
	f.put("a", "text")
	require.NoError(t, os.Rename(f.root, f.root+"2"))
	require.NoError(t, os.Symlink(filepath.Dir(f.secret), f.root))
	_, err := f.Read(t.Context(), "secret")
	require.Error(t, err)
	_, err = f.Write(t.Context(), "secret", "x", workspace.AnyText)
	require.Error(t, err)
	require.NoError(t, os.Remove(f.root))
	require.NoError(t, os.Mkdir(f.root, 0o755)) // create it again, as a program that checks out a project does
	_, err = f.Write(t.Context(), "a", "x", workspace.NoFile)
	require.NoError(t, err)
}

// If a root is removed while the session is open, its files do not exist; the error is not
// ErrOutside.
func TestRootIsRemoved(t *testing.T) {
	f := open(t, "", nil)
	require.NoError(t, os.RemoveAll(f.root))
	_, err := f.Read(t.Context(), "a")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = f.Write(t.Context(), "a", "text", workspace.NoFile)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = f.Run(t.Context(), workspace.Command{Line: "pwd"}, nil)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, _, err = f.Search(t.Context(), workspace.Query{})
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.NoDirExists(t, f.root)
}

// The client receives only paths in the roots, without "..".
func TestPathsAtTheClient(t *testing.T) {
	f := open(t, "rw", nil)
	for _, path := range []string{f.secret, "../secret", "dir/../../secret", "/etc/passwd", f.root + "2/a", "", "a\x00"} {
		_, err := f.Read(t.Context(), path)
		assert.Error(t, err, path)
		_, err = f.ReadLines(t.Context(), path, 1, 1)
		assert.Error(t, err, path)
		_, err = f.Write(t.Context(), path, "x", workspace.AnyText)
		assert.Error(t, err, path)
	}
	assert.Empty(t, f.editor.requests())
	f.setBuffer("b", "text")
	assert.Equal(t, "text", text(f.Read(t.Context(), "dir/../b")))
	f.setBuffer("large", strings.Repeat("x", 4<<20+1))
	_, err := f.Read(t.Context(), "large")
	assert.ErrorIs(t, err, workspace.ErrTooLarge)
}

// ReadLines reads some lines of a file, even if the file is larger than the limit of Read.
func TestReadLines(t *testing.T) {
	f := open(t, "", nil)
	f.put("a", "1\n2\r\n3")
	for lines, want := range map[[2]uint32]string{{0, 0}: "1\n2\r\n3", {2, 0}: "2\r\n3", {1, 1}: "1\n", {2, 1}: "2\r\n", {2, 9}: "2\r\n3", {3, 1}: "3", {4, 1}: "", {1, 2}: "1\n2\r\n"} {
		got, err := f.ReadLines(t.Context(), "a", lines[0], lines[1])
		require.NoError(t, err)
		assert.Equal(t, want, got, lines)
	}
	f.put("log", strings.Repeat("a line of a log\n", 1<<19)) // 8 MiB
	got, err := f.ReadLines(t.Context(), "log", 1<<18, 2)
	require.NoError(t, err)
	assert.Equal(t, "a line of a log\na line of a log\n", got)
	_, err = f.ReadLines(t.Context(), "log", 1, 0)
	assert.ErrorIs(t, err, workspace.ErrTooLarge)

	f = open(t, "r", nil)
	f.setBuffer("a", "what the client returns")
	_, err = f.ReadLines(t.Context(), "a", 3, 2)
	require.NoError(t, err)
	req := f.editor.params[0].(*acp.ReadTextFileRequest)
	assert.Equal(t, []uint32{3, 2}, []uint32{*req.Line, *req.Limit})
}

// Edit makes all replacements at once and literally, or none.
func TestEdit(t *testing.T) {
	type edits = []workspace.Replacement
	for name, c := range map[string]struct {
		text  string
		edits edits
		want  string
		fails *workspace.EditError // expected error, without the path
		says  string
	}{
		"one":                 {text: "a b c", edits: edits{{"b", "x"}}, want: "a x c"},
		"removed":             {text: "a b c", edits: edits{{" b", ""}}, want: "a c"},
		"all of it":           {text: "a", edits: edits{{"a", "bb"}}, want: "bb"},
		"out of order":        {text: "a b c", edits: edits{{"c", "3"}, {"a", "1"}}, want: "1 b 3"},
		"side by side":        {text: "ab", edits: edits{{"a", "b"}, {"b", "a"}}, want: "ba"},
		"not of each other":   {text: "a b", edits: edits{{"a", "b"}, {"b", "c"}}, want: "b c"},
		"dollars":             {text: "a b", edits: edits{{"b", `$1 ${0} $$ \1 %s`}}, want: `a $1 ${0} $$ \1 %s`},
		"no expressions":      {text: "a.c abc", edits: edits{{"a.c", "x"}}, want: "x abc"},
		"crlf kept":           {text: "a\r\nb\r\n", edits: edits{{"a\r\nb", "c\nd"}}, want: "c\r\nd\r\n"},
		"white space":         {text: "\ta\n", edits: edits{{"\ta\n", " \n"}}, want: " \n"},
		"not there":           {text: "abc", edits: edits{{"a", "x"}, {"d", "x"}}, fails: &workspace.EditError{Index: 1}, says: "a was not changed: the old text of edit 2 does not occur in it"},
		"twice":               {text: "a a", edits: edits{{"a", "x"}}, fails: &workspace.EditError{Matches: 2}, says: "occurs 2 times"},
		"twice, overlapping":  {text: "aaa", edits: edits{{"aa", "x"}}, fails: &workspace.EditError{Matches: 2}, says: "occurs 2 times"},
		"overlap":             {text: "abc", edits: edits{{"bc", "x"}, {"ab", "y"}}, fails: &workspace.EditError{Index: 0, Matches: 1}, says: "edit 1 overlaps"},
		"the same":            {text: "abc", edits: edits{{"b", "x"}, {"b", "x"}}, fails: &workspace.EditError{Index: 1, Matches: 1}, says: "edit 2 overlaps"},
		"empty":               {text: "abc", edits: edits{{"", "x"}}, fails: &workspace.EditError{}, says: "does not occur"},
		"crlf":                {text: "a\r\nb\r\n", edits: edits{{"a\nb", "x\ny"}}, want: "x\r\ny\r\n"},
		"crlf of one line":    {text: "a\r\nb\r\n", edits: edits{{"a", "x\ny"}}, want: "x\r\ny\r\nb\r\n"},
		"crlf here and there": {text: "a\r\nb\n", edits: edits{{"a\nb", "x"}}, fails: &workspace.EditError{}, says: `end with \r\n`},
		"bom":                 {text: "\ufeffa\n", edits: edits{{"a", "b"}}, want: "\ufeffb\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, letters := range []string{"", "rw"} {
				f := open(t, letters, nil)
				f.put("a", c.text)
				f.setBuffer("a", c.text)
				file, err := f.Edit(t.Context(), "a", c.edits, workspace.VersionOf(c.text))
				if c.fails == nil {
					assert.Equal(t, c.want, text(file, err))
					continue
				}
				failure, ok := errors.AsType[*workspace.EditError](err)
				require.True(t, ok, err)
				assert.Equal(t, f.at("a"), failure.Path)
				assert.Equal(t, []int{c.fails.Index, c.fails.Matches}, []int{failure.Index, failure.Matches})
				assert.Contains(t, failure.Error(), c.says)
				assert.Equal(t, []string{c.text, c.text}, []string{f.disk("a"), f.buffer("a")})
			}
		})
	}
	f := open(t, "", nil)
	f.put("a", "one")
	_, err := f.Edit(t.Context(), "a", edits{{"one", "two"}}, workspace.VersionOf("older"))
	assert.ErrorIs(t, err, workspace.ErrStale)
}
