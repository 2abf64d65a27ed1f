//go:build unix

package workspace_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Operations that the client offers are done by the client, the others on this machine unless that
// is excluded. Texts and exit codes show where an operation was done.
func TestWhoDoesIt(t *testing.T) {
	const client, disk, nobody = "the client", "this machine", "nobody"
	where := func(f *fixture, name, text string) string {
		return map[[2]bool]string{{true, false}: client, {false, true}: disk, {}: nobody}[[2]bool{f.buffer(name) == text, f.disk(name) == text}]
	}
	operations := []struct {
		tool, needs, asks string
		do                func(f *fixture) (who string, err error)
	}{
		{"read_file", "r", acp.MethodFSReadTextFile, func(f *fixture) (string, error) {
			file, err := f.Read(f.t.Context(), "read")
			return text(file, err), err
		}},
		{"write_file", "w", acp.MethodFSWriteTextFile, func(f *fixture) (string, error) {
			_, err := f.Write(f.t.Context(), "new", "text", workspace.AnyText)
			return where(f, "new", "text"), err
		}},
		{"edit_file", "w", acp.MethodFSWriteTextFile, func(f *fixture) (string, error) {
			_, err := f.Edit(f.t.Context(), "same", []workspace.Replacement{{Old: "two", New: "three"}}, workspace.AnyText)
			return where(f, "same", "one three"), err
		}},
		{"run_command", "c", acp.MethodTerminalCreate, func(f *fixture) (string, error) {
			res, err := f.Run(f.t.Context(), workspace.Command{Line: "exit 4"}, nil)
			if err != nil {
				return nobody, err
			}
			return map[uint32]string{3: client, 4: disk}[*res.ExitCode], nil
		}},
		{"search", "none", "no request", func(f *fixture) (string, error) {
			found, _, err := f.Search(f.t.Context(), workspace.Query{Pattern: "this machine"})
			return map[int]string{1: disk}[len(found)], err
		}},
	}
	for _, letters := range []string{"", "r", "w", "c", "rw", "rc", "wc", "rwc"} {
		for _, noLocal := range []bool{false, true} {
			t.Run(fmt.Sprintf("%q %v", letters, noLocal), func(t *testing.T) {
				f := open(t, letters, &workspace.Options{NoLocal: noLocal})
				f.put("read", disk)
				f.setBuffer("read", client)
				f.put("same", "one two")
				f.setBuffer("same", "one two")
				offered := []string{}
				for _, op := range operations {
					want := disk
					switch {
					case op.tool == "edit_file" && noLocal && !strings.Contains(letters, "rw"), noLocal && !strings.Contains(letters, op.needs):
						want = nobody
					case strings.Contains(letters, op.needs):
						want = client
					}
					f.editor.requests()
					who, err := op.do(f)
					assert.Equal(t, want == nobody, errors.Is(err, workspace.ErrNotOffered), op.tool)
					if want != nobody {
						offered = append(offered, op.tool)
						require.NoError(t, err, op.tool)
						assert.Equal(t, want, who, op.tool)
					}
					assert.Equal(t, want == client, f.editor.asks(op.asks), op.tool)
				}
				var got []string
				for _, tool := range workspace.Tools(f.Workspace) {
					got = append(got, tool.Name)
				}
				assert.ElementsMatch(t, offered, got)
			})
		}
	}
}

// If the client refuses to read, to write or to run a command, the agent does not do it. A client
// that lacks a method which it advertises refuses too.
func TestRefusalIsNotDoneLocally(t *testing.T) {
	for _, refusal := range []*rpcerr.RequestError{
		rpcerr.New(403, "Permission denied", nil), rpcerr.MethodNotFound("any"), rpcerr.InternalError(nil), rpcerr.InvalidParams(nil),
	} {
		f := open(t, "rwc", nil)
		f.editor.refuse = refusal
		f.put("a", "text")
		_, err := f.Read(t.Context(), "a")
		assert.ErrorIs(t, err, refusal)
		_, err = f.ReadLines(t.Context(), "a", 1, 1)
		assert.ErrorIs(t, err, refusal)
		_, err = f.Write(t.Context(), "a", "other", workspace.AnyText)
		assert.ErrorIs(t, err, refusal)
		_, err = f.Write(t.Context(), "a", "other", workspace.VersionOf("text"))
		assert.ErrorIs(t, err, refusal)
		_, err = f.Edit(t.Context(), "a", []workspace.Replacement{{Old: "text"}}, workspace.AnyText)
		assert.ErrorIs(t, err, refusal)
		_, err = f.Run(t.Context(), workspace.Command{Line: "echo x > ran"}, nil)
		assert.ErrorIs(t, err, refusal)
		assert.Equal(t, "text", f.disk("a"))
		assert.Equal(t, "no file", f.disk("ran"))
	}
}

// A client that offers only reading also protects the files that it refuses to read.
func TestWriteNeedsTheTextOfTheClient(t *testing.T) {
	f := open(t, "r", nil)
	f.put("a", "text")
	_, err := f.Write(t.Context(), "a", "other", workspace.AnyText)
	assert.ErrorIs(t, err, workspace.ErrUnsaved, "the client has no such file")
	f.setBuffer("a", "text, and not saved")
	_, err = f.Write(t.Context(), "a", "other", workspace.AnyText)
	assert.ErrorIs(t, err, workspace.ErrUnsaved)
	_, err = f.Edit(t.Context(), "a", []workspace.Replacement{{Old: "not saved", New: "saved"}}, workspace.AnyText)
	assert.ErrorIs(t, err, workspace.ErrUnsaved)
	f.setBuffer("b", "not saved yet")
	_, err = f.Write(t.Context(), "b", "other", workspace.AnyText)
	assert.ErrorIs(t, err, workspace.ErrUnsaved, "the disk has no such file")
	f.editor.refuse = rpcerr.New(403, "Permission denied", nil)
	_, err = f.Write(t.Context(), "a", "other", workspace.AnyText)
	assert.ErrorIs(t, err, f.editor.refuse)
	assert.Equal(t, "text", f.disk("a"))

	f.editor.refuse = nil
	f.setBuffer("a", "text")
	_, err = f.Edit(t.Context(), "a", []workspace.Replacement{{Old: "text", New: "other"}}, workspace.AnyText)
	require.NoError(t, err)
	assert.Equal(t, "other", f.disk("a"))
}

