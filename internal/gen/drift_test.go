package main

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testdata has the schemas of 2 November 2026, 1.29.1 and 2.0.0-alpha.13.
func TestDrift(t *testing.T) {
	older, newer := t.TempDir(), filepath.Join(root, factsDir)
	paths, err := filepath.Glob("testdata/*.gz")
	require.NoError(t, err)
	for _, path := range paths {
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		r, err := gzip.NewReader(f)
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(older, strings.TrimSuffix(filepath.Base(path), ".gz")), data, 0o600))
	}
	list, err := drift(older, newer)
	require.NoError(t, err)
	for _, want := range []string{
		"version 1: + method session/options (unstable)",
		"version 1: ~ type PlanUpdate is now stable",
		"version 1: - type PlanFile (unstable)",
		"version 1: - variant PlanUpdateContent.file (unstable)",
		"version 1: + member PlanMarkdown.path (stable)",
		"version 1: ~ capability ClientCapabilities.plan is now stable",
		"version 1: + value SessionConfigOptionCategory.speed (unstable)",
		"version 1: + type InitialSessionConfigOption (unstable; by hand: its form in the tables)",
		"version 2: + variant SessionUpdate.replay_complete (stable)",
		"version 2: + capability PromptCapabilities.skill (unstable)",
	} {
		assert.Contains(t, list, want)
	}
	list, err = drift(newer, newer)
	require.NoError(t, err)
	assert.Empty(t, list)
	back, err := drift(newer, older)
	require.NoError(t, err)
	assert.Contains(t, back, "version 1: - method session/options (unstable)")

	changed := compare(map[string]thing{"member A.b": {facts: "string", stable: true}}, map[string]thing{"member A.b": {facts: "number", stable: true}})
	assert.Equal(t, []string{"~ member A.b: string -> number (stable)"}, changed)
	_, err = drift(t.TempDir(), newer)
	assert.Error(t, err)
}
