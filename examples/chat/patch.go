package main

import (
	"regexp"
	"strconv"
	"strings"
)

var hunk = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// patched returns the lines of a patch in the format of git, without the names of files and
// the like. It leaves out no line that may be a change, also if the patch counts its lines
// wrongly.
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
			continue // there is no line break at the end of the file
		}
		all = append(all, diffLine{line[0], line[1:]})
	}
	return all
}

func changes(line string) bool { return strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") }

// count returns the number of lines of a hunk, which is 1 if it is left out.
func count(text string) int {
	if text == "" {
		return 1
	}
	n, _ := strconv.Atoi(text) // too large a number is 0
	return n
}
