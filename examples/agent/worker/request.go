package worker

import (
	"fmt"
	"strconv"
	"strings"
)

// A request is one thing the user asked for in plain words.
type request struct {
	verb verb
	path string // file or folder; empty: the session's folder
	line int    // read: first line, 1-based; 0: from the start
	max  int    // read: number of lines; 0: all

	text    string // search: what to look for; write, append: what to put there
	old     string // edit: the text that is replaced
	new     string // edit: what replaces it
	command string // run: the command line
}

type verb string

const (
	verbRead   verb = "read"
	verbSearch verb = "search"
	verbEdit   verb = "edit"
	verbWrite  verb = "write"
	verbAppend verb = "append"
	verbRun    verb = "run"
)

// usage is what the agent answers when it does not understand.
const usage = `I carry out plain requests, one a line or joined by "then":

- read PATH [from line N] [for M lines]
- search "TEXT" [in PATH]
- edit PATH: replace "OLD" with "NEW"
- write PATH: TEXT
- append to PATH: TEXT
- run COMMAND
- plan: REQUEST, then REQUEST, ...
`

// title is how the request reads in a plan and in a tool call.
func (r request) title() string {
	switch r.verb {
	case verbRead:
		return "Read " + r.path
	case verbSearch:
		return fmt.Sprintf("Search %q in %s", r.text, folderName(r.path))
	case verbEdit:
		return "Edit " + r.path
	case verbWrite:
		return "Write " + r.path
	case verbAppend:
		return "Append to " + r.path
	default:
		return "Run " + r.command
	}
}

func folderName(path string) string {
	if path == "" {
		return "the project"
	}
	return path
}

// parse reads a prompt. planned reports whether the user asked for a plan; the
// error says which step it did not understand.
func parse(prompt string) (requests []request, planned bool, err error) {
	prompt = strings.TrimSpace(prompt)
	if rest, ok := cutVerb(prompt, "plan:", "plan"); ok {
		prompt, planned = rest, true
	}
	for _, step := range splitSteps(prompt) {
		r, ok := parseStep(step)
		if !ok {
			return nil, planned, fmt.Errorf("not understood: %q", step)
		}
		requests = append(requests, r)
	}
	return requests, planned, nil
}

// splitSteps cuts a prompt at line ends, semicolons and the word "then", but
// never inside quotes or backticks.
func splitSteps(prompt string) []string {
	var steps []string
	add := func(s string) {
		s = strings.TrimSpace(s)
		s = strings.TrimSpace(strings.TrimSuffix(s, "and"))
		s = strings.TrimRight(s, ", ")
		if !strings.HasSuffix(s, " .") { // a folder, not the end of a sentence
			s = strings.TrimSuffix(s, ".")
		}
		if s != "" {
			steps = append(steps, s)
		}
	}
	start := 0
	var quote byte
	for i := 0; i < len(prompt); i++ {
		c := prompt[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '`':
			quote = c
		case c == '\n' || c == ';':
			add(prompt[start:i])
			start = i + 1
		case strings.HasPrefix(prompt[i:], "then ") && i > 0 && isSpace(prompt[i-1]):
			add(prompt[start:i])
			start = i + len("then ")
			i = start - 1
		}
	}
	add(prompt[start:])
	return steps
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

func parseStep(step string) (request, bool) {
	if rest, ok := cutVerb(step, "read", "show", "open"); ok {
		return parseRead(rest)
	}
	if rest, ok := cutVerb(step, "search for", "search", "find", "grep"); ok {
		text, path := cutLast(rest, " in ")
		r := request{verb: verbSearch, text: unquote(text), path: unquote(path)}
		return r, r.text != ""
	}
	if rest, ok := cutVerb(step, "edit", "in"); ok {
		return parseEdit(rest)
	}
	if rest, ok := cutVerb(step, "write", "create"); ok {
		path, text, found := strings.Cut(rest, ":")
		return request{verb: verbWrite, path: unquote(path), text: unquote(text) + "\n"}, found && unquote(path) != ""
	}
	if rest, ok := cutVerb(step, "append to"); ok {
		path, text, found := strings.Cut(rest, ":")
		return request{verb: verbAppend, path: unquote(path), text: unquote(text) + "\n"}, found && unquote(path) != ""
	}
	if rest, ok := cutVerb(step, "run", "execute"); ok {
		return request{verb: verbRun, command: unquote(rest)}, unquote(rest) != ""
	}
	return request{}, false
}

func parseRead(rest string) (request, bool) {
	r := request{verb: verbRead}
	rest, count := cutLast(rest, " for ")
	if count != "" {
		n, ok := leadingNumber(count)
		if !ok {
			return r, false
		}
		r.max = n
	}
	rest, from := cutLast(rest, " from line ")
	if from != "" {
		n, ok := leadingNumber(from)
		if !ok {
			return r, false
		}
		r.line = n
	}
	r.path = unquote(rest)
	return r, r.path != ""
}

func parseEdit(rest string) (request, bool) {
	path, change, ok := strings.Cut(rest, ":")
	if !ok {
		return request{}, false
	}
	change, ok = cutVerb(strings.TrimSpace(change), "replace")
	if !ok {
		return request{}, false
	}
	before, after, ok := cutQuoted(change, " with ")
	r := request{verb: verbEdit, path: unquote(path), old: unquote(before), new: unquote(after)}
	return r, ok && r.path != "" && r.old != ""
}

// cutQuoted cuts s at the first sep that stands outside quotes.
func cutQuoted(s, sep string) (before, after string, ok bool) {
	quoted := false
	for i := range len(s) {
		if s[i] == '"' {
			quoted = !quoted
		}
		if !quoted && strings.HasPrefix(s[i:], sep) {
			return s[:i], s[i+len(sep):], true
		}
	}
	return s, "", false
}

func cutVerb(s string, verbs ...string) (rest string, ok bool) {
	for _, v := range verbs {
		if len(s) >= len(v) && strings.EqualFold(s[:len(v)], v) &&
			(len(s) == len(v) || isSpace(s[len(v)]) || v[len(v)-1] == ':') {
			return strings.TrimSpace(s[len(v):]), true
		}
	}
	return s, false
}

func cutLast(s, sep string) (before, after string) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):]
	}
	return s, ""
}

func leadingNumber(s string) (int, bool) {
	word, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	n, err := strconv.Atoi(word)
	return n, err == nil && n > 0
}

func unquote(s string) string {
	s = strings.TrimSpace(s)
	for _, q := range []string{`"`, "`", "'"} {
		if len(s) >= 2 && strings.HasPrefix(s, q) && strings.HasSuffix(s, q) {
			return s[1 : len(s)-1]
		}
	}
	return s
}
