package permission

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// findings are the operations of a tool call.
type findings struct {
	// claims are all possible operations, for rules that deny and ask. all reports whether
	// an extractor returned them, so that the call has no others.
	claims []Operation
	all    bool
	// certain are the operations that a person sees and allows with the call: those of the
	// extractor, writes of texts that are shown, and commands with all their arguments.
	certain []Operation
	// command reports that the input of the call only describes commands.
	command bool
}

// shown returns the operations that a person is shown: the certain ones, and other claims.
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

// areCertain reports whether all claims of a tool call of that kind are certain.
func (f *findings) areCertain(kind string) bool {
	certain, known := map[string]bool{}, kind == ""
	for i := range f.certain {
		o := &f.certain[i]
		certain[string(o.Action)+o.argument()] = true
		known = known || o.kind() == kind
	}
	return known && !slices.ContainsFunc(f.claims, func(o Operation) bool { return !certain[string(o.Action)+o.argument()] })
}

// arguments returns what the claims are about, in one order whatever that of the agent is.
func (f *findings) arguments() (all []string) {
	for i := range f.claims {
		all = append(all, string(f.claims[i].Action)+" "+f.claims[i].argument())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// find returns the operations of a tool call of a session in that workspace.
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
			for _, o := range f.claims { // diffs are part of the call
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

// line adds the command line that the question itself contains. No rule allows a line for a shell,
// unless the extractor has found the same command in the tool call.
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

// asLines makes lines of all commands that are one for /bin/sh. Rules that deny or ask must have seen the
// commands before, because they may name the shell.
func (f *findings) asLines() {
	for _, all := range []*[]Operation{&f.claims, &f.certain} {
		*all = slices.Clone(*all)
		for i := range *all {
			(*all)[i] = (*all)[i].asLine()
		}
	}
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

// below returns the path of a file that a tool names. A relative path is below the workspace. A
// name that a tool may expand, and a path of Windows without a drive, is returned unchanged; it
// cannot be resolved.
func below(workspace, name string) string {
	if workspace == "" || filepath.IsAbs(name) || strings.HasPrefix(name, "~") || strings.ContainsAny(name, "$%:") ||
		strings.IndexFunc(name, isSeparator) == 0 {
		return name
	}
	return workspace + string(filepath.Separator) + name // not Join: it would remove ".." after a link
}
