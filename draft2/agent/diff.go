package agent

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
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
	hunks := udiff.Unified(from, to, endpoint.ValueOf(before), endpoint.ValueOf(after))
	if hunks == "" {
		hunks = fmt.Sprintf("--- %s\n+++ %s\n", from, to)
	}
	return b.String() + hunks
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