// Roots that do not exist on this machine are folders of the client's machine.
func TestRootsOfAnotherMachine(t *testing.T) {
	f := open(t, "r", nil)
	w, err := workspace.Open(f.conn, "s1", []string{"/no/such/folder"}, nil)
	require.NoError(t, err)
	_, err = w.Write(t.Context(), "a", "text", workspace.AnyText)
	assert.ErrorIs(t, err, workspace.ErrNotOffered)
	_, err = w.Run(t.Context(), workspace.Command{Line: "ls"}, nil)
	assert.ErrorIs(t, err, workspace.ErrNotOffered)
	require.Len(t, workspace.Tools(w), 1)
	assert.Equal(t, "read_file", workspace.Tools(w)[0].Name)

	f = open(t, "rwc", nil)
	for dir, want := range map[string]struct{ path, command string }{
		`C:\src`:              {`C:\src\a\b`, "cmd.exe"},
		`c:/src/`:             {`c:\src\a\b`, "cmd.exe"},
		`\\wsl$\Ubuntu\src`:   {`\\wsl$\Ubuntu\src\a\b`, "cmd.exe"},
		"/far/away/./x/../y/": {"/far/away/y/a/b", "/bin/sh"},
	} {
		w, err := workspace.Open(f.conn, "s1", []string{dir}, nil)
		require.NoError(t, err, dir)
		_, err = w.Write(t.Context(), "a/x/../b", "text", workspace.AnyText)
		require.NoError(t, err, dir)
		f.editor.mu.Lock()
		assert.Equal(t, want.path, f.editor.params[len(f.editor.params)-2].(*acp.WriteTextFileRequest).Path)
		f.editor.params = nil
		f.editor.mu.Unlock()
		_, err = w.Run(t.Context(), workspace.Command{Line: "dir"}, nil)
		require.NoError(t, err, dir)
		f.editor.mu.Lock()
		assert.Equal(t, want.command, f.editor.params[0].(*acp.CreateTerminalRequest).Command)
		f.editor.mu.Unlock()
	}
	w, err = workspace.Open(f.conn, "s1", []string{`C:\src`}, nil)
	require.NoError(t, err)
	for path, want := range map[string]error{
		`C:\SRC\a`: nil, `c:/src/a`: nil, `C:\src\..\a`: workspace.ErrOutside, `C:\srcs\a`: workspace.ErrOutside, `..\a`: workspace.ErrOutside,
		`D:\src\a`: workspace.ErrOutside, `\src\a`: workspace.ErrName, "C:a": workspace.ErrName, `\\?\C:\src\a`: workspace.ErrOutside, "": workspace.ErrName,
	} {
		_, err := w.Write(t.Context(), path, "text", workspace.AnyText)
		assert.ErrorIs(t, err, want, path)
	}
}

// The home folder and a whole disk can be roots only if the program allows it.
func TestWideRoots(t *testing.T) {
	f := open(t, "", nil)
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, root := range []string{"/", home, home + "/..", home + "/."} {
		_, err := workspace.Open(f.conn, "s1", []string{f.root, root}, nil)
		require.ErrorIs(t, err, rpcerr.ErrInvalidParams, root)
		wire, ok := errors.AsType[*rpcerr.RequestError](rpcerr.From(err))
		require.True(t, ok)
		assert.Contains(t, err.Error()+fmt.Sprint(wire.Data), "contains the whole home folder or disk")
		_, err = workspace.Open(f.conn, "s1", []string{root}, &workspace.Options{AnyRoot: true})
		require.NoError(t, err)
		_, err = workspace.Open(f.conn, "s1", []string{root}, &workspace.Options{NoLocal: true})
		require.NoError(t, err)
	}
	_, err := workspace.Open(f.conn, "s1", []string{home + "/project"}, nil)
	require.NoError(t, err)
	for _, roots := range [][]string{nil, {"relative"}, {""}, {"/a\x00"}} {
		_, err := workspace.Open(f.conn, "s1", roots, nil)
		assert.Error(t, err, "%q", roots)
	}
}

// The client receives the absolute path of a file, whatever form the model used.
func TestInputHasTheAbsolutePath(t *testing.T) {
	f := open(t, "", nil)
	f.put("a", "one\n")
	for _, tool := range workspace.Tools(f.Workspace) {
		input := map[string]string{
			"read_file": `{"path":"./a","line":1}`, "edit_file": `{"path":"a","edits":[{"old":"one","new":"two"}]}`, "write_file": `{"path":"b","text":""}`,
		}[tool.Name]
		if input == "" {
			continue
		}
		var in struct{ Path string }
		require.NoError(t, json.Unmarshal(tool.Describe(t.Context(), json.RawMessage(input)).Input, &in))
		assert.Contains(t, []string{f.at("a"), f.at("b")}, in.Path, tool.Name)
	}
}
