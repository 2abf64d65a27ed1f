package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
)

// Tools returns those of the tools read_file, write_file, edit_file, search and run_command that
// the workspace can offer now.
func Tools(w *Workspace) []tools.Tool {
	o, local := w.offers(), w.local()
	var all []tools.Tool
	add := func(offered bool, t tools.Tool) {
		if offered {
			all = append(all, t)
		}
	}
	add(o.read || local, w.readTool())
	add(o.write || local, w.writeTool())
	add(o.read && o.write || local, w.editTool())
	add(local, w.searchTool())
	add(o.commands || local, w.commandTool())
	return all
}

// tool returns a tool whose Describe gets the decoded input. The client receives the absolute path
// of a file, because its current folder may differ from that of the agent.
func tool[In any](name, title string, kind acp.ToolKind, effect tools.Effect, description string,
	describe func(context.Context, In) tools.Summary, run func(context.Context, *tools.Call, In) (tools.Result, error)) tools.Tool {
	t := tools.Typed(name, description, run)
	t.Title, t.Kind, t.Effect = title, kind, effect
	t.Describe = func(ctx context.Context, raw json.RawMessage) tools.Summary {
		in, err := tools.DecodeInput[In](raw)
		if err != nil {
			return tools.Summary{Err: err}
		}
		s := describe(ctx, in)
		if len(s.Locations) > 0 && s.Input == nil {
			s.Input = withPath(raw, s.Locations[0].Path)
		}
		return s
	}
	return t
}

// withPath returns the input with the given path, or nil if it has that path already.
func withPath(raw json.RawMessage, path string) json.RawMessage {
	var in map[string]any
	if json.Unmarshal(raw, &in) != nil || in["path"] == path {
		return nil
	}
	in["path"] = path
	exact, _ := json.Marshal(in) // a value that was decoded can be encoded
	return exact
}

// The defaults for the input of the model.
const (
	linesRead      = 2000
	commandTimeout = 120 // seconds
)

type readInput struct {
	Path  string `json:"path" description:"absolute, or relative to the working folder" validate:"required,min=1"`
	Line  uint32 `json:"line,omitempty" description:"the first line, counted from 1"`
	Limit uint32 `json:"limit,omitempty" description:"how many lines, 2000 if it is absent"`
}

func (w *Workspace) readTool() tools.Tool {
	return tool("read_file", "Read a file", acp.ToolKindRead, tools.Reads, "Reads a text file, or some of its lines, exactly as it is.",
		func(_ context.Context, in readInput) tools.Summary {
			s := w.summary("Read", in.Path)
			if in.Line > 0 && s.Err == nil {
				s.Locations[0].Line = &in.Line
			}
			return s
		},
		func(ctx context.Context, c *tools.Call, in readInput) (tools.Result, error) {
			first, limit := max(in.Line, 1), cmp.Or(in.Limit, linesRead)
			text, err := w.readLines(ctx, c.Summary().Locations[0].Path, first, limit)
			if err != nil {
				return tools.Result{}, err
			}
			r := tools.Text(text)
			if n := uint32(strings.Count(text, "\n")); n >= limit {
				r.Model = append(r.Model, tools.Part{Text: fmt.Sprintf("[lines %d to %d; there may be more]", first, first+n-1)})
			} else if text == "" {
				r = tools.Text(fmt.Sprintf("[the file has nothing from line %d on]", first))
			}
			return r, nil
		})
}

// summary describes a call for one path. A link is shown with its target.
func (w *Workspace) summary(verb, path string) tools.Summary {
	full, err := w.resolve(path)
	if err != nil {
		return tools.Summary{Title: verb + " " + path, Err: err}
	}
	title := verb + " " + w.short(full)
	if link, err := w.named(path); err == nil && w.shown(link) != full {
		title = verb + " " + w.short(link) + " → " + w.short(full)
	}
	return tools.Summary{Title: title, Locations: []acp.ToolCallLocation{{Path: full}}}
}

