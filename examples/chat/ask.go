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
	"github.com/acpkit/go-sdk/stream/safetext"
)

// shownOfName is the number of bytes of the agent's name for an option.
const shownOfName = 100

func (c *chat) askUser(ctx context.Context, q *permission.Question) (string, error) {
	defer c.hold()()
	for _, line := range q.Lines() {
		c.screen.whole(yellow, len("? "+line), "? "+line)
	}
	if q.Text != nil && len(q.Operations) > 0 {
		c.showWrite(q.Operations[0].Path, *q.Text)
	}
	switch {
	case c.settings.yes:
		return q.Pick(permission.AllowOnce), nil // an agent may keep an "always" for other sessions
	case c.settings.no:
		return q.Pick(permission.RejectOnce), nil
	}
	for i, o := range q.Options {
		theirs := ""
		if o.Name != "" && o.Name != o.Label && o.Kind != permission.AllowAlways && o.Kind != permission.RejectAlways { // whose labels have it
			theirs = fmt.Sprintf(` (the agent calls it "%s")`, strings.ReplaceAll(safetext.OneLine(o.Name, shownOfName), `"`, `\"`))
		}
		option := fmt.Sprintf("  %d %s%s", i+1, o.Label, theirs)
		c.screen.whole(plain, len(option), option)
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

// decided tells the user about a question that was not asked, because nobody could read it.
func (c *chat) decided(r permission.Record) {
	if r.Outcome.By != permission.ByLength {
		return
	}
	lines := r.Question.Lines()
	done := strings.Join(lines[len(lines)-len(r.Question.Operations):], "; ")
	c.notice(fmt.Sprintf("refused, because its %d bytes are too many to be read: %s", len(done), short(done, 100)))
}

// number asks for a number from 1 to n and returns its index.
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
		c.screen.note(fmt.Sprintf("Type a number from 1 to %d.", n))
	}
}

// comparedAtMost is the maximum size in bytes of a file whose change is shown.
const comparedAtMost = 1 << 20

// showWrite shows the change of a file that the agent writes without a question, or with a question
// about another change.
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
