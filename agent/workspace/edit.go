package workspace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
)

// A Replacement replaces a text that occurs exactly once in a file. Both texts are taken literally.
type Replacement struct {
	Old string `json:"old" description:"text that occurs exactly once in the file, with its white space and line ends" validate:"required"`
	New string `json:"new" description:"what takes its place; empty to remove it"`
}

// EditError is the error of a replacement that cannot be made. None has been made then.
type EditError struct {
	Path    string
	Index   int    // of the replacement
	Matches int    // how often its text occurs; 1 means that it overlaps an earlier one
	hint    string // for the model
}

func (e *EditError) Error() string {
	text := "occurs in none of its lines" + e.hint
	switch {
	case e.Matches == 1:
		text = "overlaps that of another edit; join them"
	case e.Matches > 1:
		text = fmt.Sprintf("occurs %d times; give more of the lines around it", e.Matches)
	}
	return fmt.Sprintf("%s was not changed: the old text of edit %d %s", oneLine(e.Path), e.Index+1, text)
}

// FailedToolCall implements acp.ToolFailure.
func (e *EditError) FailedToolCall() *acp.ToolCallUpdate {
	return &acp.ToolCallUpdate{Content: []acp.ToolCallContent{acp.ToolText(e.Error())}}
}

// Edit makes all replacements in a file or none. It reads the file, which must have the given
// version, and writes it if it has not changed meanwhile.
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

// edited returns a file and what an edit would make of it.
func (w *Workspace) edited(ctx context.Context, path string, edits []Replacement) (*File, string, error) {
	file, err := w.Read(ctx, path)
	if err != nil {
		return nil, "", err
	}
	text, failure := replace(file.Text, edits)
	if failure != nil {
		failure.Path = file.Path
		return nil, "", failure
	}
	return file, text, nil
}

// replace makes all replacements at once: none sees the text of another.
func replace(text string, edits []Replacement) (string, *EditError) {
	type span struct{ begin, end, index int }
	var spans []span
	for i, e := range edits {
		n := occurrences(text, e.Old)
		if n != 1 {
			hint := ""
			if strings.Contains(text, "\r\n") && occurrences(strings.ReplaceAll(text, "\r\n", "\n"), e.Old) > 0 {
				hint = `: the lines of this file end with \r\n`
			}
			return "", &EditError{Index: i, Matches: n, hint: hint}
		}
		begin := strings.Index(text, e.Old)
		spans = append(spans, span{begin, begin + len(e.Old), i})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.begin, b.begin) })
	var all strings.Builder
	end := 0
	for _, s := range spans {
		if s.begin < end {
			return "", &EditError{Index: s.index, Matches: 1}
		}
		all.WriteString(text[end:s.begin])
		all.WriteString(edits[s.index].New)
		end = s.end
	}
	all.WriteString(text[end:])
	return all.String(), nil
}

// occurrences counts also those that overlap. Nothing occurs nowhere.
func occurrences(text, part string) (n int) {
	if part == "" {
		return 0
	}
	for {
		i := strings.Index(text, part)
		if i < 0 {
			return n
		}
		n++
		text = text[i+1:]
	}
}
