package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/examples/agent/plain"
	"github.com/acpkit/go-sdk/rpcerr"
)

// errRejected is what the user did not allow.
var errRejected = errors.New("you did not allow it")

// carryOut carries out one request as a tool call, and tells the user the result. An error ends the turn; a request that
// did not work is not one.
func (t *turn) carryOut(ctx context.Context, r plain.Request) (done bool, err error) {
	var said string
	switch r.Verb {
	case plain.Read:
		said, err = t.read(ctx, r)
	case plain.Search:
		said, err = t.search(ctx, r)
	case plain.Edit, plain.Write, plain.Append:
		said, err = t.write(ctx, r)
	case plain.Run:
		said, err = t.run(ctx, r)
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if err != nil {
		return false, t.Message(ctx, said+r.Title()+" did not work: "+why(err)+".\n")
	}
	return true, t.Message(ctx, said)
}

// why is what went wrong in the words of the client, if it was asked.
func why(err error) string {
	if e, ok := errors.AsType[*rpcerr.RequestError](err); ok {
		return e.Message
	}
	return err.Error()
}

// fail shows that a call has failed.
func fail(ctx context.Context, call *agent.ToolCall, err error) error {
	return call.Update(ctx, &acp.ToolCallUpdate{Status: acp.ToolCallStatusFailed, Content: []acp.ToolCallContent{acp.ToolText(why(err))}})
}

// start shows a call that needs no permission.
func (t *turn) start(ctx context.Context, call *acp.ToolCall) (*agent.ToolCall, error) {
	call.Status = acp.ToolCallStatusInProgress
	return t.StartToolCall(ctx, call)
}

// allowed shows a call and asks whether it may proceed.
func (t *turn) allowed(ctx context.Context, call *acp.ToolCall, input map[string]string) (*agent.ToolCall, error) {
	call.RawInput, _ = json.Marshal(input) // strings cannot fail
	call.Status = acp.ToolCallStatusPending
	shown, err := t.StartToolCall(ctx, call)
	if err != nil || t.session.mode == auto {
		return shown, err
	}
	choice, err := shown.AskPermission(ctx)
	if err == nil && !agent.Allows(choice) {
		err = errRejected
	}
	if err != nil {
		return nil, errors.Join(err, fail(ctx, shown, err))
	}
	return shown, shown.Progress(ctx)
}

func (t *turn) path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(t.session.cwd, name)
}

func (t *turn) read(ctx context.Context, r plain.Request) (string, error) {
	path := t.path(r.Path)
	call, err := t.start(ctx, &acp.ToolCall{Title: r.Title(), Kind: acp.ToolKindRead, Locations: []acp.ToolCallLocation{{Path: path}}})
	if err != nil {
		return "", err
	}
	lines := &acp.ReadTextFileRequest{SessionID: t.ID(), Path: path}
	if r.Line > 0 {
		lines.Line = new(uint32(r.Line))
	}
	if r.Max > 0 {
		lines.Limit = new(uint32(r.Max))
	}
	res, err := t.conn.ReadTextFile(ctx, lines)
	if err != nil {
		return "", errors.Join(err, fail(ctx, call, err))
	}
	text := res.Content
	if err := call.Finish(ctx, acp.ToolText(text)); err != nil {
		return "", err
	}
	said := fmt.Sprintf("%s has %s.\n", r.Path, plain.Lines(plain.Count(text)))
	switch {
	case text == "" && r.Line > 0:
		return r.Path + " has no such lines.\n", nil
	case r.Line+r.Max > 0:
		said = fmt.Sprintf("%s of %s, from line %d:\n", plain.Lines(plain.Count(text)), r.Path, max(r.Line, 1))
	}
	return said + plain.Quote(text, t.session.detail == full), nil
}

// write edits a file, appends to it, or writes it anew.
func (t *turn) write(ctx context.Context, r plain.Request) (string, error) {
	path := t.path(r.Path)
	diff := &acp.Diff{Path: path, NewText: r.Text}
	before, err := t.ReadFile(ctx, path)
	switch {
	case err == nil:
		diff.OldText = &before
	case r.Verb == plain.Edit || !errors.Is(err, rpcerr.ErrResourceNotFound):
		return "", err
	}
	switch r.Verb {
	case plain.Append:
		diff.NewText = before + r.Text
	case plain.Edit:
		if n := strings.Count(before, r.Old); n != 1 {
			return "", fmt.Errorf("%q occurs %d times in it, and must occur once", r.Old, n)
		}
		diff.NewText = strings.Replace(before, r.Old, r.New, 1)
	}
	call, err := t.allowed(ctx, &acp.ToolCall{
		Title: r.Title(), Kind: acp.ToolKindEdit, Content: []acp.ToolCallContent{diff}, Locations: []acp.ToolCallLocation{{Path: path}},
	}, map[string]string{"path": path})
	if err != nil {
		return "", err
	}
	if err := t.WriteFile(ctx, path, diff.NewText); err != nil {
		return "", errors.Join(err, fail(ctx, call, err))
	}
	return "Wrote " + r.Path + ".\n", call.Finish(ctx)
}

