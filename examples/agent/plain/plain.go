// Package plain reads the plain requests that the example agents understand instead of a language model, and words their
// answers.
package plain

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A Request is one thing the user asked for in plain words.
type Request struct {
	Verb Verb
	Path string // file or folder; empty: the session's folder
	Line int    // Read: first line, 1-based; 0: from the start
	Max  int    // Read: number of lines; 0: all

	Text    string // Search: what to look for; Write, Append: what to put there
	Old     string // Edit: the text that is replaced
	New     string // Edit: what replaces it
	Command string // Run: the command line
}

// A Verb is what the user asks for: the word at the beginning of a title.
type Verb string

const (
	// Read reads a file or lines of it.
	Read Verb = "Read"
	// Search looks for a text in files.
	Search Verb = "Search"
	// Edit replaces a text in a file.
	Edit Verb = "Edit"
	// Write writes a file.
	Write Verb = "Write"
	// Append adds to the end of a file.
	Append Verb = "Append to"
	// Run runs a command line.
	Run Verb = "Run"
)

// Usage is the answer to a prompt that the agent does not understand.
const Usage = `I carry out plain requests, one a line or joined by "then":

- read PATH [from line N] [for M lines]
- search "TEXT" [in PATH]
- edit PATH: replace "OLD" with "NEW"
- write PATH: TEXT
- append to PATH: TEXT
- run COMMAND
- plan: REQUEST, then REQUEST, ...
`

// Title returns the text of the request in a plan.
func (r Request) Title() string {
	switch r.Verb {
	case Search:
		return fmt.Sprintf("Search %q in %s", r.Text, FolderName(r.Path))
	case Run:
		return "Run " + r.Command
	}
	return string(r.Verb) + " " + r.Path
}

// Quote returns a text as a block, all of it or its first lines.
func Quote(text string, full bool) string {
	const brief = 10
	if n := Count(text); !full && n > brief {
		text = strings.Join(strings.SplitAfterN(text, "\n", brief+1)[:brief], "") + fmt.Sprintf("... and %s more\n", Lines(n-brief))
	}
	return "```\n" + strings.TrimRight(text, "\n") + "\n```\n"
}

// Count counts the lines of a text. The last line may lack its end.
func Count(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// Lines is a number of lines in words.
func Lines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

// FolderName names the folder of a search.
func FolderName(path string) string {
	if path == "" {
		return "the project"
	}
	return path
}

var (
	planned = regexp.MustCompile(`(?i)^plan(:|\s|$)`)
	tokens  = regexp.MustCompile("(?s)\"[^\"]*\"?|`[^`]*`?|\\sthen |.")
	forms   = []struct {
		verb  Verb
		words *regexp.Regexp
	}{
		{Read, regexp.MustCompile(`(?is)^(?:read|show|open)\s+(.+?)(?:\s+from line\s+([1-9]\d*).*?)?(?:\s+for\s+([1-9]\d*).*)?$`)},
		{Search, regexp.MustCompile(`(?is)^(?:search for|search|find|grep)\s+("[^"]*"|.+?)(?:\s+in\s+(.+))?$`)},
		{Edit, regexp.MustCompile(`(?is)^(?:edit|in)\s+([^:]+):\s*replace\s+("[^"]*"|.+?)\s+with\s+(.*)$`)},
		{Write, regexp.MustCompile(`(?is)^(?:write|create)\s+([^:]+):(.*)$`)},
		{Append, regexp.MustCompile(`(?is)^append to\s+([^:]+):(.*)$`)},
		{Run, regexp.MustCompile(`(?is)^(?:run|execute)\s+(.+)$`)},
	}
)

// Parse reads a prompt. byPlan reports whether the user asked for a plan; the error says which step
// it did not understand.
func Parse(prompt string) (requests []Request, byPlan bool, err error) {
	prompt = strings.TrimSpace(prompt)
	if word := planned.FindString(prompt); word != "" {
		prompt, byPlan = prompt[len(word):], true
	}
	for _, step := range splitSteps(prompt) {
		r, ok := parseStep(step)
		if !ok {
			return nil, byPlan, fmt.Errorf("not understood: %q", step)
		}
		requests = append(requests, r)
	}
	return requests, byPlan, nil
}

// splitSteps cuts a prompt at line ends, semicolons and the word "then", but never inside quotes or
// backticks.
func splitSteps(prompt string) (steps []string) {
	step := ""
	for _, token := range append(tokens.FindAllString(prompt, -1), ";") {
		if token != "\n" && token != ";" && token[1:] != "then " {
			step += token
			continue
		}
		step = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(step), "and"))
		step = strings.TrimRight(step, ", ")
		if !strings.HasSuffix(step, " .") && !strings.HasSuffix(step, "..") && !strings.HasSuffix(step, "/.") { // a folder, as in ./..., is no end of a sentence
			step = strings.TrimSuffix(step, ".")
		}
		if step != "" {
			steps = append(steps, step)
		}
		step = ""
	}
	return steps
}

func parseStep(step string) (Request, bool) {
	for _, form := range forms {
		m := form.words.FindStringSubmatch(step)
		if m == nil {
			continue
		}
		for i, part := range m {
			m[i] = unquote(part)
		}
		switch r := (Request{Verb: form.verb, Path: m[1]}); form.verb {
		case Read:
			r.Line, _ = strconv.Atoi(cmp.Or(m[2], "0"))
			r.Max, _ = strconv.Atoi(cmp.Or(m[3], "0"))
			return r, !strings.Contains(r.Path, " from line ")
		case Search:
			return Request{Verb: Search, Text: m[1], Path: m[2]}, m[1] != ""
		case Edit:
			r.Old, r.New = m[2], m[3]
			return r, r.Old != ""
		case Run:
			return Request{Verb: Run, Command: m[1]}, m[1] != ""
		default:
			r.Text = m[2] + "\n"
			return r, r.Path != ""
		}
	}
	return Request{}, false
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
