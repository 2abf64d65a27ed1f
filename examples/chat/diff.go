package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/client/thread"
)

// diffShown is how many lines are shown of a change.
const diffShown = 40

// diffLine is a line of a change. Its op is ' ', '-' or '+', or '@' for omitted lines.
type diffLine struct {
	op   byte
	text string
}

// diff prints the change of a file.
func (v *view) diff(d *thread.Diff) {
	all := compared(linesOf(d.OldText), linesOf(d.NewText))
	count := map[byte]int{}
	for _, l := range all {
		count[l.op]++
	}
	for _, f := range d.Changes {
		name := f.Path
		if below, err := filepath.Rel(v.dir, f.Path); err == nil && filepath.IsLocal(below) {
			name = filepath.ToSlash(below)
		}
		v.screen.line(bold, "  %s  +%d -%d", name, count['+'], count['-'])
	}
	shown := near(all)
	for i, l := range shown {
		if i == diffShown {
			v.screen.line(dim, "  ... %d lines more", len(shown)-i)
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

// linesOf returns the lines of a text. A missing line end at the end is not a difference.
func linesOf(text *string) []string {
	if text == nil || *text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(*text, "\n"), "\n")
}

// tableAtMost bounds the table of compared. Texts that differ in more lines are shown as replaced.
const tableAtMost = 1 << 20

// compared returns the lines of both texts, as few of them as changes as possible.
func compared(a, b []string) (all []diffLine) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		all = append(all, diffLine{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	end := 0
	for end < min(len(a), len(b)) && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	same := a[len(a)-end:]
	a, b = a[:len(a)-end], b[:len(b)-end]
	// common[i][j] is the number of lines that a[i:] and b[j:] have in common.
	common := make([][]int32, len(a)+1)
	if len(a) == 0 || len(b) <= tableAtMost/len(a) {
		for i := range common {
			common[i] = make([]int32, len(b)+1)
		}
		for i := len(a) - 1; i >= 0; i-- {
			for j := len(b) - 1; j >= 0; j-- {
				if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
					common[i][j] = common[i+1][j+1] + 1
				}
			}
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		table := common[0] != nil && i < len(a) && j < len(b)
		switch {
		case table && a[i] == b[j]:
			all = append(all, diffLine{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b), !table && i < len(a), table && common[i+1][j] >= common[i][j+1]:
			all = append(all, diffLine{'-', a[i]})
			i++
		default:
			all = append(all, diffLine{'+', b[j]})
			j++
		}
	}
	for _, line := range same {
		all = append(all, diffLine{' ', line})
	}
	return all
}

// around is the number of lines that are shown before and after a change.
const around = 3

// near returns the changes with the lines around them.
func near(all []diffLine) (shown []diffLine) {
	last := -1 // of the lines that are shown
	for i := range all {
		if !slices.ContainsFunc(all[max(0, i-around):min(len(all), i+around+1)], func(l diffLine) bool { return l.op != ' ' }) {
			continue
		}
		if last >= 0 && i > last+1 {
			shown = append(shown, diffLine{op: '@'})
		}
		shown, last = append(shown, all[i]), i
	}
	return shown
}
