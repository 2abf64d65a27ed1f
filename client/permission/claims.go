package permission

import (
	"encoding/json"
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
	// and writes of texts that are shown.
	certain []Operation
}

// shown is what a person is shown.
func (f *findings) shown() []Operation {
	if len(f.certain) > 0 {
		return f.certain
	}
	return f.claims
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
				found[i].Path, found[i].Cwd = realPath(found[i].Path), realFolder(found[i].Cwd)
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
	for _, name := range t.Paths {
		f.claims = append(f.claims, Operation{Action: ActionWrite, Path: realPath(name)})
	}
	for _, name := range inputPaths(t.Input) {
		f.claims = append(f.claims, Operation{Action: ActionWrite, Path: realPath(below(workspace, name))})
	}
	f.claims = append(f.claims, inputCommands(t.Input)...)
	f.claims = unique(f.claims)
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
// command in the tool call.
func (f *findings) line(command, cwd string) {
	if command == "" {
		return
	}
	o := Operation{Action: ActionCommand, Argv: []string{command}, Shell: true, Cwd: realFolder(cwd)}
	if f.all && slices.ContainsFunc(f.claims, func(e Operation) bool {
		return e.Action == ActionCommand && strings.Join(e.Argv, " ") == command
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

// The members in which agents commonly say what they will do.
var (
	pathMembers    = []string{"path", "file_path", "filePath", "abs_path", "absolute_path", "filename", "file", "target", "destination", "new_path"}
	commandMembers = []string{"command", "cmd", "script", "argv"}
)

// inputPaths returns the paths that the input of a tool seems to name.
func inputPaths(input json.RawMessage) []string {
	var paths []string
	for _, raw := range members(input, pathMembers) {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			paths = append(paths, s)
		}
	}
	return paths
}

// inputCommands returns the commands that the input of a tool seems to name.
func inputCommands(input json.RawMessage) []Operation {
	var all []Operation
	for _, raw := range members(input, commandMembers) {
		var (
			line string
			argv []string
		)
		switch {
		case json.Unmarshal(raw, &line) == nil && line != "":
			all = append(all, Operation{Action: ActionCommand, Argv: []string{line}, Shell: true})
		case json.Unmarshal(raw, &argv) == nil && len(argv) > 0:
			all = append(all, Operation{Action: ActionCommand, Argv: argv})
		}
	}
	return all
}

func members(input json.RawMessage, names []string) []json.RawMessage {
	if len(input) == 0 || input[0] != '{' {
		return nil
	}
	var read map[string]json.RawMessage
	if json.Unmarshal(input, &read) != nil {
		return nil
	}
	var found []json.RawMessage
	for _, name := range names {
		if raw, ok := read[name]; ok {
			found = append(found, raw)
		}
	}
	return found
}
