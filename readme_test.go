package gosdk_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReadmeShowsTheExamples holds the programs printed in the README to the files
// they are, which are compiled and run.
func TestReadmeShowsTheExamples(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)<!-- file: (\\S+) -->\n```go\n(.*?)```").FindAllSubmatch(readme, -1)
	require.NotEmpty(t, blocks)
	for _, b := range blocks {
		file, err := os.ReadFile(string(b[1]))
		require.NoError(t, err)
		assert.Equal(t, string(file), string(b[2]), "%s differs from what README.md shows", b[1])
	}
}

// TestReadmeLinks finds links to files that are not there.
func TestReadmeLinks(t *testing.T) {
	for _, doc := range []string{"README.md", "SECURITY.md", "docs/robustness.md", "rpcerr/README.md", "examples/README.md"} {
		text, err := os.ReadFile(doc)
		require.NoError(t, err)
		dir := regexp.MustCompile(`[^/]*$`).ReplaceAllString(doc, "")
		for _, link := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllSubmatch(text, -1) {
			_, err := os.Stat(dir + string(link[1]))
			assert.NoError(t, err, "%s links to %s", doc, link[1])
		}
	}
}
