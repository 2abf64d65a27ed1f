package thread_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A web page tells items apart by their kind, so the doc of MarshalJSON lists all kinds.
func TestKindsOfItemsAreListed(t *testing.T) {
	items, err := os.ReadFile("item.go")
	require.NoError(t, err)
	snapshot, err := os.ReadFile("snapshot.go")
	require.NoError(t, err)
	_, doc, _ := strings.Cut(string(snapshot), "\n// MarshalJSON encodes the snapshot.")
	doc, _, _ = strings.Cut(doc, "\nfunc ")
	kinds := regexp.MustCompile(`itemKind\(\) string +\{ return ("\w+") \}`).FindAllStringSubmatch(string(items), -1)
	assert.Greater(t, len(kinds), 5)
	for _, kind := range kinds {
		assert.Contains(t, doc, kind[1])
	}
}
