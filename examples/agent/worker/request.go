package worker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
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

type verb string // the word at the beginning of a title

const (
	verbRead   verb = "Read"
	verbSearch verb = "Search"
	verbEdit   verb = "Edit"
	verbWrite  verb = "Write"
	verbAppend verb = "Append to"
	verbRun    verb = "Run"
)

// usage is the answer to a prompt that the agent does not understand.
const usage = `I carry out plain requests, one a line or joined by "then":

- read PATH [from line N] [for M lines]
- search "TEXT" [in PATH]
- edit PATH: replace "OLD" with "NEW"
- write PATH: TEXT
- append to PATH: TEXT
- run COMMAND
- plan: REQUEST, then REQUEST, ...
`

// title returns the text of the request in a plan.
func (r request) title() string {
	switch r.verb {
	case verbSearch:
		return fmt.Sprintf("Search %q in %s", r.text, folderName(r.path))
	case verbRun:
		return "Run " + r.command
	}
	return string(r.verb) + " " + r.path
}

// call returns the tool call for the request.
func (r request) call() tools.Request {
	name, input := "", map[string]any{"path": r.path}
	switch r.verb {
	case verbRead:
		name, input["line"], input["limit"] = "read_file", r.line, cmp.Or(r.max, math.MaxInt32)
	case verbSearch:
		name, input["pattern"], input["literal"] = "search", r.text, true
	case verbEdit:
		name, input["edits"] = "edit_file", []workspace.Replacement{{Old: r.old, New: r.new}}
	case verbWrite, verbAppend:
		name, input["text"] = "write_file", r.text
	case verbRun:
		name, input = "run_command", map[string]any{"command": r.command}
	}
	data, err := json.Marshal(input)
	if err != nil {
		panic(err) // not possible with strings and numbers
	}
	return tools.Request{Name: name, Input: data}
}

// told returns the text for the user about a result, and whether the request succeeded.
func (r request) told(d tools.Done, full bool) (told string, _ bool) {
	text, worked := d.Model[0].Text, d.Outcome == tools.Completed
	switch {
	case d.Outcome == tools.Rejected:
		return r.title() + " did not work: you did not allow it.\n", false
	case !worked:
		return r.title() + " did not work: " + text + "\n", false
	case r.verb == verbRead && strings.HasPrefix(text, "[the file has nothing"):
		return r.path + " has no such lines.\n", true
	case r.verb == verbRead && r.line+r.max > 0:
		told = fmt.Sprintf("%s of %s, from line %d:\n", lines(count(text)), r.path, max(r.line, 1))
	case r.verb == verbRead:
		told = fmt.Sprintf("%s has %s.\n", r.path, lines(count(text)))
	case r.verb == verbSearch && text == "[nothing was found]\n":
		return fmt.Sprintf("%q does not occur in %s.\n", r.text, folderName(r.path)), true
	case r.verb == verbSearch:
		told = fmt.Sprintf("%q occurs on %s:\n", r.text, lines(count(text)))
	case r.verb == verbRun:
		told = fmt.Sprintf("`%s` printed:\n", r.command)
		if text, worked = strings.CutSuffix(text, "[exit code 0]"); !worked {
			told, full = r.title()+" did not work:\n", true
		}
	default:
		return text + "\n", true
	}
	return told + quote(text, full), worked
}

// quote returns a text as a block, all of it or its first lines.
func quote(text string, full bool) string {
	const brief = 10
	if n := count(text); !full && n > brief {
		text = strings.Join(strings.SplitAfterN(text, "\n", brief+1)[:brief], "") + fmt.Sprintf("... and %s more\n", lines(n-brief))
	}
	return "```\n" + strings.TrimRight(text, "\n") + "\n```\n"
}

// count counts the lines of a text. The last line may lack its end.
func count(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

func lines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

func folderName(path string) string {
	if path == "" {
		return "the project"
	}
	return path
}

var (
	planned = regexp.MustCompile(`(?i)^plan(:|\s|$)`)
	tokens  = regexp.MustCompile("(?s)\"[^\"]*\"?|`[^`]*`?|\\sthen |.")
	forms   = []struct {
		verb  verb
		words *regexp.Regexp
	}{
		{verbRead, regexp.MustCompile(`(?is)^(?:read|show|open)\s+(.+?)(?:\s+from line\s+([1-9]\d*).*?)?(?:\s+for\s+([1-9]\d*).*)?$`)},
		{verbSearch, regexp.MustCompile(`(?is)^(?:search for|search|find|grep)\s+("[^"]*"|.+?)(?:\s+in\s+(.+))?$`)},
		{verbEdit, regexp.MustCompile(`(?is)^(?:edit|in)\s+([^:]+):\s*replace\s+("[^"]*"|.+?)\s+with\s+(.*)$`)},
		{verbWrite, regexp.MustCompile(`(?is)^(?:write|create)\s+([^:]+):(.*)$`)},
		{verbAppend, regexp.MustCompile(`(?is)^append to\s+([^:]+):(.*)$`)},
		{verbRun, regexp.MustCompile(`(?is)^(?:run|execute)\s+(.+)$`)},
	}
)

// parse reads a prompt. byPlan reports whether the user asked for a plan; the error says which step
// it did not understand.
func parse(prompt string) (requests []request, byPlan bool, err error) {
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

func parseStep(step string) (request, bool) {
	for _, form := range forms {
		m := form.words.FindStringSubmatch(step)
		if m == nil {
			continue
		}
		for i, part := range m {
			m[i] = unquote(part)
		}
		switch r := (request{verb: form.verb, path: m[1]}); form.verb {
		case verbRead:
			r.line, _ = strconv.Atoi(cmp.Or(m[2], "0"))
			r.max, _ = strconv.Atoi(cmp.Or(m[3], "0"))
			return r, !strings.Contains(r.path, " from line ")
		case verbSearch:
			return request{verb: verbSearch, text: m[1], path: m[2]}, m[1] != ""
		case verbEdit:
			r.old, r.new = m[2], m[3]
			return r, r.old != ""
		case verbRun:
			return request{verb: verbRun, command: m[1]}, m[1] != ""
		default:
			r.text = m[2] + "\n"
			return r, r.path != ""
		}
	}
	return request{}, false
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
