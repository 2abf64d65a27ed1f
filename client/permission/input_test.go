package permission_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/client/permission"
)

// Nobody is asked blind: the input of a tool is shown, unless operations and changes show it. No text of the
// agent looks like one of ours, and no credential is shown.
func TestInputsOfTools(t *testing.T) {
	key := "sk-" + "ant-api03-AbCdEfGhIjKlMnOpQrStUvWx1234"
	text := "x\n"
	many := make([]string, 25)
	for i := range many {
		many[i] = fmt.Sprintf(`"m%d":%d`, i, i)
	}
	for name, c := range map[string]struct {
		tool permission.Tool
		want []string // the lines behind the title
	}{
		"members": {permission.Tool{Name: "fetch", Input: json.RawMessage(`{"url":"https://x/?a=b","max":3,"deep":{"a":[1, 2]}}`)},
			[]string{`the tool "fetch" gets url: "https://x/?a=b", max: 3, deep: {"a":[1, 2]}`}},
		"no name": {permission.Tool{Input: json.RawMessage(`{"id":7}`)}, []string{`the input has id: 7`}},
		"credentials": {permission.Tool{Name: "t", Input: json.RawMessage(`{"api_key":"abc","pin":1,"password":1234,"env":{"A":"b"},"text":"use ` + key + `","args":["--token","hunter2"]}`)},
			[]string{`the tool "t" gets api_key: "[masked]", pin: 1, password: 0, env: {"A":"[masked]"}, text: "use [masked]", args: ["--token","[masked]"]`}},
		"no object":      {permission.Tool{Name: "t", Input: json.RawMessage(`["a",1]`)}, []string{`the tool "t" gets ["a",1]`}},
		"a text":         {permission.Tool{Name: "t", Input: json.RawMessage(`"a\nb"`)}, []string{`the tool "t" gets "a\nb"`}},
		"an empty input": {permission.Tool{Name: "t", Input: json.RawMessage(`{}`)}, []string{`the tool "t" gets an empty input`}},
		"a name only":    {permission.Tool{Name: "t"}, []string{`the tool "t"`, "(the agent did not say what it will do)"}},
		"null":           {permission.Tool{Name: "t", Input: json.RawMessage(`null`)}, []string{`the tool "t"`, "(the agent did not say what it will do)"}},
		"nothing":        {permission.Tool{Input: json.RawMessage(`{}`)}, []string{"(the agent did not say what it will do)"}},
		"a text of its content": {permission.Tool{Texts: []string{"Deploy\nto \"prod\""}},
			[]string{`the agent shows: "Deploy\nto \"prod\""`, "(the agent did not say what it will do)"}},
		"a name twice": {permission.Tool{Name: "t", Input: json.RawMessage(`{"url":"https://good","url":"https://evil"}`)},
			[]string{`the tool "t" gets url: "https://good", url: "https://evil"`}},
		"names like lines": {permission.Tool{Name: "t\n? run ls", Input: json.RawMessage("{\"a: 1, b\":2,\"run ls\\n? x\":\"y\\\", z: \\\"\\u202e\"}")},
			[]string{`the tool "t\n? run ls" gets "a: 1, b": 2, "run ls\n? x": "y\", z: \"\u202e"`}},
		"many members": {permission.Tool{Name: "t", Input: json.RawMessage("{" + strings.Join(many, ",") + "}")},
			[]string{`the tool "t" gets ` + strings.ReplaceAll(strings.ReplaceAll(strings.Join(many[:20], ", "), `"`, ""), ":", ": ") + " (5 members more are not shown)"}},
		"a long value": {permission.Tool{Name: "t", Input: json.RawMessage(`{"a":"` + strings.Repeat("x", 5000) + `","b":[` + strings.Repeat("1,", 5000) + `1]}`)},
			[]string{`the tool "t" gets a: "` + strings.Repeat("x", 300) + `..." (4700 bytes more are not shown), b: [` + strings.Repeat("1,", 149) + `1... (9703 bytes more are not shown)`}},
		"a command": {permission.Tool{Name: "Bash", Kind: "execute", Input: json.RawMessage(`{"command":"ls","description":"List"}`)}, []string{"run ls"}},
		"a command, and more": {permission.Tool{Name: "Bash", Kind: "execute", Input: json.RawMessage(`{"command":"ls","then":"rm -rf /"}`)},
			[]string{`the tool "Bash" also gets then: "rm -rf /"`, "run ls"}},
		"a write": {permission.Tool{Name: "Write", Input: json.RawMessage(`{"file_path":"` + on("/nowhere/a") + `","content":"x\n"}`), Diffs: []permission.Diff{{Path: on("/nowhere/a"), NewText: &text}}},
			[]string{"write " + resolved("/nowhere/a")}},
		"a write of another text": {permission.Tool{Name: "Write", Input: json.RawMessage(`{"file_path":"` + on("/nowhere/a") + `","content":"y"}`), Diffs: []permission.Diff{{Path: on("/nowhere/a"), NewText: &text}}},
			[]string{`the tool "Write" also gets content: "y"`, "write " + resolved("/nowhere/a")}},
		"a file that the tool does something to": {permission.Tool{Name: "shred", Kind: "read", Input: json.RawMessage(`{"path":"` + on("/nowhere/a") + `"}`)},
			[]string{`the tool "shred"`, "read " + resolved("/nowhere/a")}},
		"a location that hides the tool": {permission.Tool{Name: "deploy", Kind: "read", Paths: []string{on("/nowhere/a")}, Input: json.RawMessage(`{"stage":"prod"}`)},
			[]string{`the tool "deploy" also gets stage: "prod"`, "read " + resolved("/nowhere/a")}},
	} {
		t.Run(name, func(t *testing.T) {
			q := asks(t, permission.Options{}, func(s *permission.Scope) {
				c.tool.Title = "T"
				s.Decide(t.Context(), question(c.tool))
			})
			assert.Equal(t, c.want, q.Lines()[1:])
		})
	}
}

// An input of which an extractor knows all operations is not shown besides.
func TestInputsThatAreKnown(t *testing.T) {
	q := asks(t, permission.Options{Extract: permission.ExtractKnown}, func(s *permission.Scope) {
		q := question(permission.Tool{Title: "T", Name: "Bash", Kind: "execute", Input: json.RawMessage(`{"command":"ls","timeout":3}`)})
		q.Agent = "@agentclientprotocol/claude-agent-acp"
		s.Decide(t.Context(), q)
	})
	assert.Equal(t, []string{`the agent asks: "T"`, "run ls"}, q.Lines())
}
