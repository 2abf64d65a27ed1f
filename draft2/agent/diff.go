package agent

import (
	"fmt"
	"strings"

	"github.com/acpkit/go-sdk/draft2/acp"
)

// Diff returns tool call content that shows the change of one text file as a patch in the
// format of git. Path must be absolute. If before is nil, the file was created; if after
// is nil, it was removed. If the texts are equal, there is no patch.
//
// The patch names the file by its absolute path, without the prefixes a/ and b/ that git
// adds to relative paths. A path that begins with a drive or with two backslashes has
// slashes there.
func Diff(path string, before, after *string) *acp.Diff {
	p := acp.AbsolutePath(path)
	change := acp.DiffChange{FileType: acp.DiffFileTypeText}
	switch {
	case before == nil:
		change.Operation = &acp.DiffAdd{Path: p}
	case after == nil:
		change.Operation = &acp.DiffDelete{Path: p}
	default:
		change.Operation = &acp.DiffModify{Path: p}
	}
	d := &acp.Diff{Changes: []acp.DiffChange{change}}
	if before != after && (before == nil || after == nil || *before != *after) {
		d.Patch = &acp.DiffPatch{Format: acp.DiffPatchFormatGitPatch, Text: patch(path, before, after)}
	}
	return d
}

// patch returns a patch in the format of git diff. The lines with the names are there also
// if no line of the file has changed: without them git takes the name of an empty file from
// the first line only if it has prefixes.
func patch(path string, before, after *string) string {
	name := patchName(path)
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git %[1]s %[1]s\n", name)
	from, to := name, name
	if before == nil {
		b.WriteString("new file mode 100644\n")
		from = "/dev/null"
	}
	if after == nil {
		b.WriteString("deleted file mode 100644\n")
		to = "/dev/null"
	}
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	for _, h := range hunksOf(edits(lines(before), lines(after))) {
		h.write(&b)
	}
	return b.String()
}

// patchName returns a path as a patch names it: in quotes if it has a character that would
// make the lines of the patch ambiguous.
func patchName(path string) string {
	if strings.HasPrefix(path, `\\`) || len(path) > 2 && path[1] == ':' && path[2] == '\\' { // of Windows
		path = strings.ReplaceAll(path, `\`, "/")
	}
	quote := false
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			quote = true
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			quote = true
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			quote = quote || c == ' '
			b.WriteByte(c)
		}
	}
	if quote {
		return `"` + b.String() + `"`
	}
	return path
}

// lines splits a text after its line ends.
func lines(text *string) []string {
	if text == nil || *text == "" {
		return nil
	}
	list := strings.SplitAfter(*text, "\n")
	if list[len(list)-1] == "" { // the text ends with a line end
		list = list[:len(list)-1]
	}
	return list
}

// edit is one line of a patch: kept ' ', removed '-' or added '+'.
type edit struct {
	op   byte
	line string
}

// maxTable bounds the size of the table that finds the shortest patch. If two texts differ
// in too many lines for it, one hunk replaces all lines that differ.
const maxTable = 4 << 20

// edits returns the edits between two texts. The list is the shortest one unless maxTable
// is exceeded.
func edits(a, b []string) []edit {
	var list []edit
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		list = append(list, edit{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	tail := 0
	for tail < len(a) && tail < len(b) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	kept := a[len(a)-tail:]
	list = append(list, between(a[:len(a)-tail], b[:len(b)-tail])...)
	for _, line := range kept {
		list = append(list, edit{' ', line})
	}
	return list
}

// between returns the edits between the lines that remain after the common first and last
// lines are removed.
func between(a, b []string) []edit {
	var list []edit
	if len(a) > 0 && len(b) > maxTable/len(a) {
		for _, line := range a {
			list = append(list, edit{'-', line})
		}
		for _, line := range b {
			list = append(list, edit{'+', line})
		}
		return list
	}
	// common[i][j] is the length of the longest common part of a[i:] and b[j:].
	width := len(b) + 1
	common := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			list = append(list, edit{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[(i+1)*width+j] >= common[i*width+j+1]:
			list = append(list, edit{'-', a[i]})
			i++
		default:
			list = append(list, edit{'+', b[j]})
			j++
		}
	}
	return list
}

// hunk is a run of edits with the lines around them.
type hunk struct {
	from, to int // the first lines, counted from 1
	edits    []edit
}

// around is how many kept lines a hunk shows before and after a change.
const around = 3

// hunksOf groups edits.
func hunksOf(list []edit) []hunk {
	var hunks []hunk
	from, to, last := 1, 1, -1 // last is the index of the latest change
	start := 0                 // the index after the latest hunk
	var open *hunk
	for i, e := range list {
		if e.op != ' ' {
			if open == nil {
				first := max(start, i-around)
				hunks = append(hunks, hunk{from: from - (i - first), to: to - (i - first), edits: append([]edit(nil), list[first:i]...)})
				open = &hunks[len(hunks)-1]
			}
			last = i
		}
		if open != nil {
			if e.op == ' ' && i-last > around && !changes(list[i:min(len(list), i+around)]) {
				open, start = nil, i
			} else {
				open.edits = append(open.edits, e)
			}
		}
		if e.op != '+' {
			from++
		}
		if e.op != '-' {
			to++
		}
	}
	return hunks
}

func changes(list []edit) bool {
	for _, e := range list {
		if e.op != ' ' {
			return true
		}
	}
	return false
}

func (h hunk) write(b *strings.Builder) {
	olds, news := 0, 0
	for _, e := range h.edits {
		if e.op != '+' {
			olds++
		}
		if e.op != '-' {
			news++
		}
	}
	fmt.Fprintf(b, "@@ -%s +%s @@\n", span(h.from, olds), span(h.to, news))
	for _, e := range h.edits {
		b.WriteByte(e.op)
		b.WriteString(e.line)
		if !strings.HasSuffix(e.line, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

func span(first, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", first-1)
	case 1:
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d,%d", first, n)
}
