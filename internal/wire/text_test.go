package wire_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/envelope"
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

// texts are typical strings of the protocol, 1 MiB each: source code, with an escape about every 30
// bytes, and lines of 63 characters.
func texts(b *testing.B) map[string]string {
	var source strings.Builder
	files, err := filepath.Glob("*.go")
	require.NoError(b, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(b, err)
		for _, c := range raw {
			if c < 0x80 {
				source.WriteByte(c)
			}
		}
	}
	const size = 1 << 20
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)+1)[:size] }
	return map[string]string{
		"go":    repeat(source.String()),
		"lines": repeat(strings.Repeat("0123456789abcde ", 4)[:63] + "\n"),
	}
}

// eachText runs a benchmark for each text, which is raw as JSON.
func eachText(b *testing.B, once func(text string, raw []byte)) {
	for name, text := range texts(b) {
		raw := wire.AppendString(nil, text)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				once(text, raw)
			}
		})
	}
}

func BenchmarkAppendString(b *testing.B) {
	var buf []byte
	eachText(b, func(text string, _ []byte) { buf = wire.AppendString(buf[:0], text) })
}

func BenchmarkReadString(b *testing.B) {
	eachText(b, func(_ string, raw []byte) {
		d := wire.NewDecoder(raw)
		var s string
		_ = d.String(&s)
	})
}

func BenchmarkSkipString(b *testing.B) {
	eachText(b, func(_ string, raw []byte) {
		if _, err := envelope.SkipString(raw, 0); err != nil {
			b.Fatal(err)
		}
	})
}
