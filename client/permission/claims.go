package permission

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// findings is what a tool call seems to do.
type findings struct {
	// claims is all that is suspected, for rules that deny and ask. If all is set an
	// extractor has found them, and it is all that the call does.
	claims []Operation
	all    bool
	// certain is what a person sees and allows with the call: what the extractor has found,
	// writes of texts that are shown, and commands with all their arguments.
	certain []Operation
	// command reports that the input of the call only describes commands.
	command bool
}

// shown is what a person is shown: all that is certain, and other things that are
// suspected.
func (f *findings) shown() []Operation {
	if f.all {
		return f.certain
	}
	files := map[string]bool{}
	for i := range f.certain {
		files[f.certain[i].Path] = true
	}
	return unique(slices.DeleteFunc(slices.Clone(f.claims), func(o Operation) bool {
		return o.Action != ActionCommand && o.Digest == "" && files[o.Path]
	}))
}

// areCertain reports whether all that is suspected of a tool call of that kind is certain.
func (f *findings) areCertain(kind string) bool {
	certain, known := map[string]bool{}, kind == ""
	for i := range f.certain {
		o := &f.certain[i]
		certain[string(o.Action)+o.argument()] = true
		known = known || o.kind() == kind
	}
	return known && !slices.ContainsFunc(f.claims, func(o Operation) bool { return !certain[string(o.Action)+o.argument()] })
}

// find looks into a tool call of a session in that workspace.
func (p *Policy) find(agent, workspace string, t *Tool) findings {
	var f findings
	for _, d := range t.Diffs {
		o := Operation{Action: ActionWrite, Path: realPath(d.Path)}
		if d.NewText != nil && o.Path != "" {
			o.Digest = DigestOf(*d.NewText)
			f.certain = append(f.certain, o)
		}
		f.claims = append(f.claims, o)
	}
	f.certain = unique(f.certain)
	if p.opts.Extract != nil {
		if found, ok := p.opts.Extract(agent, t); ok {
			written := map[string]bool{}
			for i := range found {
				if found[i].Path != "" {
					found[i].Path = realPath(below(workspace, found[i].Path))
				}
				if found[i].Action == ActionCommand && found[i].Cwd == "" {
					found[i].Cwd = workspace
				}
				found[i].Cwd = realFolder(found[i].Cwd)
				written[found[i].Path] = written[found[i].Path] || found[i].Action == ActionWrite
			}
			for _, o := range f.claims { // what is shown is part of it
				if !written[o.Path] {
					written[o.Path] = true
					found = append(found, o)
				}
			}
			f.claims, f.all = found, true
			extracted := map[string]bool{}
			for i := range found {
				extracted[found[i].identity()] = true
			}
			f.certain = slices.DeleteFunc(f.certain, func(o Operation) bool { return extracted[o.identity()] })
			f.certain = append(f.certain, found...)
			return f
		}
	}
	action := ActionWrite
	if t.Kind == "read" || t.Kind == "search" {
		action = ActionRead
	}
	for _, name := range t.Paths {
		f.claims = append(f.claims, Operation{Action: action, Path: realPath(name)})
	}
	in := readInput(t.Input)
	for _, name := range in.paths() {
		f.claims = append(f.claims, Operation{Action: action, Path: realPath(below(workspace, name))})
	}
	commands, exact := in.commands(workspace)
	f.claims = unique(append(f.claims, commands...))
	if exact {
		f.certain = append(f.certain, unique(commands)...)
		f.command = in.onlyCommands()
	}
	return f
}

// unique returns the operations without repetitions: agents name the same file in the diff, in
// the locations and in the input of a call, and a person needs to read it once.
func unique(all []Operation) []Operation {
	var once []Operation
	seen := map[string]bool{}
	for i := range all {
		if key := all[i].key(); !seen[key] {
			seen[key] = true
			once = append(once, all[i])
		}
	}
	return once
}

// line adds the command that the question itself names. A person sees it and allows it. It
// is a line for a shell, so no rule allows it, unless the extractor has found the same
// command in the tool call. The input of the tool call may name it too.
func (f *findings) line(command, cwd string) {
	if command == "" {
		return
	}
	o := Operation{Action: ActionCommand, Argv: []string{command}, Shell: true, Cwd: realFolder(cwd)}
	if slices.ContainsFunc(f.certain, func(e Operation) bool {
		return e.Action == ActionCommand && strings.Join(e.Argv, " ") == command && (f.all || e.Cwd == o.Cwd)
	}) {
		return
	}
	f.certain = append(f.certain, o)
	f.claims = append(f.claims, o)
}

// realPath returns the resolved path; empty for a path that cannot be resolved.
func realPath(name string) string {
	if name == "" {
		return ""
	}
	full, err := resolve(name)
	if err != nil {
		return ""
	}
	return full
}

// realFolder returns the resolved path of the folder of a command. One that cannot be
// resolved is returned as it is, because commands in two such folders are not the same.
func realFolder(name string) string {
	if full := realPath(name); full != "" {
		return full
	}
	return name
}

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
