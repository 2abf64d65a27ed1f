package permission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/stream/mask"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// The limits of the line about the input of a tool.
const (
	// membersShown is the number of members, and shownOfValue the number of bytes of each value.
	membersShown = 20
	shownOfValue = 300
	// readOfValue is the number of bytes of a value that are looked at, so that a long one costs nothing.
	readOfValue = 4 * shownOfValue
)

// member is a member of the input of a tool call. Its name is empty if the input is no object.
type member struct {
	name  string
	value json.RawMessage
}

// membersOf returns the members of an input in the order of the text; none for an empty object and for no input. A name may be there twice: programs differ in which
// one they take.
func membersOf(raw json.RawMessage) (all []member) {
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case raw[0] != '{' || !json.Valid(raw):
		return []member{{value: raw}}
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, _ = dec.Token() // the text is an object
	for dec.More() {
		name, _ := dec.Token()
		m := member{name: fmt.Sprint(name)}
		if dec.Decode(&m.value) != nil {
			return all
		}
		all = append(all, m)
	}
	return all
}

// unshown returns the members of the input of the tool call that the operations of the question and the
// changes of the tool call do not show.
func (q *Question) unshown() []member {
	t := q.Tool
	if t == nil || q.complete {
		return nil
	}
	in := readInput(t.Input)
	if in == nil {
		return membersOf(t.Input)
	}
	commands, exact := in.commands(q.Workspace)
	texts := map[string]bool{}
	for _, d := range t.Diffs {
		for _, text := range []*string{d.OldText, d.NewText} {
			if text != nil {
				texts[strings.TrimSuffix(*text, "\n")] = true
			}
		}
	}
	return slices.DeleteFunc(membersOf(t.Input), func(m member) bool {
		var text string
		isText := json.Unmarshal(m.value, &text) == nil
		switch {
		case exact && len(commands) == 1 && slices.Contains(slices.Concat(commandMembers, argsMembers, folderMembers), m.name):
			return q.shows(&commands[0])
		case m.name == proseMember && in.onlyCommands() && exact && len(commands) == 1:
			return true
		case !isText:
			return false
		case slices.Contains(pathMembers, m.name):
			path := realPath(below(q.Workspace, text))
			return path != "" && slices.ContainsFunc(q.Operations, func(o Operation) bool { return o.Path == path })
		}
		return texts[strings.TrimSuffix(text, "\n")]
	})
}

// shows reports whether the question has the command among its operations.
func (q *Question) shows(command *Operation) bool {
	line := command.asLine()
	return slices.ContainsFunc(q.Operations, func(o Operation) bool {
		return o.Action == ActionCommand && o.Shell == line.Shell && slices.Equal(o.Argv, line.Argv) && o.Cwd == line.Cwd
	})
}

// inputLine returns the line about the tool of the question: its name, and the members of its input that
// nothing else shows. It is empty if there is neither. said reports whether there is an input.
func (q *Question) inputLine() (line string, said bool) {
	if q.Tool == nil {
		return "", false
	}
	rest, tool, gets := q.unshown(), "the input", " has "
	if q.Tool.Name != "" {
		tool, gets = "the tool "+quoted(q.Tool.Name), " gets "
	}
	switch {
	case len(rest) > 0:
	case q.Tool.Name == "", len(q.Operations) > 0 && !q.vague:
		return "", false
	case len(q.Operations) > 0:
		return tool, true
	case readInput(q.Tool.Input) != nil:
		return tool + " gets an empty input", true
	default:
		return tool, false
	}
	var b strings.Builder
	b.WriteString(tool)
	if len(q.Operations) > 0 {
		b.WriteString(" also")
	}
	b.WriteString(gets)
	for i, m := range rest[:min(len(rest), membersShown)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(m.text())
	}
	if n := len(rest) - membersShown; n > 0 {
		fmt.Fprintf(&b, " (%d members more are not shown)", n)
	}
	return b.String(), true
}

// text returns the member as a text on one line, without credentials.
func (m *member) text() string {
	var text string
	raw, size := m.value, len(m.value)
	isText := json.Unmarshal(raw, &text) == nil && len(raw) > 0 && raw[0] == '"'
	if isText {
		size = len(text)
		raw, _ = json.Marshal(text[:min(len(text), readOfValue)]) // a text can be written
	} else {
		raw = raw[:min(len(raw), readOfValue)]
	}
	name, _ := json.Marshal(m.name)
	before := len(name) + 2
	masked, _ := new(mask.Masker).JSON(slices.Concat([]byte("{"), name, []byte(":"), raw))
	if m.name == "" {
		before = 0
		masked, _ = new(mask.Masker).JSON(raw)
	}
	masked = masked[before:]
	shown := ""
	if hidden := ""; isText && json.Unmarshal(masked, &hidden) == nil {
		if hidden != text[:min(len(text), readOfValue)] {
			size = len(hidden)
		}
		shown = `"` + strings.ReplaceAll(safetext.OneLine(hidden, shownOfValue), `"`, `\"`) + `"`
	} else {
		shown = safetext.OneLine(string(masked), shownOfValue)
	}
	if n := size - shownOfValue; n > 0 {
		shown += fmt.Sprintf(" (%d bytes more are not shown)", n)
	}
	if m.name == "" {
		return shown
	}
	label := m.name
	if isNoWord(label) || len(label) > 40 {
		label = quoted(m.name)
	}
	return label + ": " + shown
}