type writeInput struct {
	Path string `json:"path" description:"absolute, or relative to the working folder" validate:"required,min=1"`
	Text string `json:"text" description:"the whole new text of the file" validate:"required"`
}

func (w *Workspace) writeTool() tools.Tool {
	return tool("write_file", "Write a file", acp.ToolKindEdit, tools.Writes,
		"Creates a text file, or replaces all of its text. Use edit_file to change a part of a file.",
		func(ctx context.Context, in writeInput) tools.Summary {
			return w.diff("Write", in.Path, func(path string) (*File, string, error) {
				file, err := w.file(ctx, path)
				if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotOffered) {
					file, err = nil, nil
				}
				if file == nil {
					return nil, in.Text, err
				}
				return file, inFormOf(file.Text, in.Text), err
			})
		},
		func(ctx context.Context, c *tools.Call, _ writeInput) (tools.Result, error) { return w.change(ctx, c) })
}

type editInput struct {
	Path  string        `json:"path" description:"absolute, or relative to the working folder" validate:"required,min=1"`
	Edits []Replacement `json:"edits" description:"what to replace; all edits are made, or none" validate:"required,min=1,dive"`
}

func (w *Workspace) editTool() tools.Tool {
	return tool("edit_file", "Edit a file", acp.ToolKindEdit, tools.Writes,
		"Replaces texts in a file. Each old text must occur exactly once, character by character.",
		func(ctx context.Context, in editInput) tools.Summary {
			return w.diff("Edit", in.Path, func(path string) (*File, string, error) { return w.edited(ctx, path, in.Edits) })
		},
		func(ctx context.Context, c *tools.Call, _ editInput) (tools.Result, error) { return w.change(ctx, c) })
}

// diff describes a change of a file. read returns the file, nil if it is new, and its new text.
func (w *Workspace) diff(verb, name string, read func(path string) (*File, string, error)) tools.Summary {
	s := w.summary(verb, name)
	if s.Err != nil {
		return s
	}
	old, text, err := read(s.Locations[0].Path)
	if s.Err = err; err != nil {
		return s
	}
	diff := &acp.Diff{Path: s.Locations[0].Path, NewText: text}
	if old != nil {
		diff.OldText = &old.Text
	}
	s.Preview = []acp.ToolCallContent{diff}
	s.Rule = &tools.Rule{What: diff.Path, Label: "changes of " + w.short(diff.Path) + " in this session"}
	return s
}

// change makes the change that was shown, unless the file has changed since.
func (w *Workspace) change(ctx context.Context, c *tools.Call) (tools.Result, error) {
	preview := c.Summary().Preview
	if len(preview) == 0 {
		return tools.Result{}, tools.Failf("Nothing was written, because the change could not be shown.")
	}
	diff, old := preview[0].(*acp.Diff), NoFile
	if diff.OldText != nil {
		old = VersionOf(*diff.OldText)
	} else if !w.offers().read && !w.local() {
		old = AnyText // the old text could not be shown
	}
	file, err := w.write(ctx, diff.Path, diff.NewText, old)
	if err != nil {
		return tools.Result{}, err
	}
	r := tools.Text("Wrote " + w.short(file.Path) + ".")
	r.Content = []acp.ToolCallContent{} // the diff is sufficient
	if file.Text != diff.NewText {
		r.Model[0].Text += " The editor has changed the text when it saved it, so read it before you edit it again."
		err = c.Diff(ctx, file.Path, diff.OldText, file.Text)
	}
	return r, err
}

