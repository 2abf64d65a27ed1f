package reference

import (
	"context"
	"os"
	"path/filepath"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// careless serves files as many programs do at first: whatever the path says, wherever it leads,
// and in whatever session.
type careless struct {
	acp.ClientWrapper
	cwd string
}

func (c *careless) path(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.cwd, path)
	}
	return path
}

// ReadTextFile implements [acp.TextFileReader].
func (c *careless) ReadTextFile(ctx context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	path := c.path(req.Path)
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || req.Line != nil || req.Limit != nil {
		return c.ClientWrapper.ReadTextFile(ctx, req) // so that only what is careless is wrong
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, rpcerr.InternalError(nil).WithCause(err)
	}
	return &acp.ReadTextFileResponse{Content: string(text)}, nil
}

// WriteTextFile implements [acp.TextFileWriter].
func (c *careless) WriteTextFile(_ context.Context, req *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	path := c.path(req.Path)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		_ = os.Remove(path) // the new file has another mode
	}
	if err := os.WriteFile(path, []byte(req.Content), 0o600); err != nil {
		return nil, rpcerr.InternalError(nil).WithCause(err)
	}
	return &acp.WriteTextFileResponse{}, nil
}
