package reference

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/terminals"
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

// Lone runs a command. It does not end what the command has started. It is an Exec of
// [terminals.Options].
func Lone(_ context.Context, c *terminals.Command, output io.Writer) (terminals.Process, error) {
	cmd := exec.Command(c.Path, c.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = c.Cwd, c.Env, output, output, 10*time.Millisecond
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return lone{cmd}, nil
}

type lone struct{ cmd *exec.Cmd }

func (l lone) Wait() acp.TerminalExitStatus {
	_ = l.cmd.Wait() // its state tells how it ended
	code := uint32(1)
	if l.cmd.ProcessState.ExitCode() >= 0 { // no signal has ended it
		code = uint32(l.cmd.ProcessState.ExitCode())
	}
	return acp.TerminalExitStatus{ExitCode: &code}
}
func (l lone) Terminate() { l.Kill() }
func (l lone) Kill()      { _ = l.cmd.Process.Kill() } // it may have ended
func (l lone) Close()     {}
