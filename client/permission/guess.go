package permission

import (
	"encoding/json"
	"maps"
	"slices"
)

// No protocol says what the input of a tool call means. What agents in use send has a few names in common: the
// operations of a call are guessed by these. A guess serves rules that deny and ask, which may match too much. A
// command is also what a person is shown and allows, if no member can change what runs.

// guess adds what the locations and the input of a call seem to name.
func (f *findings) guess(t *Tool, workspace string) {
	action := ActionWrite
	if t.Kind == "read" || t.Kind == "search" {
		action = ActionRead
	}
	in := readInput(t.Input)
	for _, name := range t.Paths {
		f.claims = append(f.claims, Operation{Action: action, Path: realPath(name)})
	}
	for _, name := range in.paths() {
		f.claims = append(f.claims, Operation{Action: action, Path: realPath(below(workspace, name))})
	}
	commands, exact := in.commands(workspace)
	f.claims = unique(append(f.claims, commands...))
	if exact {
		f.certain = append(f.certain, unique(commands)...)
		f.command = in.onlyCommands()
	}
}

// The members of the input of a tool call that commonly name files and commands.
var (
	pathMembers    = []string{"path", "file_path", "filePath", "abs_path", "absolute_path", "filename", "file", "target", "destination", "new_path"}
	commandMembers = []string{"command", "cmd", "script", "argv"}
	argsMembers    = []string{"args", "arguments"}
	folderMembers  = []string{"cwd", "workdir", "working_directory", "directory"}
)

// proseMember describes a command in words. A model words it differently each time.
const proseMember = "description"

// input is the input of a tool call, an object.
type input map[string]json.RawMessage

// readInput returns nil for an input that is no object.
func readInput(raw json.RawMessage) input {
	var in input
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &in) != nil {
		return nil
	}
	return in
}

// members returns those of the members that the input has.
func (in input) members(names []string) []json.RawMessage {
	var found []json.RawMessage
	for _, name := range names {
		if raw, ok := in[name]; ok {
			found = append(found, raw)
		}
	}
	return found
}

// paths returns the paths that the input seems to name.
func (in input) paths() []string {
	var paths []string
	for _, raw := range in.members(pathMembers) {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			paths = append(paths, s)
		}
	}
	return paths
}

// text returns a member that is a string; empty if there is none.
func (in input) text(name string) (s string) {
	_ = json.Unmarshal(in[name], &s) // s stays empty
	return s
}

// commands returns the commands that the input seems to name. exact reports whether they contain all
// members that may belong to them, so that a person is shown what runs. A command without a folder
// runs in the workspace.
func (in input) commands(workspace string) (all []Operation, exact bool) {
	exact = true
	var args []string
	cwd := workspace
	for i, raw := range in.members(argsMembers) {
		exact = exact && i == 0 && json.Unmarshal(raw, &args) == nil
	}
	for i, raw := range in.members(folderMembers) {
		var s string
		if exact = exact && i == 0 && json.Unmarshal(raw, &s) == nil; s != "" {
			cwd = below(workspace, s)
		}
	}
	cwd = realFolder(cwd)
	for _, raw := range in.members(commandMembers) {
		var (
			line string
			argv []string
		)
		switch {
		case json.Unmarshal(raw, &line) == nil && line != "" && len(args) == 0:
			all = append(all, Operation{Action: ActionCommand, Argv: []string{line}, Shell: true, Cwd: cwd})
		case json.Unmarshal(raw, &line) == nil && line != "":
			all = append(all, Operation{Action: ActionCommand, Argv: append([]string{line}, args...), Cwd: cwd})
		case json.Unmarshal(raw, &argv) == nil && len(argv) > 0:
			all = append(all, Operation{Action: ActionCommand, Argv: append(argv, args...), Cwd: cwd})
		}
	}
	return all, exact
}

// onlyCommands reports whether the input has only members that describe commands.
func (in input) onlyCommands() bool {
	known := slices.Concat(commandMembers, argsMembers, folderMembers, []string{proseMember})
	for name := range in {
		if !slices.Contains(known, name) {
			return false
		}
	}
	return in != nil
}

// withoutProse returns the input without proseMember.
func (in input) withoutProse() json.RawMessage {
	in = maps.Clone(in)
	delete(in, proseMember)
	raw, _ := json.Marshal(in) // what was read can be written
	return raw
}
