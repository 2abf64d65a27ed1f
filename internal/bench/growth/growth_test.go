package growth_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/bench/growth"
)

// All curves can be measured. Times are not judged.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: this test makes thousands of sessions")
	}
	var out strings.Builder
	require.NoError(t, growth.Run(t.Context(), &out, true))
	assert.Contains(t, out.String(), "| turns of a session | 50: ")
	t.Log(out.String())
}
