//go:build unix

package workspace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// A link is shown with its target, and everything else names the target.
func TestLinksAreShown(t *testing.T) {
	f := open(t, "", nil)
	f.put("dir/real", "old")
	require.NoError(t, os.Symlink("dir", f.at("d")))
	require.NoError(t, os.Symlink("dir/real", f.at("link")))
	require.NoError(t, os.Symlink("dir/none", f.at("dangling")))
	for in, want := range map[string]struct{ title, path string }{
		"dir/real": {"Write dir/real", "dir/real"},
		"link":     {"Write link → dir/real", "dir/real"},
		"d/real":   {"Write d/real → dir/real", "dir/real"},
		"dangling": {"Write dangling → dir/none", "dir/none"},
	} {
		p := &person{choice: "allow_always"}
		rules := new(tools.Rules)
		d := f.call(tools.Env{Session: p, Rules: rules}, "write_file", object{"path": in, "text": "text of " + in})
		assert.Equal(t, tools.Completed, d.Outcome, read(d))
		require.Len(t, p.asked, 1)
		asked := p.asked[0]
		assert.Equal(t, want.title, asked.Title)
		assert.Equal(t, []acp.ToolCallLocation{{Path: f.at(want.path)}}, asked.Locations)
		assert.Contains(t, string(asked.RawInput), `"path":"`+f.at(want.path)+`"`)
		assert.Equal(t, f.at(want.path), asked.Content[0].(*acp.Diff).Path)
		assert.Equal(t, []string{"Always allow changes of " + want.path + " in this session"}, p.labels)
		assert.Equal(t, "text of "+in, f.disk(want.path))
		p = &person{}
		f.call(tools.Env{Session: p, Rules: rules}, "write_file", object{"path": want.path, "text": "again"})
		assert.Empty(t, p.asked, "the rule is that of the target")
	}
	p := &person{}
	f.call(tools.Env{Session: p}, "run_command", object{"command": "pwd", "cwd": "d"})
	assert.JSONEq(t, `{"command":"pwd","cwd":"`+f.at("dir")+`"}`, string(p.asked[0].RawInput))
}

// The root keeps the name that the client has given it, because the client knows no other.
func TestRootThatIsALink(t *testing.T) {
	f := open(t, "rw", nil)
	root := f.root + "-link"
	require.NoError(t, os.Symlink(f.root, root))
	f.put("dir/a", "old")
	require.NoError(t, os.Symlink("dir/a", f.at("link")))
	w, err := workspace.Open(f.conn, "s1", []string{root}, nil)
	require.NoError(t, err)
	for _, name := range []string{"link", "dir/a", root + "/link", f.at("dir/a")} {
		file, err := w.Write(t.Context(), name, "new", workspace.AnyText)
		require.NoError(t, err)
		assert.Equal(t, root+"/dir/a", file.Path)
	}
	found, _, err := w.Search(t.Context(), workspace.Query{Name: "a"})
	require.NoError(t, err)
	assert.Equal(t, []workspace.Match{{Path: root + "/dir/a"}}, found)
}

// A link that changes between the question and the use does not lead elsewhere, at the client
// neither.
func TestSwapWhileAsked(t *testing.T) {
	for _, letters := range []string{"", "rw", "w", "rwc"} {
		for tool, in := range map[string]object{
			"write_file":  {"path": "d/file", "text": "new"},
			"edit_file":   {"path": "d/file", "edits": []object{{"old": "one", "new": "two"}}},
			"read_file":   {"path": "d/file"},
			"run_command": {"command": "cat file", "cwd": "d"},
			"search":      {"path": "d", "pattern": "one"},
		} {
			f := open(t, letters, nil)
			for _, dir := range []string{"shown", "other"} {
				f.put(dir+"/file", "one")
				f.setBuffer(dir+"/file", "one")
			}
			p := &person{before: func() { // what was shown becomes a link to the other folder
				f.editor.requests()
				require.NoError(t, os.Rename(f.at("shown"), f.at("moved")))
				require.NoError(t, os.Symlink("other", f.at("shown")))
			}}
			require.NoError(t, os.Symlink("shown", f.at("d")))
			gate := func(context.Context, *tools.Call) tools.Decision { return tools.Ask } // also for what reads
			d := f.call(tools.Env{Session: p, Gate: gate}, tool, in)
			about := tool + " " + letters
			require.Len(t, p.asked, 1, about)
			assert.Equal(t, tools.Failed, d.Outcome, about)
			assert.Contains(t, read(d), "path has changed meanwhile", about)
			assert.Equal(t, []string{"one", "one"}, []string{f.disk("other/file"), f.buffer("other/file")}, about)
			assert.Empty(t, f.editor.requests(), about)
		}
	}
}

