package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/seed"
	"github.com/acpkit/go-sdk/internal/wire"
)

// reference asks jsontext what Skip should say: where the value ends, or that
// there is none.
func reference(b []byte) (end int, ok bool) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(bytes.Clone(b)), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	v, err := dec.ReadValue()
	if err != nil {
		return 0, false
	}
	return int(dec.InputOffset()), len(v) > 0
}

// depthOf counts brackets outside of strings: an upper bound of the nesting.
func depthOf(b []byte) int { return bytes.Count(b, []byte{'['}) + bytes.Count(b, []byte{'{'}) }

func FuzzSkip(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `null`, `true`, `fals`, `nul`, `nulll`, `0`, `-0`, `01`, `-`, `1.`, `1.5`, `.5`, `1e`, `1e5`, `1E+5`, `1e-`, `+1`,
		`"`, `""`, `"a`, `"\`, `"\"`, `"\n\t\u0041"`, `"\u00`, `"\u00zz"`, `"\x"`, "\"\x00\"", "\"\x1f\"", "\"\x7f\"", "\"\xff\xfe\"",
		`"\ud800"`, `"\ud83d\ude00"`, `"\ude00\ud83d"`, `"\ud800x"`,
		`[]`, `[ ]`, `[1,2]`, `[1,]`, `[,1]`, `[1 2]`, `[`, `]`, `[[[[]]]]`,
		`{}`, `{ }`, `{"a":1}`, `{"a":1,}`, `{"a" 1}`, `{"a"}`, `{1:2}`, `{"a":1 "b":2}`, `{"a":1,"a":2}`, `{`, `}`, `{"a":}`,
		" \t\r\n{\"a\" : [ 1 , \"x\" ] } ", "\xef\xbb\xbf{}", "\u00a0{}", `{"a":1}{"b":2}`, `1 2`, `"a""b"`, `12"x"`,
		strings.Repeat(`[`, 60) + strings.Repeat(`]`, 60), `"` + strings.Repeat("x", 70) + `\n` + strings.Repeat("é", 40) + `"`,
	} {
		f.Add([]byte(seed))
	}
	for _, s := range seed.Short(f, 1<<10) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		want, ok := reference(b)
		end, err := wire.Skip(b, 0, wire.MaxDepth)
		if errors.Is(err, wire.ErrTooDeep) {
			// jsontext allows 10 000 levels.
			require.Greater(t, depthOf(b), wire.MaxDepth)
			return
		}
		if err != nil {
			var syntax *wire.SyntaxError
			require.ErrorAs(t, err, &syntax)
			require.LessOrEqual(t, syntax.Offset, len(b))
		}
		require.Equal(t, ok, err == nil, "%q: %v", b, err)
		if ok {
			// jsontext reads one number up to the end of what can belong to it.
			require.Equal(t, want, end, "%q", b)
		}
	})
}

func TestSkipDepth(t *testing.T) {
	for depth := range 5 {
		for _, pair := range []string{"[]", `{"a":}`} {
			open, closed := pair[:len(pair)-1], pair[len(pair)-1:]
			doc := []byte(strings.Repeat(open, depth) + "1" + strings.Repeat(closed, depth))
			for allowed := range 5 {
				end, err := wire.Skip(doc, 0, allowed)
				if allowed < depth {
					assert.ErrorIs(t, err, wire.ErrTooDeep)
				} else {
					assert.NoError(t, err)
					assert.Equal(t, len(doc), end)
				}
			}
		}
	}
}

func TestSkipErrors(t *testing.T) {
	for doc, want := range map[string]string{
		`{"a":tru}`:     "json: unexpected character at offset 8",
		`[1,2`:          "json: unexpected end at offset 4",
		`{"a"1}`:        "json: expected ':' at offset 4",
		`{'a':1}`:       "json: expected a member name at offset 1",
		"\"a\nb\"":      "json: control character in a string at offset 2",
		`"\q"`:          "json: unknown escape at offset 2",
		`"\u12"`:        "json: expected a hexadecimal digit at offset 5",
		`[1 2]`:         "json: expected ',' or ']' at offset 3",
		`{"a":1 "b":2}`: "json: expected ',' or '}' at offset 7",
		`-x`:            "json: expected a digit at offset 1",
	} {
		_, err := wire.Skip([]byte(doc), 0, wire.MaxDepth)
		assert.EqualError(t, err, want, doc)
	}
}

// jsonString is s in its JSON form by encoding/json.
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
		dec := jsontext.NewDecoder(bytes.NewBuffer(bytes.Clone(b)), jsontext.AllowInvalidUTF8(true))
		tok, err := dec.ReadToken()
		if err != nil || tok.Kind() != '"' {
			return
		}
		want := tok.String()
		if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
			return
		}
		for _, pad := range []string{"", strings.Repeat(" ", 40)} { // the tail of the message decides which loop runs
			d := wire.NewDecoder(append(bytes.Clone(b), pad...))
			var got string
			require.Nil(t, d.String(&got))
			require.Equal(t, want, got)
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
		require.Equal(t, string([]rune(s)), got) // every bad byte is one U+FFFD
	})
}
