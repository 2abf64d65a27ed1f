package files_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// fixture is a folder to work in, and a secret file outside that must not change.
type fixture struct {
	*files.ReadWriter
	t       testing.TB
	conn    *peertest.Sessions
	folders *files.Folders
	base    string // contains work and secret
	work    string // the root
	secret  string // a file outside
	session acp.SessionID
}

const secretText = "secret\n"

func newFixture(t testing.TB, opts files.Options, check files.Check) *fixture {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	h := &fixture{t: t, base: base, work: filepath.Join(base, "work"), secret: filepath.Join(base, "secret.txt"), session: "s"}
	require.NoError(t, os.Mkdir(h.work, 0o755))
	h.put(h.secret, secretText)
	if opts.Roots == nil {
		opts.Roots = []string{h.work}
	}
	h.folders, err = files.Open(&opts)
	require.NoError(t, err)
	t.Cleanup(func() { h.folders.Close() })
	h.conn = peertest.NewSessions(h.work, "s")
	h.ReadWriter = h.folders.ReadWriter(h.conn, check)
	return h
}

// ReadTextFile and WriteTextFile handle a request of the connection.
func (h *fixture) ReadTextFile(ctx context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return h.ReadWriter.ReadTextFile(h.conn.Handling(ctx), req)
}

func (h *fixture) WriteTextFile(ctx context.Context, req *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	return h.ReadWriter.WriteTextFile(h.conn.Handling(ctx), req)
}

// at returns a path in the root, without resolving dots.
func (h *fixture) at(rel string) string {
	return h.work + string(filepath.Separator) + filepath.FromSlash(rel)
}

func (h *fixture) put(path, text string) {
	h.t.Helper()
	require.NoError(h.t, os.WriteFile(path, []byte(text), 0o644))
}

func (h *fixture) mkdir(rel string) {
	h.t.Helper()
	require.NoError(h.t, os.MkdirAll(h.at(rel), 0o755))
}

func (h *fixture) link(target, rel string) {
	h.t.Helper()
	require.NoError(h.t, os.Symlink(target, h.at(rel)))
}

func (h *fixture) text(path string) string {
	h.t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(h.t, err)
	return string(b)
}

func (h *fixture) read(path string) (string, error) {
	res, err := h.ReadTextFile(context.Background(), &acp.ReadTextFileRequest{SessionID: h.session, Path: path})
	if err != nil {
		return "", err
	}
	return res.Content, nil
}

func (h *fixture) write(path, text string) error {
	_, err := h.WriteTextFile(context.Background(), &acp.WriteTextFileRequest{SessionID: h.session, Path: path, Content: text})
	return err
}