func (w *Workspace) searchTool() tools.Tool {
	return tool("search", "Search", acp.ToolKindSearch, tools.Reads, "Finds lines in text files, or files by name. What is not saved is not found.",
		func(_ context.Context, in Query) tools.Summary {
			title := "List files"
			if in.Pattern != "" {
				title = "Search for " + clip(strconv.Quote(in.Pattern), 120) // so that the folder is seen, too
			}
			if in.Path != "" {
				return w.summary(title+" in", in.Path)
			}
			return tools.Summary{Title: title}
		},
		func(ctx context.Context, c *tools.Call, in Query) (tools.Result, error) {
			search := w.Search
			if at := c.Summary().Locations; len(at) > 0 {
				in.Path, search = at[0].Path, w.search
			}
			found, more, err := search(ctx, in)
			var all strings.Builder
			for _, m := range found {
				all.WriteString(w.short(m.Path))
				if m.Line > 0 {
					fmt.Fprintf(&all, ":%d:%s", m.Line, m.Text)
				}
				all.WriteByte('\n')
			}
			if more {
				all.WriteString("[there are more; search for something more exact]\n")
			} else if len(found) == 0 {
				all.WriteString("[nothing was found]\n")
			}
			return tools.Text(all.String()), err
		})
}

type commandInput struct {
	Command string `json:"command" description:"a line for the shell" validate:"required,min=1"`
	Cwd     string `json:"cwd,omitempty" description:"the folder to run it in, absolute or relative to the working folder"`
	Timeout uint32 `json:"timeout,omitempty" description:"seconds until it is stopped, 120 if it is absent" validate:"max=3600"`
}

func (w *Workspace) commandTool() tools.Tool {
	return tool("run_command", "Run a command", acp.ToolKindExecute, tools.Executes,
		"Runs a command and returns the end of its output. It gets no input, and what it leaves running is stopped.",
		func(_ context.Context, in commandInput) tools.Summary {
			s := tools.Summary{Title: in.Command}
			cwd, err := w.folder(Command{Line: in.Command, Cwd: in.Cwd})
			if err != nil {
				s.Err = err
				return s
			}
			// Some clients show nothing but "command", so it is the line as the model wrote it.
			s.Input, s.Err = json.Marshal(map[string]any{"command": in.Command, "cwd": cwd})
			label := "`" + in.Command + "`"
			if cwd != w.roots[0] {
				label += " in " + w.short(cwd)
			}
			if !strings.Contains(in.Command, "`") { // otherwise the label could be misleading
				s.Rule = &tools.Rule{What: string(s.Input), Label: label + " in this session"}
			}
			return s
		}, w.runTool)
}

func (w *Workspace) runTool(ctx context.Context, c *tools.Call, in commandInput) (tools.Result, error) {
	atClient := w.offers().commands // the client shows its terminal
	timeout := time.Duration(cmp.Or(in.Timeout, commandTimeout)) * time.Second
	if err := json.Unmarshal(c.Summary().Input, &in); err != nil { // its cwd is the one that was shown
		return tools.Result{}, err
	}
	res, err := w.run(ctx, Command{in.Command, in.Cwd, timeout}, c)
	if res == nil {
		return tools.Result{}, err
	}
	text, end := res.Output, "ended by "+res.Signal
	if res.Truncated {
		text = "[the beginning is left out]\n" + text
	}
	switch {
	case err != nil:
		end = "it was stopped"
	case res.TimedOut:
		end = fmt.Sprintf("it was stopped after %v", timeout)
	case res.ExitCode != nil:
		end = fmt.Sprintf("exit code %d", *res.ExitCode)
	case res.Signal == "":
		end = "it has ended, and the client does not say how: look whether it has done its work"
	}
	r := tools.Text(strings.TrimPrefix(text+"\n["+end+"]", "\n"))
	if atClient {
		r.Content = []acp.ToolCallContent{}
	} else if err != nil {
		_ = c.Show(ctx, acp.ToolText(r.Model[0].Text)) // err is the error to report
	}
	r.Raw = map[string]any{"exitCode": res.ExitCode, "signal": res.Signal, "truncated": res.Truncated, "timedOut": res.TimedOut}
	return r, err
}
