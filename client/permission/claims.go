package permission

import (
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
