package wire_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Long strings are unescaped in blocks of 1 KiB. An escape at the boundary of a block is read
// correctly, whatever the length of its text.
func TestEscapesAtTheEndOfABlock(t *testing.T) {
	for _, escape := range []string{`\n`, `\u0041`, `\u00e9`, `\u20ac`, `\ud83d\ude00`, `\ud800`, `\ud800\n`, "\U0001F600", "\xff"} {
		for before := 1000; before < 1050; before++ {
			raw := []byte(`"` + strings.Repeat("x", before) + strings.Repeat(escape, 3) + strings.Repeat("y", 1100) + escape + `"`)
			var got, want string
			d := wire.NewDecoder(raw)
			require.Nil(t, d.String(&got))
			require.NoError(t, json.Unmarshal(raw, &want))
			require.Equal(t, want, got, "%s after %d bytes", escape, before)
		}
	}
}

// Strings of all lengths, with escapes at all places and in groups, are written, checked and read
// as by encoding/json. Bad escapes are found.
func TestEscapesEverywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	good := []string{`\n`, `\n\t\t`, `\"`, `\\`, `\\\"`, `\/`, `\b\f\r`, `\u0000`, `\u001f`, `\u00e9`, `\ud83d\ude00`, "é", "\U0001f600"}
	bad := []string{`\x`, `\u12g4`, `\ `, `\é`, "\n", `\u123`}
	for range 20_000 {
		var s strings.Builder
		for range r.IntN(12) {
			s.WriteString(strings.Repeat("x", r.IntN(20)))
			s.WriteString(good[r.IntN(len(good))])
		}
		s.WriteString(strings.Repeat("y", r.IntN(40)))
		raw := []byte(`"` + s.String() + `"`)
		var want, got string
		require.NoError(t, json.Unmarshal(raw, &want), "%s", raw)

		end, err := envelope.SkipString(append(raw, "  12345678"[:r.IntN(10)]...), 0)
		require.NoError(t, err, "%s", raw)
		require.Equal(t, len(raw), end, "%s", raw)
		d := wire.NewDecoder(raw)
		require.Nil(t, d.String(&got))
		require.Equal(t, want, got)

		var again string
		out := wire.AppendString([]byte("before"), want)
		require.NoError(t, json.Unmarshal(out[len("before"):], &again), "%s", out)
		require.Equal(t, want, again)

		at := 1 + r.IntN(len(raw)-1)
		broken := append(append(append([]byte{}, raw[:at]...), bad[r.IntN(len(bad))]...), raw[at:]...)
		end, err = envelope.SkipString(broken, 0)
		require.Equal(t, json.Valid(broken), err == nil && end == len(broken), "%s", broken)
	}
}
