package main

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The committed files are up to date.
func TestUpToDate(t *testing.T) {
	for _, ver := range versions {
		v, err := ver.load(root)
		require.NoError(t, err)
		files, err := v.render()
		require.NoError(t, err)
		assert.Empty(t, v.faults())
		for _, dir := range ver.dirs() {
			entries, err := os.ReadDir(filepath.Join(root, dir))
			require.NoError(t, err)
			for _, entry := range entries {
				if generated(entry.Name()) {
					assert.NotNil(t, files[filepath.Join(dir, entry.Name())], "%s is left over from an earlier run", entry.Name())
				}
			}
		}
		for path, src := range files {
			have, err := os.ReadFile(filepath.Join(root, path))
			require.NoError(t, err)
			assert.True(t, string(src) == string(have), "%s is out of date: run go generate ./...", path)
			assert.Contains(t, string(src), "// Schema: ACP version "+strconv.Itoa(ver.number), path)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"sessionId": "SessionID", "mcpServers": "MCPServers", "McpServerSse": "MCPServerSSE", "_meta": "Meta",
		"end_turn": "EndTurn", "date-time": "DateTime", "$/cancel_request": "CancelRequest", "fs/read_text_file": "FSReadTextFile",
		"Parse error": "ParseError", "openai": "OpenAI", "baseUrl": "BaseURL", "anyOf": "AnyOf", "mimeType": "MIMEType",
	} {
		assert.Equal(t, want, goName(name), name)
	}
	for name, want := range map[string]string{"MetaOnly": "metaOnly", "MCPServer": "mcpServer", "ID": "id", "X": "x"} {
		assert.Equal(t, want, lower(name), name)
	}
}

func TestTexts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("a.txt", "# a comment\n\n== type A\nis a.\n\nSecond\nparagraph.\n\n== common x\nis x.\n")
	old, err := readTexts(dir)
	require.NoError(t, err)
	assert.Equal(t, "a", old.topic["type A"])
	assert.Equal(t, []string{"common x", "type A"}, old.unused())
	assert.Equal(t, "is x.", old.find("field A.x", "common x"))
	assert.Equal(t, []string{"type A"}, old.unused())
	assert.Empty(t, old.need("type B"))
	assert.Equal(t, []string{"type B"}, old.lost)
	assert.Equal(t, "\t// A is a.\n\t//\n\t// Second paragraph.\n", comment("\t", "A "+old.find("type A")))

	newer := &texts{text: map[string]string{"common x": "is new."}, used: map[string]bool{}, inherited: old}
	old.text["field A.y"] = "is y."
	assert.Equal(t, "is y.", newer.find("field A.y", "common x"), "a field keeps its text of an earlier version")
	assert.Equal(t, "is new.", newer.find("field A.x", "common x"))

	write("b.txt", "== type A\nagain\n")
	_, err = readTexts(dir)
	assert.ErrorContains(t, err, `second text for "type A"`)
	write("b.txt", "== type C\n")
	_, err = readTexts(dir)
	assert.ErrorContains(t, err, `no text for "type C"`)
}

// A row that nothing uses is reported.
func TestRowsAreUsed(t *testing.T) {
	var rows table[yes]
	rows.add(map[string]yes{"Gone": {}, "Here": {}})
	assert.True(t, rows.has("Here"))
	assert.False(t, rows.has("Other"))
	assert.Equal(t, []string{"table: Gone"}, rows.unused("table"))
}
