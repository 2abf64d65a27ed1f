package worker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/examples/agent/plain"
)

// toolCall returns the tool call for the request.
func toolCall(r plain.Request) tools.Request {
	name, input := "", map[string]any{"path": r.Path}
	switch r.Verb {
	case plain.Read:
		name, input["line"], input["limit"] = "read_file", r.Line, cmp.Or(r.Max, math.MaxInt32)
	case plain.Search:
		name, input["pattern"], input["literal"] = "search", r.Text, true
	case plain.Edit:
		name, input["edits"] = "edit_file", []workspace.Replacement{{Old: r.Old, New: r.New}}
	case plain.Write, plain.Append:
		name, input["text"] = "write_file", r.Text
	case plain.Run:
		name, input = "run_command", map[string]any{"command": r.Command}
	}
	data, err := json.Marshal(input)
	if err != nil {
		panic(err) // not possible with strings and numbers
	}
	return tools.Request{Name: name, Input: data}
}

// told returns the text for the user about a result, and whether the request succeeded.
func told(r plain.Request, d tools.Done, full bool) (said string, _ bool) {
	text, worked := d.Model[0].Text, d.Outcome == tools.Completed
	switch {
	case d.Outcome == tools.Rejected:
		return r.Title() + " did not work: you did not allow it.\n", false
	case !worked:
		return r.Title() + " did not work: " + text + "\n", false
	case r.Verb == plain.Read && strings.HasPrefix(text, "[the file has nothing"):
		return r.Path + " has no such lines.\n", true
	case r.Verb == plain.Read && r.Line+r.Max > 0:
		said = fmt.Sprintf("%s of %s, from line %d:\n", plain.Lines(plain.Count(text)), r.Path, max(r.Line, 1))
	case r.Verb == plain.Read:
		said = fmt.Sprintf("%s has %s.\n", r.Path, plain.Lines(plain.Count(text)))
	case r.Verb == plain.Search && text == "[nothing was found]\n":
		return fmt.Sprintf("%q does not occur in %s.\n", r.Text, plain.FolderName(r.Path)), true
	case r.Verb == plain.Search:
		said = fmt.Sprintf("%q occurs on %s:\n", r.Text, plain.Lines(plain.Count(text)))
	case r.Verb == plain.Run:
		said = fmt.Sprintf("`%s` printed:\n", r.Command)
		if text, worked = strings.CutSuffix(text, "[exit code 0]"); !worked {
			said, full = r.Title()+" did not work:\n", true
		}
	default:
		return text + "\n", true
	}
	return said + plain.Quote(text, full), worked
}