// While links are swapped in a loop, every write that succeeds is to the file that was shown.
func TestSwapInALoop(t *testing.T) {
	f := open(t, "", nil)
	f.put("a/file", "")
	f.put("b/file", "")
	require.NoError(t, os.Symlink("a", f.at("link")))
	require.NoError(t, os.Mkdir(f.at("dir"), 0o755))
	f.put("dir/file", "")
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() { // ends with stop
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			fresh := f.at(fmt.Sprint("fresh", i%7))
			_ = os.Symlink([]string{"a", "b", filepath.Dir(f.secret)}[i%3], fresh)
			_ = os.Rename(fresh, f.at("link"))
			_ = os.Rename(f.at("dir"), f.at("kept")) // a folder, then a link in its place
			_ = os.Symlink("b", f.at("dir"))
			_ = os.Remove(f.at("dir"))
			_ = os.Rename(f.at("kept"), f.at("dir"))
		}
	})
	outcomes := map[tools.Outcome]int{}
	for i := 0; i < 400 || outcomes[tools.Completed] < 20 && i < 5000; i++ {
		text := fmt.Sprint("text ", i)
		p := &person{}
		d := f.call(tools.Env{Session: p}, "write_file", object{"path": []string{"link/file", "dir/file"}[i%2], "text": text})
		outcomes[d.Outcome]++
		if d.Outcome != tools.Completed {
			continue
		}
		name, err := filepath.Rel(f.root, p.asked[0].Locations[0].Path)
		require.NoError(t, err)
		for _, at := range []string{"a/file", "b/file"} {
			if at != name {
				assert.NotEqual(t, text, f.disk(at), "shown as %s", name)
			}
		}
	}
	close(stop)
	swapping.Wait()
	t.Log(outcomes)
	assert.GreaterOrEqual(t, outcomes[tools.Completed], 20)
	outside, err := os.ReadFile(f.secret)
	require.NoError(t, err)
	assert.Equal(t, "secret\n", string(outside))
	assert.NoFileExists(t, filepath.Join(filepath.Dir(f.secret), "file"))
}

// The errors are records, which the client and the model read alike.
func TestErrorsAreRecords(t *testing.T) {
	f := open(t, "rw", nil)
	f.setBuffer("a", "one one")
	f.put("a", "one one")
	for _, c := range []struct {
		tool string
		in   object
		kind kind.Kind
		word string
	}{
		{"read_file", object{"path": "none"}, kind.NotFound, "not_found"},
		{"read_file", object{"path": "../x"}, kind.Forbidden, "path_escape"},
		{"edit_file", object{"path": "a", "edits": []object{{"old": "one", "new": "2"}}}, kind.Validation, "ambiguous_match"},
		{"edit_file", object{"path": "a", "edits": []object{{"old": "two", "new": "2"}}}, kind.Validation, "no_match"},
		{"search", object{"pattern": "("}, kind.Validation, "invalid_input"},
		{"read_file", object{"path": "busy"}, kind.RateLimited, ""},
	} {
		if c.tool == "read_file" && c.in["path"] == "busy" {
			f.editor.refuse = kind.RateLimited.New("slowly").WithRetryAfter(time.Second)
		}
		p := &person{}
		d := f.call(tools.Env{Session: p}, c.tool, c.in)
		e, ok := kind.FromToolCall(p.last[d.ToolCallID])
		require.True(t, ok, c.in)
		assert.Equal(t, c.kind, e.Kind, c.in)
		assert.Equal(t, c.word, e.Reason, c.in)
		assert.Equal(t, c.kind == kind.RateLimited, e.RetryAfter == time.Second, "what the client says arrives")
		assert.Contains(t, read(d), e.Message)
	}
	_, err := f.Read(t.Context(), "../x")
	assert.ErrorIs(t, err, kind.Forbidden)
	assert.Equal(t, kind.Forbidden, kind.Of(err))
}
