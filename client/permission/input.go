package permission

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// The members of the input of a tool call in which agents commonly say what they will do.
var (
	pathMembers    = []string{"path", "file_path", "filePath", "abs_path", "absolute_path", "filename", "file", "target", "destination", "new_path"}
	commandMembers = []string{"command", "cmd", "script", "argv"}
	argsMembers    = []string{"args", "arguments"}
	folderMembers  = []string{"cwd", "workdir", "working_directory", "directory"}
)

// proseMember says in words what a command does. It changes with each call of a model.
const proseMember = "description"

// input is the input of a tool call, read as what agents commonly mean.
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

// commands returns the commands that the input seems to name. They are exact if all that
// may belong to them could be read: what runs is what a person is shown. A command without a
// folder runs in the workspace.
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

// withoutProse returns the input without what a model says about it.
func (in input) withoutProse() json.RawMessage {
	in = maps.Clone(in)
	delete(in, proseMember)
	raw, _ := json.Marshal(in) // what was read can be written
	return raw
}

// below returns the path that a tool means with a name: a relative one is below the
// workspace. What a tool may expand, and a path of Windows without a drive, is returned as it
// is; it cannot be resolved.
func below(workspace, name string) string {
	if workspace == "" || filepath.IsAbs(name) || strings.HasPrefix(name, "~") || strings.ContainsAny(name, "$%:") ||
		strings.IndexFunc(name, isSeparator) == 0 {
		return name
	}
	return workspace + string(filepath.Separator) + name // not Join: it would remove ".." after a link
}
