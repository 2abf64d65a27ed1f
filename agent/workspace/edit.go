package workspace

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
)

// A Replacement replaces a text that occurs exactly once in a file. Old and new text are literal.
type Replacement struct {
	Old string `json:"old" description:"text that occurs exactly once in the file, with its white space and line ends" validate:"required"`
	New string `json:"new" description:"what takes its place; empty to remove it"`
}

// EditError reports that a replacement cannot be made. In this case none of the replacements is
// made. Its text is for the model.
type EditError struct {
	Path    string
	Index   int // of the replacement
	Matches int // number of occurrences of its text; 1 means that it overlaps the text of another replacement
	crlf    bool
}

func (e *EditError) Error() string {
	why := "does not occur in it"
	switch {
	case e.Matches == 1:
		why = "overlaps that of another edit; join them"
	case e.Matches > 1:
		why = fmt.Sprintf("occurs %d times; give more of the text around it", e.Matches)
	case e.crlf:
		why += `: its lines end with \r\n`
	}
	return fmt.Sprintf("%s was not changed: the old text of edit %d %s", oneLine(e.Path), e.Index+1, why)
}

// FailedToolCall implements acp.ToolFailure.
func (e *EditError) FailedToolCall() *acp.ToolCallUpdate {
	return (&tools.Failure{Text: e.Error()}).FailedToolCall()
}

// Edit makes all replacements in a file, or none. The file must have the version old, and must not
// change while Edit runs; otherwise the error is [ErrStale].
func (w *Workspace) Edit(ctx context.Context, path string, edits []Replacement, old Version) (*File, error) {
	file, text, err := w.edited(ctx, path, edits)
	if err != nil {
		return nil, err
	}
	if old != AnyText && old != file.Version {
		return nil, &Error{file.Path, ErrStale}
	}
	return w.Write(ctx, file.Path, text, file.Version)
}

// edited returns a file, and its text after the replacements.
func (w *Workspace) edited(ctx context.Context, path string, edits []Replacement) (*File, string, error) {
	file, err := w.Read(ctx, path)
	if err != nil {
		return nil, "", err
	}
	text, err := replace(file, edits)
	return file, text, err
}

// replace makes all replacements at once: no replacement applies to the new text of another.
func replace(file *File, edits []Replacement) (string, error) {
	text := file.Text
	at := make(map[int]int, len(edits)) // the edits by where their texts begin
	for i, e := range edits {
		n := occurrences(text, e.Old)
		begin := strings.Index(text, e.Old)
		if _, twice := at[begin]; n != 1 || twice {
			return "", &EditError{Path: file.Path, Index: i, Matches: n, crlf: occurrences(strings.ReplaceAll(text, "\r\n", "\n"), e.Old) > 0}
		}
		at[begin] = i
	}
	var all strings.Builder
	end := 0
	for _, begin := range slices.Sorted(maps.Keys(at)) {
		e := edits[at[begin]]
		if begin < end {
			return "", &EditError{Path: file.Path, Index: at[begin], Matches: 1}
		}
		all.WriteString(text[end:begin] + e.New)
		end = begin + len(e.Old)
	}
	return all.String() + text[end:], nil
}

// occurrences counts the occurrences of part in text, including overlapping ones. An empty part has
// none.
func occurrences(text, part string) (n int) {
	for i := strings.Index(text, part); i >= 0 && part != ""; i = strings.Index(text, part) {
		n++
		text = text[i+1:]
	}
	return n
}
