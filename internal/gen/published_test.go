package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The schemas as they are published, with prose and the shapes of whole messages, give the files that those
// without give: newer ones are taken as they are.
func TestPublishedSchemas(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "internal/gen/text"), os.DirFS("text")))
	published := filepath.Join(dir, factsDir)
	require.NoError(t, os.CopyFS(published, os.DirFS(filepath.Join(root, factsDir))))
	paths, err := filepath.Glob(filepath.Join(published, "*.json"))
	require.NoError(t, err)
	require.Len(t, paths, 4)
	for _, path := range paths {
		publish(t, path)
	}

	list, err := drift(filepath.Join(root, factsDir), published)
	require.NoError(t, err)
	assert.Empty(t, list)
	header := regexp.MustCompile("(?m)^// Schema: .*$")
	for _, ver := range versions {
		v, err := ver.load(dir)
		require.NoError(t, err)
		files, err := v.render()
		require.NoError(t, err)
		assert.Empty(t, v.faults())
		for path, src := range files {
			have, err := os.ReadFile(filepath.Join(root, path))
			require.NoError(t, err)
			assert.True(t, header.ReplaceAllString(string(src), "") == header.ReplaceAllString(string(have), ""), "%s differs", path)
		}
	}
}

// publish adds to a schema file what this project leaves out, and removes the marks of what was guessed.
func publish(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data = regexp.MustCompile(`,\s*"x-unsure": true|"x-unsure": true,`).ReplaceAll(data, nil)
	require.NotContains(t, string(data), "x-unsure")
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, data))
	const around = `{"title":"Agent Client Protocol","description":"d","anyOf":[{"title":"Agent","description":"d","type":"object",` +
		`"properties":{"jsonrpc":{"type":"string","enum":["2.0"]}},"required":["jsonrpc"]}],`
	// Each schema that refers to another or has a type gets a description.
	data = regexp.MustCompile(`\{("type":"|"\$ref":|"allOf":\[|"anyOf":\[|"oneOf":\[)`).ReplaceAll(compact.Bytes(), []byte(`{"description":"d \"type\"",$1`))
	require.NoError(t, os.WriteFile(path, []byte(around+string(data[1:])), 0o600))
}
