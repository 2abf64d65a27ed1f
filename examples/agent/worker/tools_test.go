package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
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

func TestMatches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	var out strings.Builder
	printMatches(&out, path, "one\r\nfound: here\r\nnot\nfound", "found")
	assert.Equal(t, path+":2:found: here\n"+path+":4:found\n", out.String())
	assert.Equal(t, []acp.ToolCallLocation{{Path: path, Line: new(uint32(2))}, {Path: path, Line: new(uint32(4))}}, matches("grep: x: binary\n"+out.String()))
}

func TestManyMatches(t *testing.T) {
	var printed strings.Builder
	printMatches(&printed, "a", strings.Repeat("x\n", 100), "x")
	assert.Equal(t, perFile, strings.Count(printed.String(), "\n"))
}

// The texts of a failed tool for the user and the client.
func TestReadable(t *testing.T) {
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.DiscardHandler))
	assert.NoError(t, readable(nil))
	code := uint32(2)
	for want, err := range map[string]error{
		"exit status 2":          &commandError{exit: &acp.WaitForTerminalExitResponse{ExitCode: &code}},
		"Resource not found: /a": fmt.Errorf("reading: %w", rpcerr.ResourceNotFound("/a")),
		"Invalid request: this client does not offer terminal": &acp.CapabilityError{Method: "terminal/create", Capability: "terminal"},
		"Service unavailable": &fs.PathError{Op: "write", Path: "/secret", Err: syscall.ENOSPC},
		"Not allowed":         &fs.PathError{Op: "open", Path: "/secret", Err: fs.ErrPermission},
		"Internal error":      errors.New("secret"),
	} {
		assert.Equal(t, want, message(readable(err)))
		assert.NotContains(t, string(acp.FailToolCall("t", readable(err)).RawOutput), "secret")
	}
}
