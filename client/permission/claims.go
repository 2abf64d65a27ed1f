package permission

import (
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

// find returns the operations of a tool call of a session in that workspace. It has three sources. The diffs
// of the call are always part of it. An extractor that knows the agent says what else the call does, and
// that it does nothing more. Without one, the rest is guessed from the names in the input.
func (p *Policy) find(agent, workspace string, t *Tool) findings {
	f := fromDiffs(t.Diffs)
	if p.opts.Extract != nil {
		if found, ok := p.opts.Extract(agent, t); ok {
			f.extracted(found, workspace)
			return f
		}
	}
	f.guess(t, workspace)
	return f
}

// fromDiffs returns the writes that diffs show. A diff without its new text shows only the file.
func fromDiffs(diffs []Diff) (f findings) {
	for _, d := range diffs {
		o := Operation{Action: ActionWrite, Path: realPath(d.Path)}
		if d.NewText != nil && o.Path != "" {
			o.Digest = DigestOf(*d.NewText)
			f.certain = append(f.certain, o)
		}
		f.claims = append(f.claims, o)
	}
	f.certain = unique(f.certain)
	return f
}

// extracted makes the operations of an extractor all that the call does, beside the diffs of files that they
// do not write.
func (f *findings) extracted(found []Operation, workspace string) {
	written := map[string]bool{}
	for i := range found {
		o := &found[i]
		if o.Path != "" {
			o.Path = realPath(below(workspace, o.Path))
		}
		if o.Action == ActionCommand && o.Cwd == "" {
			o.Cwd = workspace
		}
		o.Cwd = realFolder(o.Cwd)
		written[o.Path] = written[o.Path] || o.Action == ActionWrite
	}
	for _, o := range f.claims {
		if !written[o.Path] {
			written[o.Path] = true
			found = append(found, o)
		}
	}
	same := map[string]bool{}
	for i := range found {
		same[found[i].identity()] = true
	}
	f.certain = slices.DeleteFunc(f.certain, func(o Operation) bool { return same[o.identity()] })
	f.certain = append(f.certain, found...)
	f.claims, f.all = found, true
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
