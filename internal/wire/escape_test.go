package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/wire"
)

// Long strings are unescaped in blocks of 1 KiB. Wherever an escape stands, and
// however long what it means is, it fits.
func TestEscapesAtTheEndOfABlock(t *testing.T) {
	for _, escape := range []string{`\n`, `\u0041`, `\u00e9`, `\u20ac`, `\ud83d\ude00`, `\ud800`, `\ud800\n`, "\U0001F600", "\xff"} {
		for before := 1000; before < 1050; before++ {
			raw := []byte(`"` + strings.Repeat("x", before) + strings.Repeat(escape, 3) + strings.Repeat("y", 1100) + escape + `"`)
			var got, want string
			d := wire.NewDecoder(raw)
			require.Nil(t, d.String(&got))
			require.NoError(t, json.Unmarshal(raw, &want))
			require.Equal(t, want, got, "%s behind %d bytes", escape, before)
		}
	}
}
