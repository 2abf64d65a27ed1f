package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
)

// Tools returns the tools read_file, write_file, edit_file, search and run_command of a workspace,
// those that are offered now.
func Tools(w *Workspace) []tools.Tool {
	o, local := w.offers(), w.local()
	var all []tools.Tool
	if o.read || local {
		all = append(all, w.readTool())
	}
	if o.write || local {
		all = append(all, w.writeTool())
	}
	if (o.read || local) && (o.write || local) {
		all = append(all, w.editTool())
	}
	if local {
		all = append(all, w.searchTool())
	}
	if o.commands || local {
		all = append(all, w.commandTool())
	}
	return all
}

// describe decodes the input of a call for Describe.
func describe[In any](f func(context.Context, In) tools.Summary) func(context.Context, json.RawMessage) tools.Summary {
	return func(ctx context.Context, raw json.RawMessage) tools.Summary {
		in, err := tools.DecodeInput[In](raw)
		if err != nil {
			return tools.Summary{Err: err}
		}
		return f(ctx, in)
	}
}

// linesRead is how many lines a model gets if it does not say how many.
const linesRead = 2000

type readInput struct {
	Path  string `json:"path" description:"absolute, or relative to the working folder" validate:"required"`
	Line  uint32 `json:"line,omitempty" description:"the first line, counted from 1"`
	Limit uint32 `json:"limit,omitempty" description:"how many lines, 2000 if it is absent"`
}

func (w *Workspace) readTool() tools.Tool {
	t := tools.Typed("read_file", "Reads a text file, or some of its lines, exactly as it is.", func(ctx context.Context, _ *tools.Call, in readInput) (tools.Result, error) {
		first, limit := max(in.Line, 1), in.Limit
		if limit == 0 {
			limit = linesRead
		}
		text, err := w.ReadLines(ctx, in.Path, first, limit)
		if err != nil {
			return tools.Result{}, err
		}
		r := tools.Text(text)
		switch n := strings.Count(text, "\n"); {
		case text == "" && first == 1:
			r = tools.Text("[the file is empty]")
		case text == "":
			r = tools.Text(fmt.Sprintf("[the file has fewer than %d lines]", first))
		case uint32(n) >= limit:
			r.Model = append(r.Model, tools.Part{Text: fmt.Sprintf("[lines %d to %d; there may be more]", first, uint64(first)+uint64(n)-1)})
		}
		return r, nil
	})
	t.Title, t.Kind, t.Effect = "Read a file", acp.ToolKindRead, tools.Reads
	t.Describe = describe(func(_ context.Context, in readInput) tools.Summary {
		path, err := w.resolve(in.Path)
		if err != nil {
			return tools.Summary{Title: "Read " + oneLine(in.Path), Err: err}
		}
		at := acp.ToolCallLocation{Path: path}
		if in.Line > 0 {
			at.Line = &in.Line
		}
		return tools.Summary{Title: "Read " + w.short(path), Locations: []acp.ToolCallLocation{at}}
	})
	return t
}

type writeInput struct {
	Path string `json:"path" description:"absolute, or relative to the working folder" validate:"required"`
	Text string `json:"text" description:"the whole new text of the file"`
}

func (w *Workspace) writeTool() tools.Tool {
	t := tools.Typed("write_file", "Creates a text file, or replaces all of its text. Use edit_file to change a part of a file.",
		func(ctx context.Context, c *tools.Call, _ writeInput) (tools.Result, error) { return w.change(ctx, c) })
	t.Title, t.Kind, t.Effect = "Write a file", acp.ToolKindEdit, tools.Writes
	t.Describe = describe(func(ctx context.Context, in writeInput) tools.Summary {
		file, err := w.Read(ctx, in.Path)
		if err == nil {
			return w.diff("Write", file.Path, &file.Text, in.Text)
		}
		path, bad := w.resolve(in.Path)
		if bad == nil && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotOffered) || silent(err)) {
			return w.diff("Write", path, nil, in.Text)
		}
		return tools.Summary{Title: "Write " + oneLine(in.Path), Err: err}
	})
	return t
}

type editInput struct {
	Path  string        `json:"path" description:"absolute, or relative to the working folder" validate:"required"`
	Edits []Replacement `json:"edits" description:"what to replace; all edits are made, or none" validate:"required,min=1,dive"`
}

