package permission

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Decision is what a [Rule] or a person decides.
type Decision string

// The values of [Decision].
const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
	Ask   Decision = "ask"
)

// Rule decides about what it matches. Fields that are empty match everything; of Commands
// and Paths one must match.
//
// The three decisions differ in how sure a match must be. A rule that denies or asks
// matches on suspicion: on what the agent claims in a question, on the first words of a
// command, on any word of a shell line. A rule that allows matches only what is certain:
//
//   - never a shell line, a shell, or a program that runs its arguments, such as env;
//   - a command as a whole, with all its variables;
//   - a question only by the name of its tool, or by operations that Options.Extract has
//     found in it, each of which must be allowed. The kind of a tool call is only a claim,
//     and its title is never looked at.
type Rule struct {
	// Name names the rule in the audit record.
	Name     string
	Decision Decision
	// Kinds are kinds of tool calls, such as "edit" and "execute". A write is an edit and a
	// command is an execution, whatever the agent says.
	Kinds []string
	// Tools are names of tools. What the agent does without a question has none.
	Tools []string
	// Commands are patterns of commands, word by word: "*" as a word matches any one word,
	// and any number of words at the end. "go test *" matches all tests, "go version" only
	// itself. Words are compared with the arguments as they will run; there is no quoting.
	Commands []string
	// Paths are patterns of absolute paths, element by element as in package path: "**" as
	// an element matches any number of elements. Write "/" between elements on all systems.
	Paths []string
	// Env are patterns, as in package path, of names of variables that the agent sets. An
	// allowed command may set only those. If it is given, a rule that denies or asks matches
	// only commands that set one of them.
	Env []string
}

// check returns what is wrong with the rule.
func (r *Rule) check() error {
	if !slices.Contains([]Decision{Allow, Deny, Ask}, r.Decision) {
		return fmt.Errorf("permission: rule %q decides %q: use Allow, Deny or Ask", r.Name, r.Decision)
	}
	for _, c := range r.Commands {
		if len(strings.Fields(c)) == 0 {
			return fmt.Errorf("permission: rule %q has an empty command: leave Commands empty to match all", r.Name)
		}
	}
	for _, p := range r.Paths {
		if !rooted(p) {
			return fmt.Errorf("permission: rule %q has the path %q: it must be absolute", r.Name, p)
		}
		for e := range strings.SplitSeq(p, "/") {
			if _, err := path.Match(e, ""); err != nil {
				return fmt.Errorf("permission: rule %q has the path %q: %w", r.Name, p, err)
			}
		}
	}
	for _, e := range r.Env {
		if _, err := path.Match(e, ""); err != nil {
			return fmt.Errorf("permission: rule %q has the variable %q: %w", r.Name, e, err)
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

// allows reports whether the rule, which must be one that allows, matches all of the
// operation. The tool is empty for what is done without a question.
func (r *Rule) allows(o *Operation, tool string) bool {
	if !r.names(tool, o.kind()) {
		return false
	}
	switch o.Action {
	case ActionWrite:
		if len(r.Commands) > 0 && len(r.Paths) == 0 || o.Path == "" {
			return false
		}
		return len(r.Paths) == 0 || matchesPath(r.Paths, o.Path)
	case ActionCommand:
		if len(r.Paths) > 0 && len(r.Commands) == 0 || o.Shell || len(o.Argv) == 0 || runsArguments(o.Argv[0]) {
			return false
		}
		for _, name := range o.Env {
			if !matchesName(r.Env, name) {
				return false
			}
		}
		return len(r.Commands) == 0 || slices.ContainsFunc(r.Commands, func(c string) bool { return matchesWords(strings.Fields(c), o.Argv) })
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
	case ActionWrite:
		return matchesPath(r.Paths, o.Path)
	case ActionCommand:
		return slices.ContainsFunc(r.Commands, func(c string) bool { return beginsWith(strings.Fields(c), o) })
	}
	return false
}

func matchesName(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}

// matchesWords reports whether a pattern matches the whole of a command.
func matchesWords(pattern, argv []string) bool {
	if n := len(pattern); n > 1 && pattern[n-1] == "*" {
		pattern = pattern[:n-1]
		if len(argv) < len(pattern) {
			return false
		}
		argv = argv[:len(pattern)]
	}
	return slices.EqualFunc(pattern, argv, func(p, w string) bool { return p == "*" || p == w })
}
