package worker

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
)

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
