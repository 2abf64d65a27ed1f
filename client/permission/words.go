package permission

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/stream/safetext"
)

// longestSaid is the number of bytes of a text of the agent in a question. What would be done is never cut: a
// question about more than longestAsked bytes, which nobody reads, is denied.
const (
	longestSaid  = 2000
	longestAsked = 16 << 10
)

// quoted returns a text of the agent as one line in quotation marks, and how much of it is left out.
func quoted(text string) string {
	line := `"` + strings.ReplaceAll(safetext.OneLine(text, longestSaid), `"`, `\"`) + `"`
	if n := len(text) - longestSaid; n > 0 {
		line += fmt.Sprintf(" (%d bytes more are not shown)", n)
	}
	return line
}

// optionsAtMost is the number of options of a question that a person can read.
const optionsAtMost = 32

// readable reports whether a person can read what would be done, and the options. What is too long is not looked at.
func (q *Question) readable(variables []Variable) bool {
	if len(q.Options) > optionsAtMost {
		return false
	}
	raw, shown := 0, 0
	for _, v := range variables {
		raw += len(v.Name) + len(v.Value)
	}
	for i := range q.Operations {
		o := &q.Operations[i]
		raw += len(o.Path) + len(o.Cwd)
		for _, arg := range o.Argv {
			raw += len(arg)
		}
		if raw > longestAsked {
			return false
		}
		if shown += len(o.line(q.Workspace, variables)); shown > longestAsked {
			return false
		}
	}
	return true
}

// whole returns all of a text on one line.
func whole(text string) string { return safetext.OneLine(text, len(text)) }

// Lines returns the lines that a person must see before choosing: the texts of the agent in
// quotation marks, the tool with the part of its input that nothing else shows, without credentials, and the
// operations. What is left out of a text is counted. There is at least one line. If there is no text of
// the agent, the operations are exactly what will happen.
func (q *Question) Lines() []string {
	var all []string
	switch {
	case q.Title != "":
		all = append(all, "the agent asks: "+quoted(q.Title))
	case q.Tool != nil:
		all = append(all, "the agent asks about its tool call "+quoted(q.Tool.ID))
	case q.Claimed:
		all = append(all, "the agent asks without a text")
	}
	if q.Description != "" {
		all = append(all, "the agent adds: "+quoted(q.Description))
	}
	if q.Tool != nil {
		all = append(all, said(q.Tool.Texts)...)
	}
	tool, told := q.inputLine()
	if tool != "" {
		all = append(all, tool)
	}
	for i := range q.Operations {
		all = append(all, q.Operations[i].line(q.Workspace, q.Variables))
	}
	if len(q.Operations) == 0 && !told {
		all = append(all, "(the agent did not say what it will do)")
	}
	return all
}

// textsShown is the number of texts of a tool call in a question.
const textsShown = 5

// said returns the lines about the texts in the content of a tool call.
func said(texts []string) (all []string) {
	for _, text := range texts[:min(len(texts), textsShown)] {
		all = append(all, "the agent shows: "+quoted(text))
	}
	if n := len(texts) - textsShown; n > 0 {
		all = append(all, fmt.Sprintf("(%d texts more are not shown)", n))
	}
	return all
}

// line returns in one line what an operation does. The folder of a command is named if it
// is not the workspace, and the variables with their values if these are given.
func (o *Operation) line(workspace string, variables []Variable) string {
	if o.Action != ActionCommand {
		if o.Path == "" {
			return string(o.Action) + " a file whose path cannot be resolved"
		}
		return string(o.Action) + " " + whole(o.Path)
	}
	text := "run " + o.words()
	if o.Cwd != "" && o.Cwd != workspace && o.Cwd != realFolder(workspace) {
		text += " in " + whole(o.Cwd)
	}
	env := slices.Clone(o.Env)
	for i, v := range variables {
		env[i] = v.Name + `="` + strings.ReplaceAll(whole(v.Value), `"`, `\"`) + `"`
	}
	if len(env) > 0 {
		text += " with " + whole(strings.Join(env, ", "))
	}
	return text
}

// words returns a command on one line. An argument that is more than a word is quoted. The end of a line is a sign
// of its own: a shell begins a command there, and \n could be what the agent wants to print.
func (o *Operation) words() string {
	if o.Shell {
		return commandLine(strings.Join(o.Argv, " "))
	}
	all := make([]string, len(o.Argv))
	for i, arg := range o.Argv {
		all[i] = commandLine(arg)
		if arg == "" || strings.ContainsFunc(arg, separates) || all[i] != arg {
			all[i] = "'" + strings.ReplaceAll(all[i], "'", `\'`) + "'"
		}
	}
	return strings.Join(all, " ")
}

func commandLine(text string) string { return whole(strings.ReplaceAll(text, "\n", " ⏎ ")) }

// longestWhat is the maximum number of characters of a command in a label. [Question.Lines] has
// all.
const longestWhat = 60

// what describes what an "always" decision about the question applies to. It is empty if nothing can
// be remembered.
func (d *decision) what() string {
	if len(d.keys) == 0 {
		return ""
	}
	var parts []string
	switch n := len(d.certain); {
	case n == 1:
		parts = append(parts, d.operation(&d.certain[0]))
	case n > 1:
		parts = append(parts, fmt.Sprintf("these %d operations", n))
	}
	if t := d.q.Tool; t != nil && t.Name != "" && len(t.Input) > 0 && (len(parts) == 0 || len(d.q.unshown()) > 0) {
		parts = append(parts, quoted(t.Name)+" with this input")
	}
	return strings.Join(parts, ", and ")
}

func (d *decision) operation(o *Operation) string {
	if o.Action != ActionCommand {
		name := o.Path
		if rel, err := filepath.Rel(realFolder(d.q.Workspace), name); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
		return map[Action]string{ActionRead: "reading ", ActionWrite: "writing to "}[o.Action] + whole(name)
	}
	text := []rune(o.words())
	if len(text) > longestWhat {
		text = append(text[:longestWhat], []rune("...")...)
	}
	return "running " + string(text)
}
