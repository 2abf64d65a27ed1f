package worker

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		prompt  string
		want    []request
		planned bool
	}{
		"read":          {"read go.mod", []request{{verb: verbRead, path: "go.mod"}}, false},
		"read lines":    {"Show main.go from line 3 for 10 lines", []request{{verb: verbRead, path: "main.go", line: 3, max: 10}}, false},
		"search":        {`search for "func main" in cmd`, []request{{verb: verbSearch, text: "func main", path: "cmd"}}, false},
		"search here":   {`search x in .`, []request{{verb: verbSearch, text: "x", path: "."}}, false},
		"search all":    {`find needle`, []request{{verb: verbSearch, text: "needle"}}, false},
		"edit":          {`edit a.go: replace "x with y" with "z"`, []request{{verb: verbEdit, path: "a.go", old: "x with y", new: "z"}}, false},
		"write":         {"write notes.txt: hello there", []request{{verb: verbWrite, path: "notes.txt", text: "hello there\n"}}, false},
		"append":        {"append to notes.txt: more", []request{{verb: verbAppend, path: "notes.txt", text: "more\n"}}, false},
		"run":           {"run `echo a; echo then b`", []request{{verb: verbRun, command: "echo a; echo then b"}}, false},
		"joined":        {"read go.mod, then run go version.", []request{{verb: verbRead, path: "go.mod"}, {verb: verbRun, command: "go version"}}, false},
		"joined by and": {"read a and then read b", []request{{verb: verbRead, path: "a"}, {verb: verbRead, path: "b"}}, false},
		"lines":         {"read a\nread b; read c", []request{{verb: verbRead, path: "a"}, {verb: verbRead, path: "b"}, {verb: verbRead, path: "c"}}, false},
		"plan":          {"plan: read a, then run ls", []request{{verb: verbRead, path: "a"}, {verb: verbRun, command: "ls"}}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, planned, err := parse(tt.prompt)
			assert.NoError(t, err)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.planned, planned)
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, prompt := range []string{"make me a sandwich", "read", "edit a.go", "run", "read a from line x", `edit a: replace "" with "b"`} {
		_, _, err := parse(prompt)
		assert.Error(t, err, prompt)
	}
}
