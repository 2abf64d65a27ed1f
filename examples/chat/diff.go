package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/client/thread"
)

const (
	diffContext = 2  // unchanged lines that are shown around a change
	diffShown   = 40 // lines that are shown of a change
	diffCells   = 1 << 20
)

// diffLine is a line of a change. Its op is ' ', '-' or '+', or '@' for omitted lines.
type diffLine struct {
	op   byte
	text string
}

func (v *view) diff(d *thread.Diff) {
	if d.NewText != nil {
		old := ""
		if d.OldText != nil {
			old = *d.OldText
		}
		v.file(d.Changes, compare(split(old), split(*d.NewText)))
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

// file prints the change of a file. The lines of several files cannot be told apart.
func (v *view) file(files []thread.FileChange, all []diffLine) {
	added, removed := 0, 0
	for _, l := range all {
		switch l.op {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	for _, f := range files {
		name := f.Path
		if below, err := filepath.Rel(v.dir, f.Path); err == nil && filepath.IsLocal(below) {
			name = filepath.ToSlash(below)
		}
		if len(files) == 1 {
			name = fmt.Sprintf("%s  +%d -%d", name, added, removed)
		}
		v.screen.line(bold, "  %s", name)
	}
	shown := around(all)
	for i, l := range shown {
		if i == diffShown {
			v.screen.line(dim, "  ... %d lines more", len(shown)-i)
			return
		}
		switch l.op {
		case '+':
			v.screen.line(green, "  + %s", l.text)
		case '-':
			v.screen.line(red, "  - %s", l.text)
		case '@':
			v.screen.line(dim, "  ...")
		default:
			v.screen.line(dim, "    %s", l.text)
		}
	}
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// compare returns the lines of both texts, common lines once.
func compare(old, new []string) []diffLine {
	var head, tail []diffLine
	for len(old) > 0 && len(new) > 0 && old[0] == new[0] {
		head = append(head, diffLine{' ', old[0]})
		old, new = old[1:], new[1:]
	}
	for len(old) > 0 && len(new) > 0 && old[len(old)-1] == new[len(new)-1] {
		tail = append([]diffLine{{' ', old[len(old)-1]}}, tail...)
		old, new = old[:len(old)-1], new[:len(new)-1]
	}
	return append(append(head, middle(old, new)...), tail...)
}

// middle compares two texts by their longest common subsequence. Texts for which that takes too
// long have nothing in common.
func middle(old, new []string) (all []diffLine) {
	if (len(old)+1)*(len(new)+1) > diffCells {
		for _, line := range old {
			all = append(all, diffLine{'-', line})
		}
		for _, line := range new {
			all = append(all, diffLine{'+', line})
		}
		return all
	}
	width := len(new) + 1
	common := make([]int32, (len(old)+1)*width) // of the texts from line i and line j on
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(new) - 1; j >= 0; j-- {
			if old[i] == new[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(old) || j < len(new); {
		switch {
		case i < len(old) && j < len(new) && old[i] == new[j]:
			all = append(all, diffLine{' ', old[i]})
			i, j = i+1, j+1
		case j == len(new) || i < len(old) && common[(i+1)*width+j] >= common[i*width+j+1]:
			all = append(all, diffLine{'-', old[i]})
			i++
		default:
			all = append(all, diffLine{'+', new[j]})
			j++
		}
	}
	return all
}

func around(all []diffLine) (shown []diffLine) {
	near := make([]bool, len(all))
	for i, l := range all {
		if l.op != ' ' {
			for j := max(0, i-diffContext); j <= min(len(all)-1, i+diffContext); j++ {
				near[j] = true
			}
		}
	}
	for i, l := range all {
		switch {
		case near[i]:
			shown = append(shown, l)
		case i == 0 || near[i-1]:
			shown = append(shown, diffLine{op: '@'})
		}
	}
	return shown
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
		if old <= 0 && new <= 0 && (!changes(line) || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ")) {
			continue
		}
		if line == "" {
			line = " " // an empty line that stays, without the space at its end
		}
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

func changes(line string) bool { return strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") }

// count returns the number of lines of a hunk; a hunk without a number has 1.
func count(text string) int {
	if text == "" {
		return 1
	}
	n, _ := strconv.Atoi(text) // too large a number is 0
	return n
}
