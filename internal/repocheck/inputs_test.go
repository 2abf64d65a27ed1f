package repocheck_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The guide lists what the tools of a workspace take, for those who call them without a model. A member that a model
// reads has a description.
func TestGuideListsInputsOfTools(t *testing.T) {
	guide, err := os.ReadFile("docs/guide-agent.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(guide), "| tool | members of the input |\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	files, err := filepath.Glob("agent/workspace/*.go")
	require.NoError(t, err)
	members := map[string]bool{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile("`json:\"(\\w+)(?:,\\w+)?\" description:").FindAllStringSubmatch(string(text), -1) {
			members[m[1]] = true
		}
	}
	assert.Len(t, members, 13)
	for member := range members {
		assert.Contains(t, table, "`"+member+"`")
	}
}
