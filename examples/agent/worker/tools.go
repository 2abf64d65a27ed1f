package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/rpcerr"
)

// result is the result of a tool: what the tool call shows, and what the agent writes to
// the user. A tool that fails may have one too.
type result struct {
	content   []acp.ToolCallContent
	locations []acp.ToolCallLocation
	told      string
}

type tool func(ctx context.Context, call *agent.ToolCall, path string, r request) (result, error)

func (t *turn) tool(v verb) tool {
	return map[verb]tool{
		verbRead:   t.read,
		verbSearch: t.search,
		verbEdit:   t.edit,
		verbWrite:  t.write,
		verbAppend: t.append,
		verbRun:    t.command,
	}[v]
}

func (r request) kind() acp.ToolKind {
	switch r.verb {
	case verbRead:
		return acp.ToolKindRead
	case verbSearch:
		return acp.ToolKindSearch
	case verbRun:
		return acp.ToolKindExecute
	default:
		return acp.ToolKindEdit
	}
}

func (t *turn) read(ctx context.Context, _ *agent.ToolCall, path string, r request) (result, error) {
	text, err := t.readLines(ctx, path, r.line, r.max)
	if err != nil {
		return result{}, err
	}
	told := fmt.Sprintf("%s has %s.\n", r.path, lines(count(text)))
	if r.line != 0 || r.max != 0 {
		told = fmt.Sprintf("%s of %s, from line %d:\n", lines(count(text)), r.path, max(r.line, 1))
	}
	if shown := t.shorten(text); shown != "" {
		told += quote(shown)
	}
	return result{content: []acp.ToolCallContent{acp.ToolText(text)}, told: told}, nil
}

// count counts the lines of a text. The last line may lack its end.
func count(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

func lines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

// shorten cuts what is repeated to the user to the detail that was chosen.
func (t *turn) shorten(text string) string {
	const brief = 10
	t.session.mu.Lock()
	full := t.session.Detail == detailFull
	t.session.mu.Unlock()
	if full || count(text) <= brief {
		return text
	}
	shown := strings.Join(strings.SplitAfterN(text, "\n", brief+1)[:brief], "")
	return shown + fmt.Sprintf("... and %s more\n", lines(count(text)-brief))
}

func (t *turn) edit(ctx context.Context, call *agent.ToolCall, path string, r request) (result, error) {
	old, err := t.readLines(ctx, path, 0, 0)
	if err != nil {
		return result{}, err
	}
	switch n := strings.Count(old, r.old); n {
	case 0:
		return result{}, rpcerr.InvalidParams(nil).WithDetail("the text to replace does not occur in " + r.path)
	case 1:
		return t.change(ctx, call, path, &old, strings.Replace(old, r.old, r.new, 1))
	default:
		return result{}, rpcerr.InvalidParams(nil).WithDetail(fmt.Sprintf("the text to replace occurs %d times in %s; quote more of it", n, r.path))
	}
}

func (t *turn) write(ctx context.Context, call *agent.ToolCall, path string, r request) (result, error) {
	old, err := t.existing(ctx, path)
	if _, said := errors.AsType[*rpcerr.RequestError](err); said {
		// Some clients report a missing file as an internal error. The new text does not depend
		// on the old one.
		old, err = nil, nil
	}
	if err != nil {
		return result{}, err
	}
	return t.change(ctx, call, path, old, r.text)
}

func (t *turn) append(ctx context.Context, call *agent.ToolCall, path string, r request) (result, error) {
	old, err := t.existing(ctx, path)
	if err != nil {
		return result{}, err
	}
	if old == nil {
		return t.change(ctx, call, path, nil, r.text)
	}
	return t.change(ctx, call, path, old, *old+r.text)
}

// existing reads a file that may not be there yet; nil means that it does not exist.
func (t *turn) existing(ctx context.Context, path string) (*string, error) {
	text, err := t.readLines(ctx, path, 0, 0)
	if errors.Is(err, rpcerr.ErrResourceNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &text, nil
}

// change shows what would become of a file, asks, and writes it.
func (t *turn) change(ctx context.Context, call *agent.ToolCall, path string, old *string, text string) (result, error) {
	diff := &acp.Diff{Path: path, OldText: old, NewText: text}
	if err := call.Progress(ctx, diff); err != nil {
		return result{}, err
	}
	if err := t.permitted(ctx, call); err != nil {
		return result{}, err
	}
	if err := t.writeFile(ctx, path, text); err != nil {
		return result{}, err
	}
	return result{content: []acp.ToolCallContent{diff}, told: "Wrote " + path + ".\n"}, nil
}

// permitted asks the user, unless the session's mode says not to.
func (t *turn) permitted(ctx context.Context, call *agent.ToolCall) error {
	t.session.mu.Lock()
	mode := t.session.Mode
	t.session.mu.Unlock()
	if mode == modeAuto {
		return nil
	}
	choice, err := call.AskPermission(ctx,
		acp.PermissionOption{OptionID: "once", Name: "Allow once", Kind: acp.PermissionOptionKindAllowOnce},
		acp.PermissionOption{OptionID: "always", Name: "Allow everything in this session", Kind: acp.PermissionOptionKindAllowAlways},
		acp.PermissionOption{OptionID: "no", Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce},
	)
	if err != nil {
		return err
	}
	if !agent.Allows(choice) {
		return rpcerr.InvalidRequest(nil).WithDetail("the user did not allow it")
	}
	if choice.Kind != acp.PermissionOptionKindAllowAlways {
		return nil
	}
	if err := t.worker.setMode(t.session, modeAuto); err != nil {
		return err
	}
	if err := t.out.Mode(ctx, modeAuto); err != nil {
		return err
	}
	return t.out.ConfigOptions(ctx, t.session.configOptions()...)
}

// commandInput is the input of a tool call that runs a command line, with all that the
// client needs to recognize the terminal that the user has allowed.
func (t *turn) commandInput(line string) json.RawMessage {
	command, args := shell(line)
	input, err := json.Marshal(map[string]any{"command": command, "args": args, "cwd": t.session.CWD})
	if err != nil { // not possible with strings
		return nil
	}
	return input
}

// command runs a command line in a terminal that the user can watch.
func (t *turn) command(ctx context.Context, call *agent.ToolCall, _ string, r request) (result, error) {
	if err := t.permitted(ctx, call); err != nil {
		return result{}, err
	}
	if t.worker.own {
		return t.ownCommand(ctx, r)
	}
	command, args := shell(r.command)
	term, err := t.worker.conn.StartTerminal(ctx, &acp.CreateTerminalRequest{
		SessionID: t.session.ID, Command: command, Args: args,
		Cwd: t.session.CWD, OutputByteLimit: new(uint64(1 << 20)),
	})
	if err != nil {
		return result{}, err
	}
	defer term.Release(ctx)
	if err := call.Progress(ctx, term.Content()); err != nil {
		return result{}, err
	}
	exit, err := term.WaitForExit(ctx)
	if err != nil {
		return result{}, err
	}
	out, err := term.Output(ctx)
	if err != nil {
		return result{}, err
	}
	if exit.ExitCode == nil || *exit.ExitCode != 0 {
		return result{told: quote(t.shorten(out.Output))}, &commandError{exit: exit, shown: term.Content()}
	}
	return result{
		content: []acp.ToolCallContent{term.Content()},
		told:    fmt.Sprintf("`%s` printed:\n%s", r.command, quote(t.shorten(out.Output))),
	}, nil
}

func quote(text string) string {
	return "```\n" + strings.TrimRight(text, "\n") + "\n```\n"
}
