package wire_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/wire"
)

// jsonString returns s as encoding/json writes it.
func jsonString(t testing.TB, s string) []byte {
	raw, err := json.Marshal(s)
	require.NoError(t, err)
	return raw
}

func FuzzReadString(f *testing.F) {
	long := strings.Repeat("0123456789abcde\n", 100)
	for _, seed := range []string{
		`""`, `"a"`, `"\u0000"`, `"\ud83d\ude00"`, `"\ud800"`, `"\ude00"`, `"\ud800\ud800"`, `"\ud83d\u0041"`, `"a\/b"`, "\"\xff\"",
		"\"\xed\xa0\x80\"", "\"a\xc3\"", `"\ud83d`, string(jsonString(f, long)), string(jsonString(f, long+"é\xff"+long)),
		`"` + strings.Repeat(`\ud800`, 100) + `"`, `"` + strings.Repeat(`\ud83d\ude00`, 100) + `"`, `"` + strings.Repeat("\xff", 2000) + `"`,
		`"` + strings.Repeat(`\"`, 400) + `"`, `"` + strings.Repeat(`\\`, 400) + `"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var want *string
		if json.Unmarshal(b, &want) != nil || want == nil {
			return
		}
		for _, pad := range []string{"", strings.Repeat(" ", 40)} { // the bytes after the string decide which loop runs
			d := wire.NewDecoder(append(bytes.Clone(b), pad...))
			var got string
			require.Nil(t, d.String(&got))
			require.Equal(t, *want, got)
		}
	})
}

func FuzzAppendString(f *testing.F) {
	for _, seed := range []string{"", "a", "\x00\x1f\x7f", "\"\\/", "\n\r\t\b\f", "é\u2028\U0001f600", "\xff", "a\xc3", strings.Repeat("x\xff\n", 600), strings.Repeat("line\n", 600), "<>&"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw := wire.AppendString([]byte("x"), s)
		require.Equal(t, byte('x'), raw[0])
		var got string
		require.NoError(t, json.Unmarshal(raw[1:], &got), "%q", raw)
		require.Equal(t, string([]rune(s)), got) // every bad byte becomes one U+FFFD
	})
}
