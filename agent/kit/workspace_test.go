package kit_test

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The model reads the files that a person links to, but only those in the folders of the session.
// Users of a shared agent cannot read the files of its machine unless the author allows it.
func TestLinkedFiles(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	link := func(dir string) *acp.ResourceLink {
		name := filepath.Join(dir, "a b.go")
		require.NoError(t, os.WriteFile(name, []byte("package a\n\nvar x = 1\n"), 0o600))
		return &acp.ResourceLink{Name: "a b.go", URI: (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(name), "/"), Fragment: "L3"}).String()}
	}
	owner := func(context.Context) string { return "me" }
	for name, tc := range map[string]struct {
		opts kit.Options
		read bool
	}{
		"alone":                        {kit.Options{}, true},
		"shared":                       {kit.Options{Owner: owner}, false},
		"shared, and the author knows": {kit.Options{Owner: owner, Workspace: &workspace.Options{}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var parts []tools.Part
			tc.opts.Turn = func(_ context.Context, _ *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
				parts = p.Parts
				return "", nil
			}
			u := connect(t, kit.New(&tc.opts))
			s, err := u.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: dir})
			require.NoError(t, err)
			_, err = u.Prompt(t.Context(), &acp.PromptRequest{SessionID: s.SessionID, Prompt: []acp.ContentBlock{link(dir), link(other)}})
			require.NoError(t, err)
			require.Len(t, parts, 2)
			if tc.read {
				assert.Regexp(t, `^<file-\w+ uri="file:[^"]+#L3">\nvar x = 1\n\n</file-\w+>$`, parts[0].Text)
			} else {
				assert.Regexp(t, `^\[link to "file:[^"]+#L3", "a b.go"\]$`, parts[0].Text)
			}
			assert.Regexp(t, `^\[link to "file:[^"]+#L3", "a b.go"\]$`, parts[1].Text)
		})
	}
}

// editor is a client with unsaved text.
type editor struct{ *peertest.Client }

func (editor) ReadTextFile(context.Context, *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return &acp.ReadTextFileResponse{Content: "unsaved"}, nil
}

func TestLinkedFilesOfAnEditor(t *testing.T) {
	var parts []tools.Part
	a := kit.New(&kit.Options{Turn: func(_ context.Context, _ *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
		parts = p.Parts
		return "", nil
	}})
	u := connectAs(t, a, nil, func(s *peertest.Client) acp.Client { return editor{s} })
	s, err := u.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/on/another/machine"})
	require.NoError(t, err)
	_, err = u.Prompt(t.Context(), &acp.PromptRequest{SessionID: s.SessionID, Prompt: []acp.ContentBlock{&acp.ResourceLink{Name: "a.go", URI: "file:///on/another/machine/a.go"}}})
	require.NoError(t, err)
	assert.Contains(t, parts[0].Text, "\nunsaved\n")
}

// A session in the home folder or the root of a disk is refused with a sentence, unless the author
// allows it.
func TestHomeFolderIsRefused(t *testing.T) {
	open := func(o *workspace.Options) error {
		u := connect(t, kit.New(&kit.Options{Turn: echo, Workspace: o}))
		_, err := u.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
		return err
	}
	err := open(nil)
	assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)
	assert.ErrorContains(t, err, "open a folder with a project")
	assert.NoError(t, open(&workspace.Options{AnyRoot: true}))
}

// The tools of the workspace work both with a client that has files and terminals and with one that
// has nothing. The person is asked once for each change and each command: by the agent, and not by
// the policy of the client too. session/load shows the same, with the output of a terminal as text.
func TestWorkspaceTools(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no sh: the command of the test is a line for it")
	}
	for name, everything := range map[string]bool{"everything": true, "nothing": false} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			file := filepath.Join(dir, "a.txt")
			require.NoError(t, os.WriteFile(file, []byte("one\ntwo\n"), 0o600))
			var results, asked []string
			a := kit.New(&kit.Options{
				Tools: func(s *kit.Session) []tools.Tool { return workspace.Tools(s.Workspace()) },
				Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
					assert.Contains(t, p.Parts[0].Text, "\ntwo\n", "the line that the prompt links to")
					done, err := s.Run(ctx,
						tools.Request{Name: "read_file", Input: json.RawMessage(`{"path":"a.txt"}`)},
						tools.Request{Name: "edit_file", Input: json.RawMessage(`{"path":"a.txt","edits":[{"old":"two","new":"2"}]}`)},
						tools.Request{Name: "write_file", Input: json.RawMessage(`{"path":"b/c","text":"three"}`)},
						tools.Request{Name: "run_command", Input: json.RawMessage(`{"command":"cat a.txt b/c | tr -d '\n'; exit 3","timeout":60}`)},
						tools.Request{Name: "run_command", Input: json.RawMessage(`{"command":"cat c","cwd":"b"}`)})
					for _, d := range done {
						assert.Equal(t, tools.Completed, d.Outcome, d.Model)
						results = append(results, d.Model[0].Text)
					}
					return "", err
				},
			})
			opts := &host.Options{Ask: func(_ context.Context, q *permission.Question) (string, error) {
				asked = append(asked, q.Title)
				return q.Pick(permission.AllowOnce), nil
			}}
			if everything {
				opts.Roots, opts.Terminals = []string{dir}, &terminals.Options{}
			}
			h, err := host.Open(opts)
			require.NoError(t, err)
			set := new(thread.Set)
			t.Cleanup(func() { assert.NoError(t, h.Close()) })
			conn := peertest.ConnectTo(t, a.Serve, func(c *client.Conn) acp.Client { return set.Client(h.Client(c)) }, &client.Options{Sending: []acp.Middleware{set.Sending}})

			s, err := conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: dir})
			require.NoError(t, err)
			link := (&url.URL{Scheme: "file", Path: file, Fragment: "L2"}).String()
			_, err = conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: s.SessionID, Prompt: []acp.ContentBlock{&acp.ResourceLink{URI: link, Name: "a.txt"}}})
			require.NoError(t, err)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, "one\n2\n", string(text))
			assert.Equal(t, []string{"one\ntwo\n", "Wrote a.txt.", "Wrote b/c.", "one2three\n[exit code 3]", "three\n[exit code 0]"}, results)
			assert.Equal(t, []string{"Edit a.txt", "Write b/c", "cat a.txt b/c | tr -d '\\n'; exit 3", "cat c"}, asked)
			command := call(t, set.Thread(s.SessionID).Snapshot(), "execute")
			if everything {
				assert.Equal(t, thread.ToolContentTerminal, command.Content.At(0).Type)
			}

			_, err = conn.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: s.SessionID, Cwd: dir})
			require.NoError(t, err)
			command = call(t, set.Thread(s.SessionID).Snapshot(), "execute")
			assert.Equal(t, thread.ToolCompleted, command.Status)
			require.Equal(t, 1, command.Content.Len())
			assert.Equal(t, "one2three\n[exit code 3]", command.Content.At(0).Block.Text)
			edit := call(t, set.Thread(s.SessionID).Snapshot(), "edit")
			assert.Equal(t, thread.ToolContentDiff, edit.Content.At(0).Type)
		})
	}
}

// call returns the tool call of the given kind.
func call(t *testing.T, s *thread.Snapshot, kind string) *thread.ToolCall {
	t.Helper()
	for _, item := range s.Items.All() {
		if c, ok := item.(*thread.ToolCall); ok && c.Kind == kind {
			return c
		}
	}
	require.Fail(t, "no call of the kind "+kind)
	return nil
}
