package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/draft2/agent"
)

// diffShown is how many lines are shown of a change.
const diffShown = 40

// diffLine is a line of a change. Its op is ' ', '-' or '+', or '@' for omitted lines.
type diffLine struct {
	op   byte
	text string
}

func (v *view) diff(d *thread.Diff) {
	if d.NewText != nil {
		v.file(d.Changes, compared(d.OldText, d.NewText))
		return
	}
	files := strings.SplitAfter(d.Patch, "\ndiff --git ")
	if len(files) != len(d.Changes) {
		v.file(d.Changes, patched(d.Patch))
		return
	}
	for i, patch := range files {
		v.file(d.Changes[i:i+1], patched(patch))
	}
}

// file prints the change of a file. It prints changes of several files without their lines, because
// these cannot be assigned to a file.
func (v *view) file(files []thread.FileChange, all []diffLine) {
	count := map[byte]int{}
	for _, l := range all {
		count[l.op]++
	}
	for _, f := range files {
		name := f.Path
		if below, err := filepath.Rel(v.dir, f.Path); err == nil && filepath.IsLocal(below) {
			name = filepath.ToSlash(below)
		}
		if len(files) == 1 {
			name = fmt.Sprintf("%s  +%d -%d", name, count['+'], count['-'])
		}
		v.screen.line(bold, "  %s", name)
	}
	for i, l := range all {
		if i == diffShown {
			v.screen.line(dim, "  ... %d lines more", len(all)-i)
			return
		}
		if l.op == '@' {
			v.screen.line(dim, "  ...")
			continue
		}
		style := map[byte]string{'+': green, '-': red, ' ': dim}[l.op]
		v.screen.line(style, "  %c %s", l.op, l.text)
	}
}

// compared returns the lines that differ, with some lines around them. A missing line end at the
// end of a text is not a difference.
func compared(before, after *string) []diffLine {
	ended := func(text *string) *string {
		if text == nil || *text == "" || strings.HasSuffix(*text, "\n") {
			return text
		}
		return new(*text + "\n")
	}
	if patch := agent.Diff("/", ended(before), ended(after)).Patch; patch != nil {
		return patched(patch.Text)
	}
	return nil
}

var hunk = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// patched returns the lines of a patch in the format of git. It keeps every line that may be a
// change, even if the patch counts its lines wrongly.
func patched(patch string) (all []diffLine) {
	old, new := 0, 0 // how many lines of the hunk are left
	for line := range strings.SplitSeq(strings.TrimSuffix(patch, "\n"), "\n") {
		if m := hunk.FindStringSubmatch(line); m != nil && old <= 0 && new <= 0 {
			old, new = count(m[1]), count(m[2])
			if len(all) > 0 {
				all = append(all, diffLine{op: '@'})
			}
			continue
		}
		changes := strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-")
		if old <= 0 && new <= 0 && (!changes || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ")) {
			continue
		}
		line = cmp.Or(line, " ") // an empty line that stays, without the space at its end
		switch line[0] {
		case ' ':
			old, new = old-1, new-1
		case '-':
			old--
		case '+':
			new--
		default:
			continue // "\ No newline at end of file"
		}
		all = append(all, diffLine{line[0], line[1:]})
	}
	return all
}

// count returns the number of lines of a hunk; a hunk without a number has 1.
func count(text string) int {
	if text == "" {
		return 1
	}
	n, _ := strconv.Atoi(text) // too large a number is 0
	return n
}
