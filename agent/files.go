package agent

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
)

// ReadFile returns the content of a text file as the client sees it, including unsaved
// changes. Path must be absolute. If the file does not exist, the error is
// rpcerr.ErrResourceNotFound.
func (s *Session) ReadFile(ctx context.Context, path string) (string, error) {
	return s.readFile(ctx, &acp.ReadTextFileRequest{SessionID: s.id, Path: path})
}

// ReadLines returns at most limit lines of a text file, beginning with the line whose
// number is line. Line numbers start at 1.
func (s *Session) ReadLines(ctx context.Context, path string, line, limit uint32) (string, error) {
	return s.readFile(ctx, &acp.ReadTextFileRequest{SessionID: s.id, Path: path, Line: &line, Limit: &limit})
}

func (s *Session) readFile(ctx context.Context, req *acp.ReadTextFileRequest) (string, error) {
	res, err := s.conn.ReadTextFile(ctx, req)
	if err != nil {
		return "", err
	}
	return res.Content, nil
}

// WriteFile creates or replaces a text file. Path must be absolute.
func (s *Session) WriteFile(ctx context.Context, path, content string) error {
	_, err := s.conn.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: s.id, Path: path, Content: content})
	return err
}
