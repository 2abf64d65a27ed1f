package kit_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
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
type editor struct{ *screen }

func (editor) ReadTextFile(context.Context, *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return &acp.ReadTextFileResponse{Content: "unsaved"}, nil
}

func TestLinkedFilesOfAnEditor(t *testing.T) {
	var parts []tools.Part
	a := kit.New(&kit.Options{Turn: func(_ context.Context, _ *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
		parts = p.Parts
		return "", nil
	}})
	u := connectAs(t, a, nil, func(s *screen) acp.Client { return editor{s} })
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
