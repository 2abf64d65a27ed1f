package permission

import (
	"runtime"
	"slices"
	"strings"
)

// covers reports whether the pattern of a rule that allows matches the whole command. workspace is the
// folder of the session.
func covers(pattern []string, o *Operation, workspace string) bool {
	head, options, open := parts(pattern)
	if len(o.Argv) < len(head) || !open && len(o.Argv) != len(head) {
		return false
	}
	c := coverageOf(o, workspace)
	c.named = options
	for i, word := range o.Argv {
		switch {
		case i < len(head) && head[i] == word:
			c.pass(i, true)
		case i < len(head) && head[i] != "*", i > 0 && !c.covers(i):
			return false
		default:
			c.pass(i, false)
		}
	}
	return true
}

// parts splits the pattern of a command at its last "*", if only options follow. Then it is open: any
// number of words may follow the head, and any of the options.
func parts(pattern []string) (head, options []string, open bool) {
	i := len(pattern) - 1
	for i > 0 && looksLikeOption(pattern[i]) {
		i--
	}
	if i < 1 || pattern[i] != "*" {
		return pattern, nil, false
	}
	return pattern[:i], pattern[i+1:], true
}

// coverage is what the "*" of a rule covers of one command.
type coverage struct {
	o         *Operation
	workspace string
	program   string
	// options are those of the command in coveredOptions, and depth is the number of words that
	// name the command there. Depth is 0 if it is not there.
	options []string
	depth   int
	named   []string // the options that the rule names
	// plain counts the arguments so far that are no options, and covered those that a "*" covers. last
	// is the argument before.
	plain, covered int
	last           string
}

func coverageOf(o *Operation, workspace string) *coverage {
	c := &coverage{o: o, workspace: workspace, program: program(o.Argv[0])}
	name := c.program
	for depth := 1; ; depth++ {
		if options, ok := coveredOptions[name]; ok {
			c.options, c.depth = strings.Fields(options), depth
			return c
		}
		if depth == len(o.Argv) || !hasSubcommands(name) {
			return c
		}
		name += " " + o.Argv[depth]
	}
}

// hasSubcommands reports whether coveredOptions has commands that begin with the name and a space.
func hasSubcommands(name string) bool {
	for command := range coveredOptions {
		if strings.HasPrefix(command, name+" ") {
			return true
		}
	}
	return false
}

// pass counts a word of the command.
func (c *coverage) pass(i int, literal bool) {
	c.last = c.o.Argv[i]
	if i > 0 && i >= c.depth && !looksLikeOption(c.last) {
		c.plain++
		if !literal {
			c.covered++
		}
	}
}

// covers reports whether a "*" covers an argument.
func (c *coverage) covers(i int) bool {
	word := c.o.Argv[i]
	switch {
	case i < c.depth:
		return true
	case c.depth == 0 && hasSubcommands(c.program+strings.Join(append([]string{""}, c.o.Argv[1:i]...), " ")):
		return false // a subcommand that is not known
	case i == 1 && slices.Contains(bundlers, c.program) && !strings.HasPrefix(word, "-"):
		return false
	case slices.Contains(bundlers, c.program) && strings.Contains(word, ":"):
		return false // a file of another machine, which tar opens by running a program
	case looksLikeOption(word) && !c.isPlain(word):
		return c.names(word) && !c.guards(word) || c.depth > 0 && c.has(word)
	case scripts[c.program] != nil && c.plain == 0:
		return scripts[c.program].MatchString(word)
	case c.depth > 0:
		return true
	}
	starts := c.covered == 0 && slices.Contains(starters, word) && !slices.Contains(starters, c.last)
	return !starts && !c.guards(word)
}

// looksLikeOption reports whether a program may take the word for anything but a name: an option, the name of a
// file with options, or a variable.
func looksLikeOption(word string) bool {
	switch {
	case word == "" || word == "-":
		return false
	case strings.ContainsAny(word[:1], "-+@"), runtime.GOOS == "windows" && word[0] == '/':
		return true
	}
	name, _, ok := strings.Cut(word, "=")
	return ok && !isNoWord(name) && !strings.ContainsAny(name, "./")
}

// isPlain reports whether the program, which is known, takes a word that looks like an option for a
// name.
func (c *coverage) isPlain(word string) bool {
	if strings.ContainsAny(word[:1], "+@") {
		return slices.Contains(c.options, word[:1])
	}
	return c.depth > 0 && c.program != "make" && !strings.ContainsAny(word[:1], "-/")
}

// names reports whether the rule names the option.
func (c *coverage) names(word string) bool { return hasOption(c.named, word) }

func hasOption(options []string, word string) bool {
	name, _, _ := strings.Cut(word, "=")
	return slices.Contains(options, word) || slices.Contains(options, name)
}

// has reports whether coveredOptions has the option, or each letter of it.
func (c *coverage) has(word string) bool {
	name, _, _ := strings.Cut(word, "=")
	switch {
	case hasOption(c.options, word):
		return true
	case strings.HasPrefix(word, "--"), word[0] != '-':
		return false
	case strings.Trim(word[1:], "0123456789") == "":
		return slices.Contains(c.options, "-NUM") || slices.Contains(c.options, word[:2]+"=")
	}
	if slices.ContainsFunc(c.options, func(o string) bool {
		return len(strings.TrimSuffix(o, "=")) > 2 && o[0] == '-' && o[1] != '-' && o != "-NUM"
	}) {
		return false // the program has options of one "-" and several letters, such as -run
	}
	if len(name) == 2 && slices.Contains(c.options, name+"=") {
		return true
	}
	for _, letter := range word[1:] {
		switch option := "-" + string(letter); {
		case slices.Contains(c.options, option+"="):
			return true // the rest is its value
		case !slices.Contains(c.options, option):
			return false
		}
	}
	return true
}

// guards reports whether the word names a guarded file, directly or by a symlink.
func (c *coverage) guards(word string) bool {
	if _, value, ok := strings.Cut(word, "="); ok && c.guards(value) {
		return true
	}
	return namesGuarded(word) || isGuarded(realPath(below(c.o.Cwd, word)), c.workspace)
}
