package kind_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// The table of codes in the README is the table of the package.
func TestReadmeTable(t *testing.T) {
	b, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	readme := strings.NewReplacer("(", "", ")", "").Replace(string(b))
	for _, k := range kind.All() {
		assert.Contains(t, readme, fmt.Sprintf("| %s | %d | %d |", string(k), k.Code(), k.MCPCode()))
	}
}
