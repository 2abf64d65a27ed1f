package conversation

import (
	"strings"

	"github.com/acpkit/go-sdk/client/thread"
)

// diff is a change of files. Lines are those that change, each behind its sign: ' ', '-' or '+'.
type diff struct {
	Changes []thread.FileChange `json:"changes"`
	Patch   string              `json:"patch,omitempty"`
	Lines   string              `json:"lines,omitempty"`
}

func shownDiff(d *thread.Diff) *diff {
	if d == nil {
		return nil
	}
	return &diff{d.Changes, d.Patch, changedLines(linesOf(d.OldText), linesOf(d.NewText))}
}

// linesOf returns the lines of a text. A missing line end at the end is not a difference.
func linesOf(text *string) []string {
	if text == nil || *text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(*text, "\n"), "\n")
}

// around is how many lines are shown before and behind a change.
const around = 3

// changedLines returns the lines between the first and the last one that differ, and some around them. It compares no
// more than that: agents send what they replace, and a text of a million lines costs no more than it is long.
func changedLines(before, after []string) string {
	begin, end, shorter := 0, 0, min(len(before), len(after))
	for begin < shorter && before[begin] == after[begin] {
		begin++
	}
	for end < shorter-begin && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	same := len(before) - end
	var b strings.Builder
	for _, part := range []struct {
		sign  byte
		lines []string
	}{
		{' ', before[max(0, begin-around):begin]}, {'-', before[begin:same]}, {'+', after[begin : len(after)-end]},
		{' ', before[same:min(len(before), same+around)]},
	} {
		for _, line := range part.lines {
			b.WriteByte(part.sign)
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
