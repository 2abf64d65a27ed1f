package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/thread"
)

// askUser asks on the terminal whether something may be done, or answers as the flags say.
func (c *chat) askUser(ctx context.Context, q *permission.Question) (string, error) {
	c.draw()
	c.showQuestion(q)
	switch {
	case c.settings.yes:
		return q.Pick(permission.AllowOnce), nil // an agent may keep an "always" for other sessions
	case c.settings.no:
		return q.Pick(permission.RejectOnce), nil
	}
	for i, o := range q.Options {
		c.screen.line(plain, "  %d %s", i+1, o.Name)
	}
	n, err := c.number(ctx, len(q.Options))
	switch {
	case errors.Is(err, io.EOF):
		return "", errors.New("the terminal has no input: start chat with -yes to allow what the agent asks for")
	case err != nil:
		return "", err
	}
	return q.Options[n].ID, nil
}

// number asks for a number from 1 to n, and returns it less 1.
func (c *chat) number(ctx context.Context, n int) (int, error) {
	for {
		line, err := c.lines.next(ctx, question{prompt: "choose a number: "})
		if err != nil {
			return 0, err
		}
		chosen, err := strconv.Atoi(strings.TrimSpace(line))
		if err == nil && chosen >= 1 && chosen <= n {
			return chosen - 1, nil
		}
	}
}

// showQuestion shows what would be done. What the agent says it would do is its word; what
// is shown without a title is what will happen.
func (c *chat) showQuestion(q *permission.Question) {
	switch {
	case q.Title != "":
		c.screen.line(yellow, "? %s", q.Title)
	case q.Tool != nil:
		c.screen.line(yellow, "? %s", c.toolTitle(q.Tool.ID))
	}
	for _, o := range q.Operations {
		c.screen.line(yellow, "? %s", effect(o, q.Workspace))
	}
	if q.Text != nil && len(q.Operations) > 0 {
		c.showWrite(q.Operations[0].Path, *q.Text)
	}
}

// comparedAtMost is how many bytes a file may have whose change is shown.
const comparedAtMost = 1 << 20

// showWrite shows how a file would change that the agent writes without a question. What it
// has shown of it before may be something else.
func (c *chat) showWrite(path, text string) {
	v := c.view.Load()
	if v == nil {
		return
	}
	d := &thread.Diff{Changes: []thread.FileChange{{Operation: thread.FileAdd, Path: path}}, NewText: &text}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > comparedAtMost {
		// shown as a new one
	} else if old, err := os.ReadFile(path); err == nil {
		d.Changes[0].Operation = thread.FileModify
		d.OldText = new(string(old))
	}
	v.diff(d)
}

// toolTitle returns the title of a tool call.
func (c *chat) toolTitle(id string) string {
	if v := c.view.Load(); v != nil {
		if call := v.thread.Snapshot().ToolCall(id); call != nil && call.Title != "" {
			return call.Title
		}
	}
	return id
}

// effect says in one line what an operation does. The folder of a command is named if it is
// not that of the session.
func effect(o permission.Operation, workspace string) string {
	if o.Action == permission.ActionWrite {
		return "write " + o.Path
	}
	text := "run " + strings.Join(o.Argv, " ")
	if !o.Shell {
		text = fmt.Sprintf("run %q", o.Argv)
	}
	if o.Cwd != "" && o.Cwd != workspace {
		text += " in " + o.Cwd
	}
	if len(o.Env) > 0 {
		text += " with " + strings.Join(o.Env, ", ")
	}
	return text
}