func (w *Workspace) editTool() tools.Tool {
	t := tools.Typed("edit_file", "Replaces texts in a file. Each old text must occur exactly once, character by character.",
		func(ctx context.Context, c *tools.Call, _ editInput) (tools.Result, error) { return w.change(ctx, c) })
	t.Title, t.Kind, t.Effect = "Edit a file", acp.ToolKindEdit, tools.Writes
	t.Describe = describe(func(ctx context.Context, in editInput) tools.Summary {
		file, text, err := w.edited(ctx, in.Path, in.Edits)
		if err != nil {
			return tools.Summary{Title: "Edit " + oneLine(in.Path), Err: err}
		}
		return w.diff("Edit", file.Path, &file.Text, text)
	})
	return t
}

// diff describes a change of a file.
func (w *Workspace) diff(verb, path string, old *string, text string) tools.Summary {
	s := tools.Summary{
		Title: verb + " " + w.short(path), Locations: []acp.ToolCallLocation{{Path: path}},
		Preview: []acp.ToolCallContent{&acp.Diff{Path: path, OldText: old, NewText: text}},
	}
	if short := w.short(path); plain(short) {
		s.Rule = &tools.Rule{What: path, Label: "changes of " + short + " in this session"}
	}
	return s
}

// change makes the change that was shown, if the file still has the text that was shown.
func (w *Workspace) change(ctx context.Context, c *tools.Call) (tools.Result, error) {
	diff := shownDiff(c.Summary())
	if diff == nil {
		return tools.Result{}, tools.Failf("Nothing was written, because the change could not be shown.")
	}
	old := NoFile
	if diff.OldText != nil {
		old = VersionOf(*diff.OldText)
	} else if !w.offers().read && !w.local() {
		old = AnyText
	}
	file, err := w.Write(ctx, diff.Path, diff.NewText, old)
	if errors.Is(err, ErrStale) {
		return tools.Result{}, tools.Failf("%s has changed since the change was shown. Nothing was written. Read it again.", w.short(diff.Path))
	}
	if err != nil {
		return tools.Result{}, err
	}
	told := "Wrote " + w.short(file.Path) + "."
	if file.Text != diff.NewText {
		told += " The editor has changed the text when it saved it, so read it before you edit it again."
		if err := c.Diff(ctx, file.Path, diff.OldText, file.Text); err != nil {
			return tools.Result{}, err
		}
	}
	r := tools.Text(told)
	r.Content = []acp.ToolCallContent{} // the diff says it
	return r, nil
}

func shownDiff(s tools.Summary) *acp.Diff {
	for _, content := range s.Preview {
		if diff, ok := content.(*acp.Diff); ok {
			return diff
		}
	}
	return nil
}

type searchInput struct {
	Pattern string `json:"pattern,omitempty" description:"a regular expression in the syntax of RE2, for each line; without it the files are listed"`
	Literal bool   `json:"literal,omitempty" description:"the pattern is a text"`
	Path    string `json:"path,omitempty" description:"the folder or file to look in; all folders if it is absent"`
	Name    string `json:"name,omitempty" description:"the names of the files to look in, such as *.go"`
}

func (w *Workspace) searchTool() tools.Tool {
	t := tools.Typed("search", "Finds lines in text files, or files by name. What is not saved is not found.", func(ctx context.Context, _ *tools.Call, in searchInput) (tools.Result, error) {
		found, more, err := w.Search(ctx, Query(in))
		if err != nil {
			return tools.Result{}, err
		}
		var all strings.Builder
		for _, m := range found {
			all.WriteString(w.short(m.Path))
			if m.Line > 0 {
				all.WriteString(":" + strconv.FormatUint(uint64(m.Line), 10) + ":" + m.Text)
			}
			all.WriteByte('\n')
		}
		switch {
		case more:
			all.WriteString("[there are more; search for something more exact]\n")
		case len(found) == 0:
			all.WriteString("[nothing was found]\n")
		}
		return tools.Text(all.String()), nil
	})
	t.Title, t.Kind, t.Effect = "Search", acp.ToolKindSearch, tools.Reads
	t.Describe = describe(func(_ context.Context, in searchInput) tools.Summary {
		s := tools.Summary{Title: "List files"}
		if in.Pattern != "" {
			s.Title = "Search for " + oneLine(strconv.Quote(in.Pattern))
		}
		if in.Path != "" {
			path, err := w.resolve(in.Path)
			if s.Err = err; err == nil {
				s.Title += " in " + w.short(path)
				s.Locations = []acp.ToolCallLocation{{Path: path}}
			}
		}
		return s
	})
	return t
}

// oneLine returns a text that fits into a title.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	return clip(text, 120)
}

// plain reports whether a text is shown to people as it is. What is shown otherwise can be allowed
// only once.
func plain(text string) bool { return text == oneLine(text) }
