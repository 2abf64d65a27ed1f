package permission

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Decision is the decision of a [Rule] or a person.
type Decision string

// The values of [Decision].
const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
	Ask   Decision = "ask"
)

// Rule is a decision about the operations and questions that it matches. An empty field
// matches everything, but a rule with only Commands matches no file, and a rule with only
// Paths no command. A rule with both matches commands by Commands and files by Paths. A rule
// that allows matches only commands that its Commands name.
//
// A rule that denies or asks matches generously: it considers the claims of the agent in a
// question, the first words of a command, and each word of a shell command line. A rule
// that allows is strict. It matches
//
//   - no shell, and no program that runs its arguments, such as env and perl -e, as far as
//     these are known by the name of the command and that of the file that it leads to. A
//     shell command line, also that of sh -c, is the command in it if every shell reads it as
//     words and nothing else, which is never assumed on Windows;
//   - a command only as a whole, with all its variables, except AGENT_SESSION_ID. A "*" covers no
//     options but those that the rule names, and harmless ones of well-known programs;
//   - no write to a guarded file, and no command in a guarded folder, unless its Paths name the file: .git,
//     .github, .vscode, .envrc and others whose content runs although nobody asks for it;
//   - a question only by the name of its tool, or by the operations that Options.Extract
//     returned for it, each of which must be allowed. It ignores the kind of a tool call,
//     which is only a claim, and the title.
type Rule struct {
	// Name identifies the rule in a [Record].
	Name     string
	Decision Decision
	// Kinds lists kinds of tool calls. Every read has the kind "read", every write "edit" and
	// every command "execute", whatever the agent claims.
	Kinds []string
	// Tools lists names of tools. An operation that the agent did not ask about has none.
	Tools []string
	// Commands lists patterns of commands, which are matched word by word. The word "*"
	// matches any one word, and at the end any number of words: "go version" matches only itself.
	// Words are compared with the arguments as they will run; there is no quoting.
	//
	// In a rule that allows, "*" covers names, such as those of files and packages, and options that
	// can neither run something nor write a file, for programs that this package knows: "go test *"
	// matches "go test -v -run=TestA ./...", but neither "go test -exec x" nor "go test -o x". For all
	// else a person is asked. Options after the "*" at the end are covered too, with any value or with
	// the one that is there, at any place: "go test * -tags -coverprofile=c.out". In a rule
	// that denies or asks they are what it looks for: "git push * --force -f".
	//
	// A word counts as an option if it begins with "-", "+" or "@", or is of the form NAME=value. Of
	// programs with subcommands that this package knows, such as git and go, a "*" covers no others: for
	// "git push", name it. Whatever a pattern says, it allows no program that is known to run its
	// arguments.
	Commands []string
	// Paths lists patterns of absolute paths, which are matched element by element as by
	// path.Match. The element "**" matches any number of elements. Elements are separated by
	// "/" on all systems. A rule that denies or asks ignores the case of letters and the form of Unicode,
	// because any system may use a file system that does. A rule that allows compares names as their
	// folders spell them, on Windows without the case of letters. If it allows writes, no "*" and no "**" matches a
	// guarded name: "/work/**" does not match /work/.git/config, "/work/.git/**" does.
	// On Windows a pattern begins with a drive, such as "C:/work/**"; without
	// one it matches on each drive if the rule denies or asks, and nothing if it allows. If a
	// question names a file whose path cannot be resolved, a person is asked if a rule that
	// denies or asks could match it.
	//
	// The paths that patterns are compared with have no symlinks. For a rule that denies or
	// asks, SetRules follows the symlinks in a pattern, up to the first element with a "*", "?" or
	// "[". In a rule that allows, write the path without symlinks: an agent may have made them. [Within]
	// returns the pattern for what is in a folder.
	Paths []string
	// Env lists patterns, as of path.Match, of names of variables that the agent sets. A rule
	// that allows matches only commands that set no other variables. A rule with Env that
	// denies or asks matches only commands that set one of them.
	Env []string
}

func (r *Rule) check() error {
	if !slices.Contains([]Decision{Allow, Deny, Ask}, r.Decision) {
		return fmt.Errorf("decides %q: use Allow, Deny or Ask", r.Decision)
	}
	for _, c := range r.Commands {
		if len(strings.Fields(c)) == 0 {
			return errors.New("has an empty command: leave Commands empty to match all")
		}
	}
	for _, p := range r.Paths {
		if !rooted(p) {
			return fmt.Errorf("has the path %q: it must be absolute", p)
		}
		for e := range strings.SplitSeq(p, "/") {
			if _, err := path.Match(e, ""); err != nil {
				return fmt.Errorf("has the path %q: %w", p, err)
			}
		}
	}
	for _, e := range r.Env {
		if _, err := path.Match(e, ""); err != nil {
			return fmt.Errorf("has the variable %q: %w", e, err)
		}
	}
	return nil
}

func rooted(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && p[2] == '/'
}

// names reports whether the rule holds for a tool of that name and kind.
func (r *Rule) names(tool, kind string) bool {
	return (len(r.Tools) == 0 || slices.Contains(r.Tools, tool)) && (len(r.Kinds) == 0 || slices.Contains(r.Kinds, kind))
}

// specific reports whether the rule looks into operations.
func (r *Rule) specific() bool { return len(r.Commands)+len(r.Paths)+len(r.Env) > 0 }

// allows reports whether the rule, which must be one that allows, matches the whole operation. The
// tool is empty for an operation that the agent did not ask about.
func (r *Rule) allows(o *Operation, tool, workspace string) bool {
	if !r.names(tool, o.kind()) {
		return false
	}
	switch o.Action {
	case ActionRead, ActionWrite:
		if len(r.Commands) > 0 && len(r.Paths) == 0 || o.Path == "" {
			return false
		}
		if len(r.Paths) == 0 {
			return o.Action == ActionRead || !isGuarded(o.Path, workspace)
		}
		return matchesPath(r.Paths, o.Path, o.Action == ActionWrite)
	case ActionCommand:
		if o = o.takenApart(); o == nil {
			return false
		}
		for _, name := range o.Env {
			if !matchesName(r.Env, name) && !isInert(name) {
				return false
			}
		}
		matches := func(c string) bool { return covers(strings.Fields(c), o, workspace) }
		return slices.ContainsFunc(r.Commands, matches) && !o.runsArguments() && !isGuarded(o.Cwd, workspace)
	}
	return false
}

// suspects reports whether the rule, which must be one that denies or asks, matches
// anything of the operation.
func (r *Rule) suspects(o *Operation, tool, kind string) bool {
	if !r.names(tool, kind) && !r.names(tool, o.kind()) {
		return false
	}
	if len(r.Env) > 0 && !slices.ContainsFunc(o.Env, func(name string) bool { return matchesName(r.Env, name) }) {
		return false
	}
	if len(r.Commands)+len(r.Paths) == 0 {
		return true
	}
	switch o.Action {
	case ActionRead, ActionWrite:
		return suspectsPath(r.Paths, o.Path)
	case ActionCommand:
		return slices.ContainsFunc(r.Commands, func(c string) bool { return beginsWith(strings.Fields(c), o) })
	}
	return false
}

// unsure reports whether the rule, which must be one that denies or asks, may match a file
// whose path could not be resolved.
func (r *Rule) unsure(o *Operation, tool, kind string) bool {
	return o.Action != ActionCommand && o.Path == "" && len(r.Paths) > 0 && len(r.Env) == 0 &&
		(r.names(tool, kind) || r.names(tool, o.kind()))
}

func matchesName(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}