// maxOutput is how much of the end of an output is kept.
const maxOutput = 64 << 10

func (t *turn) run(ctx context.Context, r plain.Request) (string, error) {
	call, err := t.allowed(ctx, &acp.ToolCall{Title: r.Command, Kind: acp.ToolKindExecute},
		map[string]string{"command": r.Command, "cwd": t.session.cwd})
	if err != nil {
		return "", err
	}
	res, err := call.RunTerminal(ctx, &acp.CreateTerminalRequest{ // without arguments it is a line for the shell
		Command: r.Command, Cwd: t.session.cwd, OutputByteLimit: new(uint64(maxOutput)),
	})
	if err != nil {
		return "", errors.Join(err, fail(ctx, call, err))
	}
	if err := call.Finish(ctx); err != nil {
		return "", err
	}
	printed := ""
	if res.Output != "" {
		printed = fmt.Sprintf("`%s` printed:\n", r.Command) + plain.Quote(res.Output, t.session.detail == full)
	}
	switch {
	case res.ExitCode == nil:
		return printed, fmt.Errorf("it was ended by %s", cmp.Or(res.Signal, "a signal"))
	case *res.ExitCode != 0:
		return printed, fmt.Errorf("it ended with exit code %d", *res.ExitCode)
	}
	return cmp.Or(printed, fmt.Sprintf("`%s` printed nothing.\n", r.Command)), nil
}

// What a search looks at and finds at most.
const (
	maxSearched = 1 << 20
	maxFound    = 100
)

// search looks for a text in the files below the folder of the session, as the protocol has no method for it. It leaves
// out what is hidden, links, and files that are large or not text.
func (t *turn) search(ctx context.Context, r plain.Request) (string, error) {
	call, err := t.start(ctx, &acp.ToolCall{Title: fmt.Sprintf("Search for %q", r.Text), Kind: acp.ToolKindSearch})
	if err != nil {
		return "", err
	}
	found, err := t.find(ctx, r)
	if err != nil {
		return "", errors.Join(err, fail(ctx, call, err))
	}
	if err := call.Finish(ctx, acp.ToolText(cmp.Or(found, "[nothing was found]\n"))); err != nil {
		return "", err
	}
	if found == "" {
		return fmt.Sprintf("%q does not occur in %s.\n", r.Text, plain.FolderName(r.Path)), nil
	}
	return fmt.Sprintf("%q occurs on %s:\n", r.Text, plain.Lines(plain.Count(found))) + plain.Quote(found, t.session.detail == full), nil
}

func (t *turn) find(ctx context.Context, r plain.Request) (string, error) {
	below, err := filepath.Rel(t.session.cwd, t.path(r.Path))
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(t.session.cwd)
	if err != nil {
		return "", err
	}
	defer root.Close()
	var found strings.Builder
	n := 0
	err = fs.WalkDir(root.FS(), filepath.ToSlash(below), func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil || err != nil && path == filepath.ToSlash(below):
			return cmp.Or(ctx.Err(), err)
		case strings.HasPrefix(d.Name(), ".") && path != "." && d.IsDir():
			return fs.SkipDir
		case err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), "."):
			return nil
		}
		info, err := d.Info()
		if err != nil || info.Size() > maxSearched {
			return nil
		}
		text, err := root.ReadFile(filepath.FromSlash(path))
		if err != nil || strings.Contains(string(text), "\x00") {
			return nil
		}
		line := 0
		for content := range strings.Lines(string(text)) {
			if line++; strings.Contains(content, r.Text) {
				fmt.Fprintf(&found, "%s:%d:%s\n", path, line, strings.TrimRight(content, "\r\n"))
				if n++; n == maxFound {
					return fs.SkipAll
				}
			}
		}
		return nil
	})
	return found.String(), err
}
