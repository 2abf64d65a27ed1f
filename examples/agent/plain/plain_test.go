package plain

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		prompt  string
		want    []Request
		planned bool
	}{
		"read":          {"read go.mod", []Request{{Verb: Read, Path: "go.mod"}}, false},
		"read lines":    {"Show main.go from line 3 for 10 lines", []Request{{Verb: Read, Path: "main.go", Line: 3, Max: 10}}, false},
		"search":        {`search for "func main" in cmd`, []Request{{Verb: Search, Text: "func main", Path: "cmd"}}, false},
		"search here":   {`search x in .`, []Request{{Verb: Search, Text: "x", Path: "."}}, false},
		"search all":    {`find needle`, []Request{{Verb: Search, Text: "needle"}}, false},
		"edit":          {`edit a.go: replace "x with y" with "z"`, []Request{{Verb: Edit, Path: "a.go", Old: "x with y", New: "z"}}, false},
		"write":         {"write notes.txt: hello there", []Request{{Verb: Write, Path: "notes.txt", Text: "hello there\n"}}, false},
		"append":        {"append to notes.txt: more", []Request{{Verb: Append, Path: "notes.txt", Text: "more\n"}}, false},
		"run":           {"run `echo a; echo then b`", []Request{{Verb: Run, Command: "echo a; echo then b"}}, false},
		"joined":        {"read go.mod, then run go version.", []Request{{Verb: Read, Path: "go.mod"}, {Verb: Run, Command: "go version"}}, false},
		"joined by and": {"read a and then read b", []Request{{Verb: Read, Path: "a"}, {Verb: Read, Path: "b"}}, false},
		"lines":         {"read a\nread b; read c", []Request{{Verb: Read, Path: "a"}, {Verb: Read, Path: "b"}, {Verb: Read, Path: "c"}}, false},
		"plan":          {"plan: read a, then run ls", []Request{{Verb: Read, Path: "a"}, {Verb: Run, Command: "ls"}}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, planned, err := Parse(tt.prompt)
			assert.NoError(t, err)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.planned, planned)
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, prompt := range []string{"make me a sandwich", "read", "edit a.go", "run", "read a from line x", `edit a: replace "" with "b"`} {
		_, _, err := Parse(prompt)
		assert.Error(t, err, prompt)
	}
}

// The dots at the end of an input are part of it.
func TestDotsAtTheEnd(t *testing.T) {
	for prompt, want := range map[string]string{"run go test ./...": "run go test ./...", "list .": "list .", "list ..": "list ..", "read a.txt.": "read a.txt", "list ./.": "list ./."} {
		assert.Equal(t, []string{want}, splitSteps(prompt))
	}
}
