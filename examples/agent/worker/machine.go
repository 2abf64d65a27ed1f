package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// This file has what depends on where the files are: at the client, which knows what the
// user has not saved yet, or at this machine for clients that have no files.

// readLines reads max lines of a file from the given line on, counted from 1; 0 stands for
// the beginning, and for all of them.
func (t *turn) readLines(ctx context.Context, path string, line, max int) (string, error) {
	if !t.worker.own {
		if line == 0 && max == 0 {
			return t.out.ReadFile(ctx, path)
		}
		return t.out.ReadLines(ctx, path, uint32(cmp.Or(line, 1)), uint32(cmp.Or(max, 1<<30)))
	}
	var text []byte
	err := t.inFolder(path, func(root *os.Root, name string) (err error) {
		text, err = root.ReadFile(name)
		return err
	})
	if err != nil {
		return "", err
	}
	from := cmp.Or(line, 1) - 1
	var b strings.Builder
	n := 0
	for l := range strings.Lines(string(text)) {
		if n >= from && n-from < cmp.Or(max, math.MaxInt) {
			b.WriteString(l)
		}
		n++
	}
	return b.String(), nil
}

func (t *turn) writeFile(ctx context.Context, path, text string) error {
	if !t.worker.own {
		return t.out.WriteFile(ctx, path, text)
	}
	return t.inFolder(path, func(root *os.Root, name string) error { return root.WriteFile(name, []byte(text), 0o644) })
}

// inFolder calls f with the name of a file in the session's folder. Other files are refused,
// also those that a symbolic link leads to.
func (t *turn) inFolder(path string, f func(root *os.Root, name string) error) error {
	name, err := filepath.Rel(t.session.CWD, path)
	if err != nil || !filepath.IsLocal(name) {
		return rpcerr.InvalidParams(nil).WithDetail(path + " is not in the folder of the session").WithCause(err)
	}
	root, err := os.OpenRoot(t.session.CWD)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := f(root, name); errors.Is(err, fs.ErrNotExist) {
		return rpcerr.ResourceNotFound(path).WithCause(err)
	} else if err != nil {
		return err
	}
	return nil
}

func (t *turn) output(ctx context.Context, command string, args ...string) (output string, code int, err error) {
	res, err := t.worker.conn.RunTerminal(ctx, &acp.CreateTerminalRequest{
		SessionID: t.session.ID, Command: command, Args: args, Cwd: t.session.CWD,
	})
	if err != nil {
		return "", 0, err
	}
	if res.ExitCode == nil {
		return res.Output, math.MaxInt, nil
	}
	return res.Output, int(*res.ExitCode), nil
}

func (t *turn) ownCommand(ctx context.Context, r request) (result, error) {
	cmd := shellCommand(ctx, r.command)
	cmd.Dir = t.session.CWD
	cmd.WaitDelay = time.Second // what the command has started may outlive it
	out, err := cmd.CombinedOutput()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if err != nil && !failed {
		return result{}, err
	}
	shown := []acp.ToolCallContent{acp.ToolText(string(out))}
	told := quote(t.shorten(string(out)))
	if failed {
		return result{told: told}, &commandError{exit: exitStatus(exit.ExitCode()), shown: shown[0]}
	}
	return result{content: shown, told: fmt.Sprintf("`%s` printed:\n%s", r.command, told)}, nil
}

func exitStatus(code int) *acp.WaitForTerminalExitResponse {
	if code < 0 {
		return &acp.WaitForTerminalExitResponse{Signal: "a signal"}
	}
	return &acp.WaitForTerminalExitResponse{ExitCode: new(uint32(code))}
}

// commandError means that a command ended badly. As an [acp.ToolFailure] it decides
// what the failed tool call shows: what it has printed stays, beside the exit status.
type commandError struct {
	exit  *acp.WaitForTerminalExitResponse
	shown acp.ToolCallContent // what the command has printed
}

var _ acp.ToolFailure = (*commandError)(nil)

func (e *commandError) Error() string {
	if e.exit.ExitCode != nil {
		return fmt.Sprintf("exit status %d", *e.exit.ExitCode)
	}
	return "ended by " + e.exit.Signal
}

func (e *commandError) FailedToolCall() *acp.ToolCallUpdate {
	return &acp.ToolCallUpdate{Content: []acp.ToolCallContent{e.shown, acp.ToolText(e.Error())}}
}
